package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// byTransition groups bodies by the status transition that they announce.
func byTransition(t testing.TB, all []received) map[string][]string {
	out := map[string][]string{}
	for _, w := range all {
		p := payloadOf(t, w)
		key := p.Data.ID + " " + w.EventName()
		out[key] = append(out[key], string(w.Body))
	}
	return out
}

// Only one of two dispatchers relays at a time (docs/decisions/0004-path-of-an-event.md). When either is killed, the
// other delivers later events within the bound. The bound is shorter than a lease, so no event waited until a lease of
// the killed dispatcher ended.
func TestTwoDispatchers_WhicheverIsKilled_TheOtherDeliversAtOnce(t *testing.T) {
	t.Parallel()
	const bound = 18 * time.Second // a second on a machine that does nothing else; a lease lasts 22 s
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
