package payments

import (
	"time"

	"partnerdeposits/core/deposit"
)

// The time until the provider is queried again about a charge, or the closing of a page, that has not ended.
const openWait = time.Minute

// nextFeeCheck returns the time of the next query about a fee, at the end of the stay at the latest, when its page
// is closed.
func nextFeeCheck(d *deposit.Deposit, attempts int, now time.Time) time.Time {
	next := now.Add(feeWait(attempts))
	if next.After(d.ContractEndAt) {
		return d.ContractEndAt
	}
	return next
}

// feeWait returns the time until the next query about a fee, after the given number of queries: 30 s, doubled each
// time up to longestWait.
func feeWait(attempts int) time.Duration {
	const first = 30 * time.Second
	if attempts > 3 {
		return longestWait
	}
	return min(first<<attempts, longestWait)
}

// The longest time between queries about an open page: a paid deposit is secured within five minutes
// (payments.md, "Rules").
const longestWait = 4 * time.Minute
