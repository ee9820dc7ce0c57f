package portstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// FeedBackend stores events, relays them, and reads them.
type FeedBackend interface {
	Backend
	ports.EventReader
	ports.FeedReader
	ports.RelayStore
}

// Feed tests an implementation of the readers of events over events that its own relay has filed (api.md §5, "The feed").
func Feed(t *testing.T, setup func(t *testing.T) FeedBackend) {
	t.Helper()
	for name, check := range feedSuite {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			check(t, &feedWorld{world: &world{Backend: b, t: t}, FeedBackend: b})
		})
	}
}

type feedWorld struct {
	*world
	FeedBackend
}

// append stores an event of a deposit of the partner.
func (w *feedWorld) append(partnerID, depositID id.ID, name webhook.EventName) ports.Event {
	w.t.Helper()
	e := ports.Event{ID: NewID(), PartnerID: partnerID, Name: name, DepositID: depositID, Data: []byte(`{"b":1, "a":2}`), CreatedAt: at0}
	w.do(func(ctx context.Context, r ports.Repositories) error { return r.Outbox.Append(ctx, e) })
	return e
}

// relay files up to limit events.
func (w *feedWorld) relay(limit int) (filed int) {
	w.t.Helper()
	filed, _, err := w.FeedBackend.Relay(w.t.Context(), limit, time.Minute, func([]ports.Event, []ports.Subscription) []ports.Delivery { return nil })
	require.NoError(w.t, err)
	return filed
}

// filed appends n events of the partner, files them, and gives them as the feed has them.
func (w *feedWorld) filed(partnerID id.ID, n int) (events []ports.Event) {
	w.t.Helper()
	for range n {
		events = append(events, w.append(partnerID, NewID(), webhook.DepositCancelled))
	}
	require.Equal(w.t, n, w.relay(n))
	for i := range events {
		events[i].Sequence = int64(i + 1)
	}
	return events
}

func (w *feedWorld) state(partnerID id.ID) ports.FeedState {
	w.t.Helper()
	s, err := w.FeedBackend.Feed(w.t.Context(), partnerID)
	require.NoError(w.t, err)
	return s
}

func (w *feedWorld) after(partnerID id.ID, n int64, limit int) []ports.Event {
	w.t.Helper()
	events, err := w.FeedEvents(w.t.Context(), partnerID, n, limit)
	require.NoError(w.t, err)
	return events
}

// same compares events whatever the place of their times.
func same(t *testing.T, want, got []ports.Event) {
	t.Helper()
	for i := range got {
		got[i].CreatedAt = got[i].CreatedAt.UTC()
	}
	require.Empty(t, cmp.Diff(want, got))
}

