-- Begins a keyed request: gives what is kept under the key, or marks it as running and gives nothing.
-- KEYS key; ARGV mark, milliseconds it lasts
local kept = redis.call('GET', KEYS[1])
if kept then return kept end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
