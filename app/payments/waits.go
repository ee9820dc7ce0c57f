package payments

import (
	"time"

	"partnerdeposits/core/deposit"
)

// openWait is the time until the provider is queried again about a charge, or about the closing of a page, that
// has not ended.
const openWait = time.Minute

// nextFeeCheck returns the time at which the provider is queried again about a fee, after the given number of
// queries: feeWait later, and at the end of the stay at the latest, when the page is closed.
func nextFeeCheck(d *deposit.Deposit, attempts int, now time.Time) time.Time {
	next := now.Add(feeWait(attempts))
	if next.After(d.ContractEndAt) {
		return d.ContractEndAt
	}
	return next
}

// feeWait returns the time until the next query about a fee, after the given number of queries: 30 s, doubled
// each time up to longestWait.
func feeWait(attempts int) time.Duration {
	const first = 30 * time.Second
	if attempts > 3 {
		return longestWait
	}
	return min(first<<attempts, longestWait)
}

// longestWait is the longest time between two queries to the payment provider about a page that stays open. The
// deposit of a tenant who paid and closed the browser is secured within five minutes (payments.md, "Rules"); the
// round of the job and the provider's response take the rest.
const longestWait = 4 * time.Minute
