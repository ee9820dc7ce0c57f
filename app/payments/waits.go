package payments

import (
	"time"

	"partnerdeposits/core/deposit"
)

// openWait is the time until the provider is asked again about a charge or a close that is still under way.
const openWait = time.Minute

// nextFeeCheck gives the time of the question about a fee that follows question number attempts: after feeWait, and at
// the end of the stay at the latest, when the page is closed.
func nextFeeCheck(d *deposit.Deposit, attempts int, now time.Time) time.Time {
	next := now.Add(feeWait(attempts))
	if next.After(d.ContractEndAt) {
		return d.ContractEndAt
	}
	return next
}

// feeWait gives the time from question number attempts to the next: 30 s, doubled each time up to longestWait.
func feeWait(attempts int) time.Duration {
	const first = 30 * time.Second
	if attempts > 3 {
		return longestWait
	}
	return min(first<<attempts, longestWait)
}

// longestWait is the time between two questions about a page that stays open. A tenant who paid and closed the browser
// is secured within five minutes (payments.md, "Rules"); the round of the job and the provider's answer take the rest.
const longestWait = 4 * time.Minute
