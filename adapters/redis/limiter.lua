-- Counts one request under every rule, if all of them allow it. A minute is a window that slides: the past is kept in
-- buckets of a few seconds, and of the oldest bucket only the part that is still within the window counts.
--
-- KEYS  one hash per rule: number of the bucket → requests in it
-- ARGV  limit per rule
-- Gives 1 or 0, then for each rule: what remains, milliseconds until all of it is back, milliseconds to wait if refused.
local window, width = 60000, 3000
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local current = math.floor(now / width)
local first = math.floor((now - window) / width)
local share = 1 - (now - window - first * width) / width

local allowed, used, buckets = 1, {}, {}
for i, key in ipairs(KEYS) do
    local sum, kept, stale = 0, {}, {}
    local all = redis.call('HGETALL', key)
    for j = 1, #all, 2 do
        local bucket, count = tonumber(all[j]), tonumber(all[j + 1])
        if bucket < first then
            stale[#stale + 1] = all[j]
        else
            kept[bucket] = count
            sum = sum + (bucket == first and count * share or count)
        end
    end
    if #stale > 0 then redis.call('HDEL', key, unpack(stale)) end
    used[i], buckets[i] = sum, kept
    if sum + 1 > tonumber(ARGV[i]) + 1e-6 then allowed = 0 end
end

local out = { allowed }
for i, key in ipairs(KEYS) do
    local limit, kept, retry, newest = tonumber(ARGV[i]), buckets[i], 0, nil
    if allowed == 1 then
        redis.call('HINCRBY', key, current, 1)
        redis.call('PEXPIRE', key, window + width)
        used[i] = used[i] + 1
        newest = current
    else
        -- The wait is over when the oldest buckets have left by as much as there is too much.
        local excess = used[i] + 1 - limit
        for bucket = first, current do
            local count = kept[bucket] or 0
            if count > 0 then newest = bucket end
            if excess > 1e-6 then
                local part = bucket == first and share or 1
                if count * part >= excess then
                    retry = retry + part * width * excess / (count * part)
                else
                    retry = retry + part * width
                end
                excess = excess - count * part
            end
        end
    end
    local reset = newest and math.min(window, (newest + 1) * width + window - now) or 0
    out[#out + 1] = math.max(0, math.floor(limit - used[i] + 1e-6))
    out[#out + 1] = math.ceil(reset)
    out[#out + 1] = math.ceil(retry)
end
return out
