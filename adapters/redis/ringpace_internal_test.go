package redis

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// published is a hook of go-redis that counts pipelines and sends none.
type published struct{ n atomic.Int64 }

func (*published) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*published) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (p *published) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { p.n.Add(1); return nil }
}

func TestDoorbell_ABurstRingsSometimes_AndALoneRingAtOnce(t *testing.T) {
	t.Parallel()
	client, seen := redis.NewClient(&redis.Options{}), &published{}
	client.AddHook(seen)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	synctest.Test(t, func(t *testing.T) {
		breaker := NewBreaker(client)
		defer breaker.Close()
		bell := NewDoorbell(client, breaker)
		defer bell.Close()
		<-time.After(time.Second)
		for range 100 {
			bell.WakeRelays()
			<-time.After(time.Millisecond)
		}
		require.InDelta(t, 20, seen.n.Load(), 2)
		<-time.After(time.Second)
		before := seen.n.Load()
		bell.WakeRelays()
		synctest.Wait()
		require.Equal(t, before+1, seen.n.Load())
	})
}
