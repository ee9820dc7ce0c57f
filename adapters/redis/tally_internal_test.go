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
		told := 0
		s := &tallies{}
		take := func() (n int) {
			tells := s.take(s.of(rules))
			for _, t := range tells {
				n += t.requests
			}
			s.told(tells)
			return n
		}
		s.tell = func([]*tally) { told += take() }
		counts := func() (n int) {
			for {
				if _, counted := s.count(s.of(rules)); !counted {
					return n
				}
				n++
			}
		}
		learn := func(left int) {
			s.learn(s.of(rules), time.Now(), &limiterReply{allowed: 1, numbers: []int64{int64(left), 60_000, 0}})
		}
		require.Zero(t, counts(), "nothing is known")
		learn(99)
		require.Equal(t, (99-50)/tallyShare, counts())
		<-time.After(tallyLinger)
		synctest.Wait()
		require.Equal(t, 6, told)
		learn(93)
		require.Equal(t, (93-50)/tallyShare, counts())
		require.Equal(t, 5, take())
		require.Zero(t, take(), "once")
		learn(57)
		require.Zero(t, counts(), "too near to half of the limit")

		learn(99)
		<-time.After(tallyTrust - 1)
		require.Equal(t, 6, counts(), "the same tally after a turn")
		<-time.After(tallyLinger)
		learn(99)
		<-time.After(tallyTrust)
		require.Zero(t, counts(), "too old")

		learn(99)
		s.learn(s.of(rules), time.Now(), nil)
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
	s.learn(all, time.Now(), &limiterReply{allowed: 1, numbers: []int64{67, 60_000, 0}})
	for left := range 2 {
		d, counted := s.count(all)
		require.True(t, counted)
		require.Equal(t, 66-left, d.Remaining)
	}
	tells := s.take(all)
	_, counted := s.count(all)
	require.False(t, counted)
	s.told(tells)
	_, counted = s.count(all)
	require.True(t, counted)
}

func TestIdempotencyCache_ForgetsAKeyAfterItsResponseHasExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &IdempotencyCache{sending: true, share: share{most: 1 << 20}}
		k := ports.IdempotencyKey{Owner: id.ID{1}, Epoch: ports.Epoch{1}}
		c.Keep(k, ports.StoredResponse{Body: []byte("{}")})
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
