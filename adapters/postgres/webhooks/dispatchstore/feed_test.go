package dispatchstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// feed reads with the store of http, and relays with the store of a dispatcher.
type feed struct {
	*postgres.Store
	relays *dispatchstore.Store
	t      *testing.T
}

func newFeed(t *testing.T) *feed {
	t.Helper()
	store, pool := storetest.New(t, postgres.Options{})
	return &feed{store, dispatchOver(t, pool.Config().ConnString()), t}
}

// at0 is the time of every event.
var at0 = time.Date(2026, 8, 1, 15, 0, 0, 123_456_000, time.UTC)

func (w *feed) partner() id.ID { return storetest.CreateDepositOrigin(w.t, w.Store).PartnerID }

// append stores an event of a deposit of the partner.
func (w *feed) append(partnerID, depositID id.ID, name webhook.EventName) ports.Event {
	w.t.Helper()
	e := ports.Event{ID: portstest.NewID(), PartnerID: partnerID, Name: name, DepositID: depositID,
		Data: []byte(`{"b":1, "a":2}`), CreatedAt: at0}
	storetest.RunInTransaction(w.t, w.Store, func(ctx context.Context,
		r *postgres.Store) error {
		return r.Outbox.Append(ctx, e)
	})
	return e
}

// relay files up to limit events.
func (w *feed) relay(limit int) (filed int) {
	w.t.Helper()
	filed, _, err := w.relays.Relay(w.t.Context(), limit, time.Minute, nothing)
	require.NoError(w.t, err)
	return filed
}

// filed appends n events of the partner, files them, and gives them as the feed has them.
func (w *feed) filed(partnerID id.ID, n int) (events []ports.Event) {
	w.t.Helper()
	for range n {
		events = append(events, w.append(partnerID, portstest.NewID(), webhook.EventDepositCancelled))
	}
	require.Equal(w.t, n, w.relay(n))
	for i := range events {
		events[i].Sequence = int64(i + 1)
	}
	return events
}

func (w *feed) state(partnerID id.ID) webhookports.FeedState {
	w.t.Helper()
	s, err := w.Events.FeedState(w.t.Context(), partnerID)
	require.NoError(w.t, err)
	return s
}

func (w *feed) after(partnerID id.ID, n int64, limit int) []ports.Event {
	w.t.Helper()
	events, err := w.Events.FeedEvents(w.t.Context(), partnerID, n, limit)
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

func TestFeed_OfANewPartner_IsEmpty_AndOfAnUnknownOneAnError(t *testing.T) {
	t.Parallel()
	w := newFeed(t)
	p := w.partner()
	s := w.state(p)
	require.False(t, s.Epoch.IsZero())
	require.Equal(t, webhookports.FeedState{Epoch: s.Epoch, Oldest: 1, Last: 0}, s)
	require.Empty(t, w.after(p, 0, 10))
	last, err := w.Events.LastFeedNumbers(t.Context(), []id.ID{p})
	require.NoError(t, err)
	require.Equal(t, map[id.ID]int64{p: 0}, last)

	_, err = w.Events.FeedState(t.Context(), portstest.NewID())
	require.Error(t, err, "of an unknown partner")
	require.Empty(t, w.after(portstest.NewID(), 0, 10))
	last, err = w.Events.LastFeedNumbers(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, last)
}

func TestFeed_AnEventHasANumberOnlyOnceItIsRelayed(t *testing.T) {
	t.Parallel()
	w := newFeed(t)
	p := w.partner()
	e := w.append(p, portstest.NewID(), webhook.EventDepositActivated)
	require.Zero(t, w.state(p).Last)
	require.Empty(t, w.after(p, 0, 10))
	_, err := w.Events.Event(t.Context(), p, e.ID)
	require.ErrorIs(t, err, webhook.ErrEventNotFound)
	require.Equal(t, 1, w.relay(10))
	require.EqualValues(t, 1, w.state(p).Last)
	e.Sequence = 1
	same(t, []ports.Event{e}, w.after(p, 0, 10))
}

func TestFeed_OfEachPartner_HasNumbersOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newFeed(t)
	a, b := w.partner(), w.partner()
	of := map[id.ID][]ports.Event{}
	for i := range 3 {
		for _, p := range []id.ID{a, b} {
			e := w.append(p, portstest.NewID(), webhook.EventDepositCaptured)
			e.Sequence = int64(i + 1)
			of[p] = append(of[p], e)
		}
	}
	require.Equal(t, 6, w.relay(10))
	for p, want := range of {
		same(t, want, w.after(p, 0, 10))
	}
	last, err := w.Events.LastFeedNumbers(t.Context(), []id.ID{a, portstest.NewID(), b})
	require.NoError(t, err)
	require.Equal(t, map[id.ID]int64{a: 3, b: 3}, last, "a partner that is unknown has none")
	require.Equal(t, w.state(a).Epoch, w.state(b).Epoch)
}

