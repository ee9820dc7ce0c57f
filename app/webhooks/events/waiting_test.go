package events

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

func partnerNo(n int) id.ID { return id.ID{byte(n >> 8), byte(n)} }

func isRung(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWaiting_OfAPartner_TheSeventeenthEndsTheOldest(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	var places []*place
	for range 16 {
		p, ok := w.enter(partnerNo(1))
		require.True(t, ok)
		places = append(places, p)
	}
	_, ok := w.enter(partnerNo(2))
	require.True(t, ok, "the bound of a partner does not bound another")
	require.False(t, isRung(places[0].taken))
	_, ok = w.enter(partnerNo(1))
	require.True(t, ok)
	require.True(t, isRung(places[0].taken), "the oldest")
	require.False(t, isRung(places[1].taken), "and no other")
	require.Equal(t, 17, w.Size())
	places[0].leave()
	require.Equal(t, 17, w.Size(), "the place is that of the newer one")
	for _, p := range places[1:] {
		p.leave()
	}
	require.Equal(t, 2, w.Size())
}

func TestFeed_WhosePlaceWasTaken_AnswersEmptyAfterASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Deps{Feeds: &quiet{}, Waiting: NewWaitingRequests(), After: time.After})
		begun, answered := time.Now(), make(chan time.Duration, 1)
		var rest sync.WaitGroup
		ask := func(done func(time.Duration)) func() {
			return func() {
				page, err := s.ReadFeed(t.Context(), partnerNo(1), FeedRequest{Wait: 20 * time.Second})
				require.NoError(t, err)
				require.Empty(t, page.Events)
				done(time.Since(begun))
			}
		}
		rest.Go(ask(func(took time.Duration) { answered <- took }))
		synctest.Wait()
		for range 16 {
			rest.Go(ask(func(took time.Duration) { require.Equal(t, 20*time.Second, took) }))
		}
		require.Equal(t, time.Second, <-answered, "a follower that asks again at once does not spin")
		rest.Wait()
		require.Zero(t, s.deps.Waiting.Size())
	})
}

// quiet is a feed without events.
type feed = webhookports.EventStore

type quiet struct{ feed }

func (*quiet) FeedState(context.Context, id.ID) (webhookports.FeedState, error) {
	return webhookports.FeedState{Oldest: 1}, nil
}

func TestWaiting_OfAProcess_StopsAt4096(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	var last *place
	for n := range 4096 {
		p, ok := w.enter(partnerNo(n))
		require.True(t, ok, n)
		last = p
	}
	_, ok := w.enter(partnerNo(5000))
	require.False(t, ok)
	last.leave()
	_, ok = w.enter(partnerNo(5000))
	require.True(t, ok)
	require.Equal(t, 4096, w.Size())
}

func TestWaiting_ManyAtOnce_KeepTheBounds_AndLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	var group sync.WaitGroup
	var mu sync.Mutex
	most := 0
	for range 64 {
		group.Go(func() {
			for range 200 {
				p, ok := w.enter(partnerNo(1))
				if !ok {
					continue
				}
				mu.Lock()
				most = max(most, w.Size())
				mu.Unlock()
				w.WakePartners([]id.ID{partnerNo(1), partnerNo(2)})
				p.knows(1)
				p.leave()
			}
		})
	}
	group.Wait()
	require.Positive(t, most)
	require.LessOrEqual(t, most, 16)
	require.Zero(t, w.Size())
	require.Empty(t, w.byPartner)
}

func TestWaiting_ARing_WakesAllRequestsOfThePartner_AndNoOther(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	a, _ := w.enter(partnerNo(1))
	b, _ := w.enter(partnerNo(1))
	other, _ := w.enter(partnerNo(2))
	rings := []<-chan struct{}{a.rung(), b.rung()}
	others := other.rung()
	w.WakePartners([]id.ID{partnerNo(1), partnerNo(3)})
	for _, c := range rings {
		require.True(t, isRung(c))
	}
	require.False(t, isRung(others))
	require.False(t, isRung(a.rung()), "the next ring is another")
}

func TestWaiting_Drained_LetsNoRequestWait(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	_, ok := w.enter(partnerNo(1))
	require.True(t, ok)
	w.Drain()
	w.Drain()
	require.True(t, isRung(w.drained))
	_, ok = w.enter(partnerNo(2))
	require.False(t, ok)
}

// counters tells last numbers, as a database does that may be away.
type counters struct {
	feed
	last  map[id.ID]int64
	err   error
	asked chan []id.ID
}

func (c counters) LastFeedNumbers(_ context.Context, partners []id.ID) (map[id.ID]int64, error) {
	c.asked <- partners
	return c.last, c.err
}

func TestWaiting_TheLook_RingsForFeedsThatWentOn(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	ahead, _ := w.enter(partnerNo(1))
	level, _ := w.enter(partnerNo(2))
	ahead.knows(5)
	level.knows(5)
	level.knows(3) // a request that came later and asks for older events
	db := counters{last: map[id.ID]int64{partnerNo(1): 6, partnerNo(2): 5}, asked: make(chan []id.ID, 9)}
	rung, still := ahead.rung(), level.rung()
	w.look(t.Context(), db)
	require.ElementsMatch(t, []id.ID{partnerNo(1), partnerNo(2)}, <-db.asked, "a single query for all")
	require.True(t, isRung(rung))
	require.False(t, isRung(still))

	db.err = errors.New("away")
	rung = ahead.rung()
	w.look(t.Context(), db)
	require.False(t, isRung(rung), "an error changes nothing")
	ahead.leave()
	level.leave()
	for len(db.asked) > 0 {
		<-db.asked
	}
	w.look(t.Context(), db)
	require.Empty(t, db.asked, "nobody waits, nothing is asked")
}

func TestWaiting_Watch_LooksEverySecondUntilItEnds(t *testing.T) {
	t.Parallel()
	w := NewWaitingRequests()
	_, _ = w.enter(partnerNo(1))
	db := counters{asked: make(chan []id.ID)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.WatchFeeds(ctx, db) }()
	<-db.asked
	began := time.Now()
	<-db.asked
	require.Greater(t, time.Since(began), lookEvery/2)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
