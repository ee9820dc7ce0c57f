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
		s.tell = func(tally *tally) { told += s.take(tally) }
		counts := func() (n int) {
			for {
				if _, counted := s.count(s.of(rules)); !counted {
					return n
				}
				n++
			}
		}
		learn := func(told, left int) {
			s.learn(s.of(rules), time.Now(), told, &limiterReply{allowed: 1, numbers: []int64{int64(left), 60_000, 0}})
		}
		require.Zero(t, counts(), "nothing is known")
		learn(0, 99)
		require.Equal(t, (99-50)/tallyShare, counts())
		<-time.After(tallyLinger)
		synctest.Wait()
		require.Equal(t, 6, told)
		require.Zero(t, counts(), "Redis has not answered yet")
		learn(6, 93)
		require.Equal(t, (93-50)/tallyShare, counts())
		require.Equal(t, 5, s.take(s.of(rules)))
		learn(5, 57)
		require.Zero(t, counts(), "too near to half of the limit")

		learn(0, 99)
		<-time.After(tallyTrust - 1)
		require.Equal(t, 6, counts(), "the same tally after a turn")
		<-time.After(tallyLinger)
		learn(6, 99)
		<-time.After(tallyTrust)
		require.Zero(t, counts(), "too old")

		learn(0, 99)
		s.learn(s.of(rules), time.Now(), 0, nil)
		require.Zero(t, counts(), "Redis is away")

		<-time.After(2 * tallyTrust)
		other := []ports.LimitRule{{Name: "default", Key: "q", PerMinute: 100, Tallied: true}}
		s.of(other)
		<-time.After(tallyTrust)
		s.of(other)
		require.Len(t, s.before, 1, "the first rules are forgotten")
		require.NotContains(t, s.before, ruleKey(rules))
	})
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
