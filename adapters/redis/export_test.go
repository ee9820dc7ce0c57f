package redis

// CacheShare and CachedBeside tell tests the bound of a process.
const (
	CacheShare   = cacheShare
	CachedBeside = cachedBeside
)
