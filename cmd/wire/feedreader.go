//go:build !broken_feed_reader

package wire

import "partnerdeposits/ports"

// feedReader reads the feeds. Under the tag broken_feed_reader another file replaces the reader, so that the fault suite can show
// that it notices (docs/guides/faults.md).
func feedReader(s Stores) ports.FeedReader { return s.Postgres }
