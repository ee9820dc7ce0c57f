//go:build !unit

package dispatch_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/redistest"
	webhookports "partnerdeposits/ports/webhooks"
)

// modes records the ways of jobs to workers.
type modes struct {
	noMetrics
	mu   sync.Mutex
	told []webhookports.QueueMode
}

func (m *modes) QueueMode(mode webhookports.QueueMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, mode)
}

func (m *modes) all() []webhookports.QueueMode {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]webhookports.QueueMode(nil), m.told...)
}

// A Redis that reached maxmemory answers PING. Each return to such a queue would delay the jobs of a batch.
func TestDispatch_RedisThatIsFull_IsLeftOnceAndUsedAgainAfterwards(t *testing.T) {
	client := redistest.ServerClient(t, redistest.Server(t))
	f := newFixtureOn(t, client)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var way modes
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Metrics = &way })
	emitted := map[string]time.Time{}
	emit := func() {
		emitted[id.Deposit.Of(f.emit(webhook.DepositCancelled, 1)[0])] = time.Now()
	}
	emit()
	f.allIn(webhook.Succeeded, 1)

	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for range 100 {
		emit()
		<-time.After(50 * time.Millisecond)
	}
	require.Equal(t, []webhookports.QueueMode{webhookports.QueueUsed, webhookports.QueueDirect}, way.all(),
		"no return to a full queue")
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	f.eventually("the queue is used again", func() bool { return len(way.all()) == 3 })
	emit()

	f.allIn(webhook.Succeeded, len(emitted))
	late := 0
	for _, got := range r.all() {
		_, after, _ := strings.Cut(got.body, `"id":"`)
		deposit, _, _ := strings.Cut(after, `"`)
		require.Contains(t, emitted, deposit)
		if got.at.Sub(emitted[deposit]) > time.Second {
			late++
		}
	}
	require.Len(t, r.all(), len(emitted))
	require.LessOrEqual(t, late, 3, "at most a batch finds out")
}
