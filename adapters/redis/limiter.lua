-- Counts as many of the given requests as all rules allow, in a sliding window. The past is kept in twenty buckets of a
-- window; of the oldest bucket only the part within the window counts.
--
-- KEYS  a hash per rule: number of the bucket → requests in the bucket
-- ARGV  number of requests, then the limit and the window of each rule, in milliseconds
-- Returns the number of allowed requests, then for each rule: remaining requests, milliseconds until the whole limit is
-- free again, milliseconds that the first refused request has to wait.
-- A bucket is kept under its distance to the oldest: some interpreters fill a table up to the number of a bucket.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

local asked = tonumber(ARGV[1])
local allowed, rules = asked, {}
for i, key in ipairs(KEYS) do
    local r = { limit = tonumber(ARGV[2 * i]), window = tonumber(ARGV[2 * i + 1]), used = 0, kept = {} }
    r.width = r.window / 20
    r.current = math.floor(now / r.width)
    r.first = math.floor((now - r.window) / r.width)
    r.share = 1 - (now - r.window - r.first * r.width) / r.width
    local stale = {}
    local all = redis.call('HGETALL', key)
    for j = 1, #all, 2 do
        local bucket, count = tonumber(all[j]), tonumber(all[j + 1])
        if bucket < r.first then
            stale[#stale + 1] = all[j]
        else
            r.kept[bucket - r.first] = count
            r.used = r.used + (bucket == r.first and count * r.share or count)
        end
    end
    if #stale > 0 then redis.call('HDEL', key, unpack(stale)) end
    rules[i] = r
    allowed = math.max(0, math.min(allowed, math.floor(r.limit - r.used + 1e-6)))
end

local out = { allowed }
for i, key in ipairs(KEYS) do
    local r = rules[i]
    local kept, retry, newest = r.kept, 0, nil
    if allowed > 0 then
        redis.call('HINCRBY', key, r.current, allowed)
        redis.call('PEXPIRE', key, r.window + r.width)
        r.used = r.used + allowed
        local latest = r.current - r.first
        kept[latest] = (kept[latest] or 0) + allowed
        newest = r.current
    end
    if allowed < asked then
        -- The wait ends when the oldest buckets have left the window by at least the excess.
        local excess = r.used + 1 - r.limit
        for bucket = r.first, r.current do
            local count = kept[bucket - r.first] or 0
            if count > 0 then newest = bucket end
            if excess > 1e-6 then
                local part = bucket == r.first and r.share or 1
                if count * part >= excess then
                    retry = retry + part * r.width * excess / (count * part)
                else
                    retry = retry + part * r.width
                end
                excess = excess - count * part
            end
        end
    end
    local reset = newest and math.min(r.window, (newest + 1) * r.width + r.window - now) or 0
    out[#out + 1] = math.max(0, math.floor(r.limit - r.used + 1e-6))
    out[#out + 1] = math.ceil(reset)
    out[#out + 1] = math.ceil(retry)
end
return out
