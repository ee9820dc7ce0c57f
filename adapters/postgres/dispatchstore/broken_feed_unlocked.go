//go:build broken_feed_unlocked

package dispatchstore

import (
	"bytes"
	"cmp"
)

// Two relays that read a counter at the same time give the same numbers.
const (
	feedLock  = ``
	feedOrder = `position, event_id`
)

func inFeedOrder(a, b taken) int {
	return cmp.Or(cmp.Compare(a.position, b.position), bytes.Compare(a.ID[:], b.ID[:]))
}
