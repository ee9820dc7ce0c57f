package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The circuit would wait for minutes. Two dispatchers notice the probe, and send each delivery once.
func TestAdmin_Probe_SendsAtOnceWhatAnOpenCircuitHeldBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)
	account := w.link(t, "villa-12")
	linked := len(r.await(t, 1))
	db := w.database(t)
	_, err := db.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 40, failing_since = now() - interval '1 hour', slow = true, holds = 9,
		held_until = now() + interval '5 minutes'`)
	require.NoError(t, err)
	w.traffic(t, account, 8)
	var waiting int
	require.Eventually(t, func() bool {
		err := db.QueryRow(t.Context(),
			`SELECT count(*) FROM deliveries WHERE state = 0 AND NOT EXISTS (SELECT FROM outbox)`).Scan(&waiting)
		return err == nil && waiting >= 8
	}, soon, often)
	require.Len(t, r.All(), linked, "the circuit is open")

	var probed struct{ Circuits, Deliveries int }
	w.admin(t, &probed, "webhook", "probe", "--partner", w.slug)
	require.Equal(t, 1, probed.Circuits)
	got := r.await(t, linked+waiting)
	seen := map[string]int{}
	for _, one := range got {
		seen[one.EventName()+string(one.Body)]++
	}
	require.Len(t, seen, linked+waiting, "each once")
	w.admin(t, &probed, "webhook", "probe", webhookID)
	require.Zero(t, probed.Circuits, "the circuit is closed")
	code, stdout, stderr := run(t, w.environ, "admin", "audit", "show", w.partnerID)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "webhook.probe")
}
