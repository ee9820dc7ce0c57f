//go:build !failpoints

package failpoint

import "partnerdeposits/core/id"

// Hit marks a failpoint, such as "relay.committed". Without the build tag failpoints it does nothing, and the
// compiler removes the call.
func Hit(string) {}

// SkewedID returns an id unchanged: without the build tag failpoints, the clock of ids is not shifted.
func SkewedID(made id.ID) id.ID { return made }
