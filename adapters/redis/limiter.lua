-- Counts as many of the given requests as all rules allow, in a sliding window. The past is kept in twenty buckets of a
-- window; of the oldest bucket only the part within the window counts.
--
-- KEYS  a text for each rule: the number of the newest bucket, the sum of the newest twenty buckets, the count of the
--       bucket before them, then the counts of the twenty, the newest first, without the empty ones at the end
-- ARGV  number of requests, or -1 to take back the newest count; then the limit and the window of each rule, in
--       milliseconds
-- Returns the number of allowed requests, then for each rule: remaining requests, milliseconds until the whole limit is
-- free again, milliseconds that the first refused request has to wait.
-- Within a bucket only the first four numbers of a text change, so the others are neither read nor written anew.
local buckets = 20
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

-- counts_of gives the counts of a rule by their age in buckets; 0 is the newest.
local function counts_of(r)
    local counts, age = {}, 0
    for n in string.gmatch(r.newest .. r.older, '%d+') do
        counts[age], age = tonumber(n), age + 1
    end
    counts[buckets] = r.oldest
    for i = 0, buckets do counts[i] = counts[i] or 0 end
    return counts
end

-- replace takes over counts, of which the first have the age `from`.
local function replace(r, counts, from)
    local kept, last = {}, 0
    r.sum = 0
    for age = 0, buckets - 1 do
        kept[age] = counts[age + from] or 0
        r.sum = r.sum + kept[age]
        if kept[age] > 0 then last = age end
    end
    r.newest, r.oldest = kept[0], counts[buckets + from] or 0
    r.older = last > 0 and ' ' .. table.concat(kept, ' ', 1, last) or ''
end

local function read(key, window)
    local r = { key = key, window = window, width = window / buckets, sum = 0, oldest = 0, newest = 0, older = '' }
    r.current = math.floor(now / r.width)
    local at, sum, oldest, newest, older = string.match(redis.call('GET', key) or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
    if at then
        r.sum, r.oldest, r.newest, r.older = tonumber(sum), tonumber(oldest), tonumber(newest), older
        local ahead = tonumber(at) - r.current -- above 0 where this server's clock is behind the last one's
        if ahead < 0 then replace(r, counts_of(r), ahead) end
        if ahead > 0 then r.current = r.current + ahead end
    end
    r.share = math.min(1, 1 - (now - r.window) / r.width + r.current - buckets)
    return r
end

local function write(r)
    redis.call('SET', r.key, r.current .. ' ' .. r.sum .. ' ' .. r.oldest .. ' ' .. r.newest .. r.older,
        'PX', r.window + r.width)
end

local asked = tonumber(ARGV[1])
if asked < 0 then
    for i, key in ipairs(KEYS) do
        local r = read(key, tonumber(ARGV[2 * i + 1]))
        local counts = counts_of(r)
        for age = 0, buckets do
            if counts[age] > 0 then
                counts[age] = counts[age] - 1
                replace(r, counts, 0)
                write(r)
                break
            end
        end
    end
    return {}
end

local allowed, rules = asked, {}
for i, key in ipairs(KEYS) do
    local r = read(key, tonumber(ARGV[2 * i + 1]))
    r.limit = tonumber(ARGV[2 * i])
    r.used = r.sum + r.oldest * r.share
    rules[i] = r
    allowed = math.max(0, math.min(allowed, math.floor(r.limit - r.used + 1e-6)))
end

local out = { allowed }
for _, r in ipairs(rules) do
    local retry, youngest = 0, nil -- age of the newest bucket with a count
    if allowed > 0 then
        r.used, r.sum, r.newest, youngest = r.used + allowed, r.sum + allowed, r.newest + allowed, 0
        write(r)
    end
    if allowed < asked then
        -- The wait ends when the oldest buckets have left the window by at least the excess.
        local excess = r.used + 1 - r.limit
        local counts = counts_of(r)
        for age = buckets, 0, -1 do
            local count = counts[age]
            if count > 0 then youngest = age end
            if excess > 1e-6 then
                local part = age == buckets and r.share or 1
                if count * part >= excess then
                    retry = retry + part * r.width * excess / (count * part)
                else
                    retry = retry + part * r.width
                end
                excess = excess - count * part
            end
        end
    end
    local reset = youngest and math.min(r.window, (r.current - youngest + 1) * r.width + r.window - now) or 0
    out[#out + 1] = math.max(0, math.floor(r.limit - r.used + 1e-6))
    out[#out + 1] = math.ceil(reset)
    out[#out + 1] = math.ceil(retry)
end
return out
