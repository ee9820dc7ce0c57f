//go:build !failpoints

package failpoint

// Hit marks a failpoint, such as "relay.committed". The compiler removes the empty call.
func Hit(string) {}
