package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMore_LeavesTheLastQuarterToPartnersWithFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, left, held, want int }{
		{256, 256, 0, 192}, {256, 65, 191, 1}, {256, 64, 192, -176}, // one partner that holds most
		{256, 64, 0, 16}, {256, 64, 12, 4}, {256, 52, 12, 1}, {256, 51, 12, 0}, // a second one
		{256, 5, 0, 1}, {256, 1, 0, 1}, {256, 0, 0, 0}, {256, 3, 1, 0}, // many
		{1, 1, 0, 1}, {1, 0, 1, 0}, {4, 1, 0, 1}, {4, 1, 1, 0}, // small processes
	} {
		require.Equal(t, c.want, more(c.all, c.left, c.held), "%+v", c)
	}
}

// process is a registry at default settings.
func process() *registry {
	return newRegistry(Config{Concurrency: 256, EndpointConcurrency: 32, Window: 4096}, time.Now)
}

// hang has a partner's new endpoints ask for more slots than each may have, and gives how many slots they got.
func hang(r *registry, partner byte, endpoints int, test bool) (lines []*line, taken int) {
	for n := range endpoints {
		l := &line{r: r, sub: id.ID{partner, byte(n), 1}, partner: id.ID{partner}}
		taken += l.ask(40, test)
		lines = append(lines, l)
	}
	return lines, taken
}

func TestRegistry_PartnersWhoseEndpointsHang_LeaveSlotsToAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ attack func(r *registry) }{
		"two partners with 16 endpoints": {func(r *registry) { hang(r, 1, 16, false); hang(r, 2, 16, false) }},
		"one that makes its subscriptions anew": {func(r *registry) {
			hang(r, 1, 16, false)
			for _, e := range r.entries { // deleted: their POSTs go on
				e.touched = time.Time{}
			}
			r.correct(nil, r.mark())
			hang(r, 1, 40, false)
		}},
		"eight partners": {func(r *registry) {
			for p := range byte(8) {
				hang(r, p+1, 16, false)
			}
		}},
		"tests and redeliveries": {func(r *registry) { hang(r, 1, 16, true); hang(r, 2, 16, true); hang(r, 3, 16, false) }},
		"endpoints that turn slow meanwhile": {func(r *registry) {
			lines, _ := hang(r, 1, 16, false)
			for _, l := range lines {
				r.adjust(map[id.ID]webhook.Health{l.sub: {Slow: true}})
			}
			hang(r, 2, 16, false)
		}},
		"partners that nobody has named yet": {func(r *registry) {
			for n := range byte(16) {
				for range 40 {
					r.slot(webhookports.Claim{SubscriptionID: id.ID{8, n}}, false)
				}
			}
			hang(r, 2, 16, false)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := process()
			c.attack(r)
			other := &line{r: r, sub: id.ID{99}, partner: id.ID{99}}
			require.GreaterOrEqual(t, other.ask(2, false), 2, "in use: %d", r.posting)
			require.LessOrEqual(t, r.posting, 256)
		})
	}
}

func TestRegistry_RequestedDeliveries_TakeNoReservedSlot_AndLetEventsPass(t *testing.T) {
	t.Parallel()
	r := process()
	_, taken := hang(r, 1, 16, true)
	require.Equal(t, 192, taken, "of the endpoints' slots, 32 each")
	l := &line{r: r, sub: id.ID{2}, partner: id.ID{2}}
	require.Zero(t, l.ask(3, true), "tests")
	require.Equal(t, 2, l.ask(2, false), "events of the same endpoint go out")
	r.adjust(map[id.ID]webhook.Health{l.sub: {Failures: 5}}) // 4 slots
	require.Equal(t, 2, l.ask(4, false))
	r.free(l.sub)
	require.Equal(t, 1, l.granted(), "an event passes the tests that wait")
	r.free(id.ID{1, 0, 1})
	require.Zero(t, l.granted(), "4 slots are in use")
	r.free(l.sub)
	require.Equal(t, 1, l.granted())
	require.Equal(t, 4, r.entries[l.sub].posting)
}

func TestRegistry_WhileAnotherPartnerWaits_APartnerHasAQuarter(t *testing.T) {
	t.Parallel()
	r := process()
	first, taken := hang(r, 1, 16, false)
	require.Equal(t, 192, taken)
	second, taken := hang(r, 2, 16, false)
	require.Equal(t, 13, taken)
	granted := func(lines []*line) (n int) {
		for _, l := range lines {
			n += l.granted()
		}
		return n
	}
	for range 14 + 50 { // one more than are free again in the last quarter, then until the second partner has its quarter
		for _, l := range first {
			if r.entries[l.sub].posting > 0 {
				r.free(l.sub)
				break
			}
		}
		require.Zero(t, granted(first))
	}
	require.Equal(t, 51, granted(second))
	require.Equal(t, 64, r.held[id.ID{2}].posting)
	require.Equal(t, 192, r.posting)
}

// The window of claims is shared as the slots are: claims that wait for slots of endpoints that hang keep it full.
func TestRegistry_APartnerWithManyClaims_LeavesRoomInTheWindow(t *testing.T) {
	t.Parallel()
	r := process()
	var subs []webhookports.Subscription
	for n := range byte(16) {
		subs = append(subs, webhookports.Subscription{ID: id.ID{1, n}, PartnerID: id.ID{1}})
	}
	r.observe(subs)
	for _, s := range subs {
		for r.admit(s.ID, noon) {
			continue
		}
	}
	require.Equal(t, 3072, r.claimed)
	require.Empty(t, r.rooms(subs, noon))
	other := webhookports.Subscription{ID: id.ID{2}, PartnerID: id.ID{2}}
	require.Equal(t, []webhookports.ClaimQuota{{SubscriptionID: other.ID, Room: 256}}, r.rooms(append(subs, other), noon))
	require.True(t, r.admit(other.ID, noon))
}
