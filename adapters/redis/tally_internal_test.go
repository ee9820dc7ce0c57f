package redis

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

func TestTallies_TrustAnAnswerForAWhile_AndTellOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rules := []ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}}
		told := make(chan struct{}, 8)
		s := newTallies(func([]*tally) { told <- struct{}{} })
		take := func() (n int) {
			for _, c := range s.take(s.of(rules), 0) {
				n += c.told
				c.tallies[0].telling = 0
			}
			return n
		}
		counts := func() (n int) {
			for {
				if _, counted := s.count(s.of(rules)); !counted {
					return n
				}
				n++
			}
		}
		learn := func(left int) {
			s.learn([]*counting{{tallies: s.of(rules), reply: []int64{1, int64(left), 0, 0}}}, time.Now())
		}
		require.Zero(t, counts(), "nothing is known")
		learn(99)
		require.Equal(t, (99-50)/tallyShare, counts())
		<-time.After(linger)
		<-told
		require.Equal(t, 6, take())
		learn(93)
		require.Equal(t, (93-50)/tallyShare, counts())
		require.Equal(t, 5, take())
		require.Zero(t, take(), "once")
		learn(57)
		require.Zero(t, counts(), "too near to half of the limit")

		learn(99)
		<-time.After(tallyTrust - 1)
		require.Equal(t, 6, counts(), "the same tally after a turn")
		require.Equal(t, 6, take())
		learn(99)
		<-time.After(tallyTrust)
		require.Zero(t, counts(), "too old")

		learn(99)
		s.learn([]*counting{{tallies: s.of(rules)}}, time.Now())
		require.Zero(t, counts(), "Redis is away")

		other := []ports.LimitRule{{Name: "default", Key: "q", PerMinute: 100, Tallied: true}}
		for range 3 {
			<-time.After(tallyTrust)
			s.of(other)
		}
		require.Len(t, s.now, 1)
		require.Len(t, s.before, 1, "the first rule is forgotten")
	})
}

// What is on its way to Redis counts until Redis has answered.
func TestTallies_RequestsOnTheirWay_TakeRoom(t *testing.T) {
	t.Parallel()
	s := newTallies(nil)
	s.untold = []*tally{{}} // no timer
	all := s.of([]ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}})
	counts := func(want bool, left int) {
		t.Helper()
		d, counted := s.count(all)
		require.Equal(t, want, counted)
		require.Equal(t, left, d.Remaining)
	}
	answer := func(left int64, trip ...*counting) {
		for _, c := range trip {
			c.reply = []int64{1, left, 0, 0}
		}
		s.learn(trip, time.Now())
	}
	answer(74, &counting{tallies: all}) // room for three
	counts(true, 73)
	asked := &counting{tallies: all, asked: 1}
	tells := s.take(all, 1)
	require.Equal(t, 1, tells[0].told)
	counts(true, 71) // two others are on their way
	counts(false, 0)
	answer(72, append(tells, asked)...)
	counts(true, 70)
	counts(false, 0)

	lost := s.take(all, 0)
	require.Equal(t, 2, uncounted(lost))
	s.learn(lost, time.Now())
	counts(false, 0) // a Redis that takes no writes tells nothing that holds
	require.Zero(t, all[0].used())
}

// Of two round trips at a time, the reply to the earlier count may come last.
func TestTallies_RepliesInAnotherOrder_LeaveTheSmallerNumber(t *testing.T) {
	t.Parallel()
	s := newTallies(nil)
	all := s.of([]ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}})
	learn := func(left int64, began time.Time) {
		s.learn([]*counting{{tallies: all, reply: []int64{1, left, 0, 0}}}, began)
	}
	began := time.Now().Add(-time.Second)
	learn(60, began)
	learn(90, began)
	require.Equal(t, 60, all[0].left)
	learn(90, time.Now().Add(time.Second))
	require.Equal(t, 90, all[0].left, "later, the window has moved")
}

// The decision of Redis is about all earlier requests of the process.
func TestTallies_ARequestForRedis_WaitsForThoseOnTheirWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTallies(func([]*tally) {})
		all := s.of([]ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}})
		s.learn([]*counting{{tallies: all, reply: []int64{1, 99, 0, 0}}}, time.Now())
		_, counted := s.count(all)
		require.True(t, counted)
		onTheirWay := s.take(all, 0)
		taken := false
		go func() {
			s.take(all, 1)
			taken = true
		}()
		synctest.Wait()
		require.False(t, taken)
		s.learn(onTheirWay, time.Now()) // that they are lost ends the wait too
		synctest.Wait()
		require.True(t, taken)
	})
}

func TestIdempotencyCache_ForgetsAKeyAfterItsResponseHasExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &IdempotencyCache{waiting: []keeping{{}}} // no timer
		k := ports.IdempotencyKey{Owner: id.ID{1}, Epoch: ports.RestoreEpoch{1}}
		c.Store(k, ports.StoredResponse{Body: []byte("{}")})
		require.True(t, c.knows(nameOf(k)))
		<-time.After(cachedFor - 1)
		require.True(t, c.knows(nameOf(k)))
		<-time.After(2*cachedFor + 1)
		c.turn()
		<-time.After(cachedFor)
		require.False(t, c.knows(nameOf(k)))
		require.Empty(t, c.now)
		require.Empty(t, c.before)
	})
}
