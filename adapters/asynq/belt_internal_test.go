package asynq

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// answers answers pipelines without a server: the nth command fails with the nth error.
type answers []error

func (answers) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (answers) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (a answers) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error {
		for i, cmd := range cmds {
			cmd.SetErr(a[i])
		}
		return nil
	}
}

// The task of a poll that came back empty needs a poll of its own.
func TestBelt_TellsWhetherThePollTookATask(t *testing.T) {
	t.Parallel()
	for found, want := range map[error]bool{nil: true, redis.Nil: false} {
		client := redis.NewClient(&redis.Options{})
		client.AddHook(answers{nil, found})
		b := newBelt(client)
		poll := newScript("take", nil, nil)
		go func() { b.polls <- poll }()
		taken := false
		for poll.cmd == nil { // until the poll waits
			taken = b.enqueue(t.Context(), newScript("enqueue", nil, nil))
		}
		require.Equal(t, want, taken)
		require.NoError(t, client.Close())
	}
}
