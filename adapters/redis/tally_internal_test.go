package redis

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

func TestTallies_TrustAnAnswerForAWhile_AndTellOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rules := []ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}}
		told := make(chan struct{}, 8)
		s := &tallies{tell: func([]*tally) { told <- struct{}{} }}
		take := func() (n int) {
			tells := s.take(s.of(rules))
			for _, t := range tells {
				n += t.requests
				t.counted, t.tally.telling = 0, 0
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
			s.learn(&counting{tallies: s.of(rules), reply: &limiterReply{allowed: 1, numbers: []int64{int64(left), 0, 0}}})
		}
		require.Zero(t, counts(), "nothing is known")
		learn(99)
		require.Equal(t, (99-50)/tallyShare, counts())
		<-time.After(tallyLinger)
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
		s.learn(&counting{tallies: s.of(rules)})
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
	s := &tallies{untold: []*tally{{}}} // no timer
	all := s.of([]ports.LimitRule{{Name: "default", Key: "p", PerMinute: 100, Tallied: true}})
	answer := func(c *counting, left int64) {
		c.reply = &limiterReply{allowed: 1, numbers: []int64{left, 0, 0}}
		s.learn(c)
	}
	counts := func(want bool, left int) {
		t.Helper()
		d, counted := s.count(all)
		require.Equal(t, want, counted)
		require.Equal(t, left, d.Remaining)
	}
	answer(&counting{tallies: all}, 74) // room for three
	counts(true, 73)
	asked := &counting{tallies: all, requests: 1}
	s.asks(asked)
	asked.tells = s.take(all)
	require.Equal(t, 1, asked.tells[0].requests)
	counts(true, 72)
	counts(false, 0)
	asked.tells[0].cmd = redis.NewCmd(t.Context())
	answer(asked, 72)
	counts(true, 70)
	counts(false, 0)

	lost := &counting{tallies: all, tells: s.take(all)}
	lost.tells[0].cmd = redis.NewCmd(t.Context())
	lost.tells[0].cmd.SetErr(errForeign)
	answer(lost, 99)
	counts(false, 0) // a Redis that takes no writes tells nothing that holds
	require.Equal(t, 2, lost.untold())
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
