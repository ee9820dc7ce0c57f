//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// slowClaims has the first search for due deliveries take, by the dispatcher's clock, as long as in a database that
// stood still.
type slowClaims struct {
	webhookports.ClaimStore
	ports.Clock
	late  time.Duration
	asked *atomic.Bool
	found chan struct{} // closed after the first search
}

func (c slowClaims) Due(ctx context.Context, horizon time.Duration) (webhookports.Due, error) {
	due, err := c.ClaimStore.Due(ctx, horizon)
	if c.asked.CompareAndSwap(false, true) {
		close(c.found)
	}
	return due, err
}

func (c slowClaims) Now() time.Time {
	if c.asked.Load() {
		return c.Clock.Now().Add(c.late)
	}
	return c.Clock.Now()
}

// Found by `faults -seed 41`: after a database that stood still for four seconds, no scan ran for 80 seconds,
// because scans may take a twentieth of the time and the waiting scan counted as slow.
func TestScan_ThatWaitedForTheDatabase_IsFollowedByTheNextOne(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(_ received, earlier int) int {
		if earlier == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	f.subscribe(r.URL)
	answered := make(chan struct{})
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) {
		slow := slowClaims{deps.Claims, deps.Clock, 4 * time.Second, &atomic.Bool{}, answered}
		deps.Claims, deps.Clock = slow, slow
	})
	<-answered
	f.emit(webhook.DepositCancelled, 1) // the second attempt is for the scan to find
	f.allIn(webhook.Succeeded, 1)
	require.Len(t, r.all(), 2)
}
