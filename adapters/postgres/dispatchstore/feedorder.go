//go:build !broken_feed_unlocked && !broken_feed_by_id

package dispatchstore

import (
	"bytes"
	"cmp"
)

// feedLock locks the counters of the partners whose events a relay takes, and feedOrder is the order in which the relay numbers
// them (ADR 0016). Under a broken_feed_… build tag another file makes the mistake of its name, so that the fault suite can show
// that it notices (docs/guides/faults.md).
const (
	feedLock  = `FOR NO KEY UPDATE SKIP LOCKED`
	feedOrder = `position, event_id`
)

// inFeedOrder is feedOrder in this process.
func inFeedOrder(a, b taken) int {
	return cmp.Or(cmp.Compare(a.position, b.position), bytes.Compare(a.ID[:], b.ID[:]))
}
