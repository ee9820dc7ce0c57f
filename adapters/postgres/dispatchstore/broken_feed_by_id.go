//go:build broken_feed_by_id

package dispatchstore

import "bytes"

// Ids are made by the clocks of several processes, before the lock of the deposit.
const (
	feedLock  = `FOR NO KEY UPDATE SKIP LOCKED`
	feedOrder = `event_id`
)

func inFeedOrder(a, b taken) int { return bytes.Compare(a.ID[:], b.ID[:]) }
