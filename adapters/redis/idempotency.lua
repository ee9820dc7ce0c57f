-- Begins a keyed request: gives the cached response, or marks the key as running and gives nothing.
-- KEYS key; ARGV mark, life of the mark in milliseconds
local kept = redis.call('GET', KEYS[1])
if kept then return kept end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
