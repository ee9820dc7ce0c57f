-- Counts as many of the given requests as all rules allow, in a sliding window of a minute. The past is kept in buckets
-- of a few seconds; of the oldest bucket only the part within the window counts.
--
-- KEYS  a hash per rule: number of the bucket → requests in the bucket
-- ARGV  number of requests, then the limit of each rule
-- Returns the number of allowed requests, then for each rule: remaining requests, milliseconds until the whole limit is
-- free again, milliseconds that the first refused request has to wait.
local window, width = 60000, 3000
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local current = math.floor(now / width)
local first = math.floor((now - window) / width)
local share = 1 - (now - window - first * width) / width

local asked = tonumber(ARGV[1])
local allowed, used, buckets = asked, {}, {}
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
    allowed = math.max(0, math.min(allowed, math.floor(tonumber(ARGV[i + 1]) - sum + 1e-6)))
end

local out = { allowed }
for i, key in ipairs(KEYS) do
    local limit, kept, retry, newest = tonumber(ARGV[i + 1]), buckets[i], 0, nil
    if allowed > 0 then
        redis.call('HINCRBY', key, current, allowed)
        redis.call('PEXPIRE', key, window + width)
        used[i] = used[i] + allowed
        kept[current] = (kept[current] or 0) + allowed
        newest = current
    end
    if allowed < asked then
        -- The wait ends when the oldest buckets have left the window by at least the excess.
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