var feedSuite = map[string]func(*testing.T, *feedWorld){
	"Feed_OfANewPartner_IsEmpty": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		s := w.state(p.ID)
		require.False(t, s.Epoch.IsZero())
		require.Equal(t, ports.FeedState{Epoch: s.Epoch, Oldest: 1, Last: 0}, s)
		require.Empty(t, w.after(p.ID, 0, 10))
		last, err := w.LastNumbers(t.Context(), []id.ID{p.ID})
		require.NoError(t, err)
		require.Equal(t, map[id.ID]int64{p.ID: 0}, last)
	},
	"Feed_AnEventHasANumberOnlyOnceItIsRelayed": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		e := w.append(p.ID, NewID(), webhook.DepositActivated)
		require.Zero(t, w.state(p.ID).Last)
		require.Empty(t, w.after(p.ID, 0, 10))
		_, err := w.FeedBackend.Event(t.Context(), p.ID, e.ID)
		require.ErrorIs(t, err, webhook.ErrEventNotFound)
		require.Equal(t, 1, w.relay(10))
		require.EqualValues(t, 1, w.state(p.ID).Last)
		e.Sequence = 1
		same(t, []ports.Event{e}, w.after(p.ID, 0, 10))
	},
	"Feed_ReadInParts_IsTheWholeOnce": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		want := w.filed(p.ID, 7)
		for limit := 1; limit <= 8; limit++ {
			var got []ports.Event
			for {
				part := w.after(p.ID, int64(len(got)), limit)
				require.LessOrEqual(t, len(part), limit)
				if got = append(got, part...); len(part) < limit {
					break
				}
			}
			same(t, want, got)
		}
		require.Empty(t, w.after(p.ID, 7, 10))
		require.Empty(t, w.after(p.ID, 70, 10))
	},
	"Feed_RelayedInParts_GoesOnWithTheNextNumber": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		var want []ports.Event
		for i := range 6 {
			want = append(want, w.append(p.ID, NewID(), webhook.DepositCancelled))
			want[i].Sequence = int64(i + 1)
		}
		for _, part := range []int{1, 2, 3} {
			require.Equal(t, part, w.relay(part))
		}
		same(t, want, w.after(p.ID, 0, 10))
		require.EqualValues(t, 6, w.state(p.ID).Last)
	},
	"Feed_TheEventsOfADeposit_AreInTheOrderOfTheirCommits": func(t *testing.T, w *feedWorld) {
		p, depositID := w.partner(), NewID()
		later, earlier := NewID(), NewID()
		var want []id.ID
		for _, eventID := range []id.ID{earlier, later} { // the first commit has the greater id
			e := ports.Event{ID: eventID, PartnerID: p.ID, Name: webhook.DepositActivated, DepositID: depositID, Data: []byte(`{}`), CreatedAt: at0}
			w.do(func(ctx context.Context, r ports.Repositories) error { return r.Outbox.Append(ctx, e) })
			want = append(want, eventID)
		}
		require.Equal(t, 2, w.relay(10))
		require.Equal(t, want, idsOf(w.after(p.ID, 0, 10), func(e ports.Event) id.ID { return e.ID }))
	},
	"Feed_OfEachPartner_HasNumbersOfItsOwn": func(t *testing.T, w *feedWorld) {
		a, b := w.partner(), w.partner()
		of := map[id.ID][]ports.Event{}
		for i := range 3 {
			for _, p := range []id.ID{a.ID, b.ID} {
				e := w.append(p, NewID(), webhook.DepositCaptured)
				e.Sequence = int64(i + 1)
				of[p] = append(of[p], e)
			}
		}
		require.Equal(t, 6, w.relay(10))
		for p, want := range of {
			same(t, want, w.after(p, 0, 10))
		}
		last, err := w.LastNumbers(t.Context(), []id.ID{a.ID, NewID(), b.ID})
		require.NoError(t, err)
		require.Equal(t, map[id.ID]int64{a.ID: 3, b.ID: 3}, last, "a partner that is unknown has none")
		require.Equal(t, w.state(a.ID).Epoch, w.state(b.ID).Epoch)
	},
	"Feed_OfAnUnknownPartner_IsAnError": func(t *testing.T, w *feedWorld) {
		_, err := w.FeedBackend.Feed(t.Context(), NewID())
		require.Error(t, err)
		require.Empty(t, w.after(NewID(), 0, 10))
		last, err := w.LastNumbers(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, last)
	},
	"Feed_ARelayThatFails_TakesNoNumber": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		want := []ports.Event{w.append(p.ID, NewID(), webhook.DepositCancelled)}
		want[0].Sequence = 1
		broken, breakOff := context.WithCancel(t.Context())
		defer breakOff()
		_, _, err := w.Relay(broken, 10, time.Minute, func([]ports.Event, []ports.Subscription) []ports.Delivery {
			breakOff()
			return nil
		})
		require.Error(t, err)
		require.Zero(t, w.state(p.ID).Last)
		require.Equal(t, 1, w.relay(10))
		same(t, want, w.after(p.ID, 0, 10))
	},
	"Feed_AnEventThatIsSetAside_GetsItsNumberWhenItIsRelayed": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		aside, next := w.append(p.ID, NewID(), webhook.DepositCancelled), w.append(p.ID, NewID(), webhook.DepositCancelled)
		moved, err := w.SetAside(t.Context(), aside.ID, "refused")
		require.NoError(t, err)
		require.True(t, moved)
		require.Equal(t, 1, w.relay(10))
		w.do(func(ctx context.Context, r ports.Repositories) error {
			_, err := r.Outbox.Retry(ctx, aside.ID)
			return err
		})
		require.Equal(t, 1, w.relay(10))
		next.Sequence, aside.Sequence = 1, 2
		same(t, []ports.Event{next, aside}, w.after(p.ID, 0, 10))
	},
	"Feed_AfterARestore_IsOfAnotherEpoch": func(t *testing.T, w *feedWorld) {
		p, epoch := w.partner(), NewID()
		w.filed(p.ID, 2)
		before := w.state(p.ID)
		w.do(func(ctx context.Context, r ports.Repositories) error { return r.Restores.Finish(ctx, epoch, at0) })
		require.Equal(t, ports.FeedState{Epoch: epoch, Oldest: before.Oldest, Last: before.Last}, w.state(p.ID))
		require.NotEqual(t, epoch, before.Epoch)
	},
	"Events_OfOthers_AreNotFound": func(t *testing.T, w *feedWorld) {
		p, other := w.partner(), w.partner()
		e := w.filed(p.ID, 1)[0]
		got, err := w.FeedBackend.Event(t.Context(), p.ID, e.ID)
		require.NoError(t, err)
		same(t, []ports.Event{e}, []ports.Event{got})
		for partnerID, eventID := range map[id.ID]id.ID{other.ID: e.ID, p.ID: NewID()} {
			_, err := w.FeedBackend.Event(t.Context(), partnerID, eventID)
			require.ErrorIs(t, err, webhook.ErrEventNotFound)
		}
		list, err := w.Events(t.Context(), other.ID, ports.EventFilter{}, ports.Page{Limit: 10})
		require.NoError(t, err)
		require.Empty(t, list.Items)
	},
	"Events_List_IsNewestFirst_AndNarrowedByName": func(t *testing.T, w *feedWorld) {
		p := w.partner()
		var want []id.ID
		for i := range 5 {
			name := webhook.DepositCancelled
			if i%2 == 0 {
				name = webhook.DepositActivated
			}
			e := w.append(p.ID, NewID(), name)
			want = append([]id.ID{e.ID}, want...)
		}
		require.Equal(t, 5, w.relay(10))
		for name, c := range map[string]struct {
			filter ports.EventFilter
			want   []id.ID
		}{
			"all":     {ports.EventFilter{}, want},
			"name":    {ports.EventFilter{Name: webhook.DepositActivated}, []id.ID{want[0], want[2], want[4]}},
			"no name": {ports.EventFilter{Name: webhook.DepositCaptured}, nil},
			"created": {ports.EventFilter{Created: ports.Span{From: at0.Add(time.Second)}}, nil},
		} {
			var got []id.ID
			for page := (ports.Page{Limit: 100}); ; {
				list, err := w.Events(t.Context(), p.ID, c.filter, page)
				require.NoError(t, err, name)
				for _, e := range list.Items {
					got = append(got, e.ID)
				}
				if page.Cursor = list.Next; page.Cursor.IsZero() {
					break
				}
			}
			require.Equal(t, c.want, got, name)
		}
	},
}