func TestFeed_AnEventThatIsSetAside_GetsItsNumberWhenItIsRelayed(t *testing.T) {
	t.Parallel()
	w := newFeed(t)
	p := w.partner()
	aside, next := w.append(p, portstest.NewID(), webhook.EventDepositCancelled),
		w.append(p, portstest.NewID(), webhook.EventDepositCancelled)
	moved, err := w.relays.SetEventAside(t.Context(), aside.ID, "refused")
	require.NoError(t, err)
	require.True(t, moved)
	require.Equal(t, 1, w.relay(10))
	storetest.RunInTransaction(w.t, w.Store, func(ctx context.Context, r *postgres.Store) error {
		_, err := r.SetAside.Retry(ctx, aside.ID)
		return err
	})
	require.Equal(t, 1, w.relay(10))
	next.Sequence, aside.Sequence = 1, 2
	same(t, []ports.Event{next, aside}, w.after(p, 0, 10))
}

func TestFeed_AfterARestore_IsOfAnotherEpoch(t *testing.T) {
	t.Parallel()
	w := newFeed(t)
	p, epoch := w.partner(), portstest.NewID()
	w.filed(p, 2)
	before := w.state(p)
	storetest.RunInTransaction(w.t, w.Store,
		func(ctx context.Context, r *postgres.Store) error { return r.Restores.BeginEpoch(ctx, epoch, at0) })
	require.Equal(t, webhookports.FeedState{Epoch: epoch, Oldest: before.Oldest, Last: before.Last}, w.state(p))
	require.NotEqual(t, epoch, before.Epoch)
}

// The row of an event that somebody spoilt by SQL keeps its number, and has no data.
func TestFeedEvents_AnEventThatCannotBeRead_HasNoData_AndIsTold(t *testing.T) {
	t.Parallel()
	var told []id.ID
	store, pool := storetest.New(t, postgres.Options{
		Unreadable: func(_ context.Context, table string, event id.ID, _ error) {
			require.Equal(t, "events", table)
			told = append(told, event)
		}})
	w := &feed{store, dispatchOver(t, pool.Config().ConnString()), t}
	partnerID := w.partner()
	want := w.filed(partnerID, 4)
	for _, statement := range []string{
		`ALTER TABLE events DROP CONSTRAINT events_object, DROP CONSTRAINT events_finite`,
		`UPDATE events SET data = '{"broken' WHERE sequence = 2`,
		`UPDATE events SET created_at = 'infinity' WHERE sequence = 3`,
	} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	got := w.after(partnerID, 0, 10)
	require.Len(t, got, 4)
	require.Empty(t, cmp.Diff([]ports.Event{want[0], want[3]}, []ports.Event{got[0], got[3]}))
	require.Nil(t, got[1].Data)
	require.Nil(t, got[2].Data)
	require.Equal(t, []id.ID{want[1].ID, want[2].ID}, told)
}
