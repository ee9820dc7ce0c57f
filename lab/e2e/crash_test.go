package e2e_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// TestStory_WithTheDispatcherKilledInTheMiddle tells the same story with a SIGKILL while a webhook is in flight.
func TestStory_WithTheDispatcherKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	// Leases last as long as the timeout and 20 s. A short timeout lets another dispatcher take over sooner.
	w := newWorld(t, "WEBHOOK_TIMEOUT=2s")
	w.http(t)
	d := w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)
	accountID := w.link(t, "villa-11")
	r.await(t, 1)

	// The dispatcher dies while the receiver handles the webhook of the first deposit, before the response.
	inHand, release := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	r.AnswerWith(func(int, receiver.Webhook) int {
		if first.CompareAndSwap(false, true) {
			close(inHand)
			<-release
		}
		return http.StatusOK
	})
	damaged, checkout1 := w.deposit(t, accountID)
	w.secure(t, checkout1)
	<-inHand
	d.Kill()
	close(release)

	// Changes continue while no dispatcher runs.
	second, checkout2 := w.deposit(t, accountID)
	w.secure(t, checkout2)
	w.api(t).post("/deposits/"+damaged+"/capture", nil, nil)

	d = w.dispatcher(t)
	require.Eventually(t, func() bool { return len(byTransition(t, r.Accepted())) == 4 }, soon, often, "webhooks: %s",
		lazy(func() string { return describe(r.All()) }))
	log := w.deliveries(t, webhookID)
	require.Len(t, log, 4, "one delivery per transition, killed or not")
	for _, one := range log {
		require.Equal(t, "succeeded", one.Status)
	}
	seen := byTransition(t, r.Accepted())
	require.Len(t, seen[damaged+" deposit.activated"], 2, "the one in hand came again: its answer was lost")
	require.Equal(t, seen[damaged+" deposit.activated"][0], seen[damaged+" deposit.activated"][1], "with the same bytes")
	require.Len(t, seen[second+" deposit.activated"], 1)
	require.Len(t, seen[damaged+" deposit.captured"], 1)
	require.Positive(t, d.metric("svc_webhook_reconciled_total"))
}

// byTransition groups bodies by the status transition that they announce.
func byTransition(t testing.TB, all []received) map[string][]string {
	out := map[string][]string{}
	for _, w := range all {
		p := payloadOf(t, w)
		key := p.Data.ID + " " + w.Event()
		out[key] = append(out[key], string(w.Body))
	}
	return out
}

// Only one of two dispatchers relays at a time (docs/decisions/0033-several-processes.md). When either is killed, the
// other delivers later events within the bound. The bound is shorter than a lease, so no event waited until a lease of
// the killed dispatcher ended.
func TestTwoDispatchers_WhicheverIsKilled_TheOtherDeliversAtOnce(t *testing.T) {
	t.Parallel()
	const bound = 7 * time.Second // a second on a machine that does nothing else
	w := newWorld(t, "WEBHOOK_TIMEOUT=2s")
	w.http(t)
	r := newReceiver(t)
	w.subscribe(t, r)
	pair := [2]*process{w.dispatcher(t), w.dispatcher(t)}
	accountID := w.link(t, "villa-12")
	cancel := func() (depositID string) {
		depositID, _ = w.deposit(t, accountID)
		w.api(t).post("/deposits/"+depositID+"/cancel", nil, nil)
		return depositID
	}
	arrives := func(depositID string, within time.Duration) {
		t.Helper()
		require.Eventually(t, func() bool { return len(byTransition(t, r.Accepted())[depositID+" deposit.cancelled"]) > 0 },
			within, often)
	}
	var all []string
	for i := range pair {
		for range 20 {
			all = append(all, cancel())
		}
		pair[i].Kill()
		for range 20 {
			depositID := cancel()
			arrives(depositID, bound)
			all = append(all, depositID)
		}
		pair[i] = w.dispatcher(t)
	}
	for _, depositID := range all {
		arrives(depositID, soon) // also those in the hands of the dead
	}
}
