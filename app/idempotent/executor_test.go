//go:build !unit

package idempotent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis/redistest"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/cmd/servicetest"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

type fixture struct {
	*idempotent.Executor
	flush   func()
	last    idempotent.Result
	runs    atomic.Int64
	changes bool // the effect is a change, not a transaction
}

// each runs a test with both kinds of effect.
func each(t *testing.T, test func(*testing.T, *fixture)) {
	t.Parallel()
	for name, changes := range map[string]bool{"transaction": false, "change": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.changes = changes
			test(t, b)
		})
	}
}

func setup(t *testing.T) *fixture {
	t.Helper()
	client := redistest.New(t)
	b := &fixture{flush: func() { require.NoError(t, client.FlushDB(t.Context()).Err()) }}
	b.Executor = servicetest.New(t, func(s *servicetest.Setup) {
		s.Redis = client
		s.Parts = func(p *servicetest.Parts) { p.Idempotency = func(r idempotent.Result) { b.last = r } }
	}).Idempotent
	return b
}

func request(t testing.TB, body string) idempotent.Request {
	t.Helper()
	return idempotent.Request{
		Key: &ports.IdempotencyKey{PartnerID: id.ID{1}, Route: "POST /x", Key: [16]byte{1}, Fingerprint: fingerprint(t, body)},
		Now: system.Clock{}.Now(),
	}
}

func (b *fixture) run(t *testing.T, r idempotent.Request, answer string, fail error) (idempotent.Response, error) {
	t.Helper()
	if b.changes {
		r.Decide = func(ports.Found) (ports.Writes, idempotent.Response, error) {
			b.runs.Add(1)
			return ports.Writes{}, idempotent.Response{Status: 201, Body: []byte(answer)}, fail
		}
		return b.Run(t.Context(), r)
	}
	r.Effect = func(context.Context, ports.Repositories) (idempotent.Response, error) {
		b.runs.Add(1)
		return idempotent.Response{Status: 201, Body: []byte(answer)}, fail
	}
	return b.Run(t.Context(), r)
}

func TestRun_RunsOnce_AndReplaysFromCacheOrDatabase(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		first, err := b.run(t, request(t, "1"), "a", nil)
		require.NoError(t, err)
		require.Equal(t, idempotent.Response{Status: 201, Body: []byte("a")}, first)
		require.Equal(t, idempotent.Executed, b.last)
		for range 2 {
			again, err := b.run(t, request(t, "1.0"), "b", nil)
			require.NoError(t, err)
			require.Equal(t, idempotent.Response{Status: 201, Body: []byte("a"), Replayed: true}, again)
			require.Equal(t, idempotent.Replayed, b.last)
			_, err = b.run(t, request(t, "2"), "b", nil)
			require.ErrorIs(t, err, ports.ErrKeyReused)
			require.Equal(t, idempotent.Reused, b.last)
			b.flush()
		}
		require.EqualValues(t, 1, b.runs.Load())
	})
}

func TestRun_FailedEffect_LeavesTheKeyFree(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		broken := errors.New("broken")
		_, err := b.run(t, request(t, "1"), "", broken)
		require.ErrorIs(t, err, broken)
		require.Equal(t, idempotent.Refused, b.last)
		_, err = b.run(t, request(t, "2"), "a", nil)
		require.NoError(t, err)
	})
}

func TestRun_Panic_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	j := request(t, "1")
	j.Effect = func(context.Context, ports.Repositories) (idempotent.Response, error) { panic("at the disco") }
	require.Panics(t, func() { _, _ = b.Run(t.Context(), j) })
	_, err := b.run(t, request(t, "1"), "a", nil)
	require.NoError(t, err)
}

func TestRun_WhileTheFirstRuns_TheSecondIsTold(t *testing.T) {
	t.Parallel()
	for _, forgetful := range []bool{false, true} {
		b := setup(t)
		inside, finish, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			j := request(t, "1")
			j.Effect = func(context.Context, ports.Repositories) (idempotent.Response, error) {
				close(inside)
				<-finish
				return idempotent.Response{Status: 200, Body: []byte("a")}, nil
			}
			_, err := b.Run(t.Context(), j)
			done <- err
		}()
		<-inside
		if forgetful {
			b.flush() // then the database answers that the key is in use
		}
		for range 3 {
			_, err := b.run(t, request(t, "1"), "b", nil)
			require.ErrorIs(t, err, ports.ErrKeyInUse)
		}
		close(finish)
		require.NoError(t, <-done)
		again, err := b.run(t, request(t, "1"), "b", nil)
		require.NoError(t, err)
		require.Equal(t, "a", string(again.Body))
	}
}

func TestRun_Prepare_CountsOnlyWhereTheKeyHoldsNothing(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		shape := errors.New("amount: is required")
		_, err := b.Refuse(t.Context(), request(t, "1").Key, request(t, "1").Now, shape)
		require.ErrorIs(t, err, shape)
		_, err = b.run(t, request(t, "1"), "a", nil)
		require.NoError(t, err)
		for range 2 {
			_, err = b.Refuse(t.Context(), request(t, "2").Key, request(t, "2").Now, shape)
			require.ErrorIs(t, err, ports.ErrKeyReused)
			again, err := b.Refuse(t.Context(), request(t, "1").Key, request(t, "1").Now, shape)
			require.NoError(t, err, "a stored response is replayed even if the rules have become stricter")
			require.True(t, again.Replayed)
			b.flush()
		}
	})
}

func TestRun_AfterTheWindow_TheKeyIsNew(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		_, err := b.run(t, request(t, "1"), "a", nil)
		require.NoError(t, err)
		later := request(t, "2")
		later.Now = later.Now.Add(ports.IdempotencyWindow)
		got, err := b.run(t, later, "b", nil)
		require.NoError(t, err)
		require.Equal(t, idempotent.Response{Status: 201, Body: []byte("b")}, got)
	})
}

func TestRun_WithoutAKey_RunsEveryTime(t *testing.T) {
	each(t, func(t *testing.T, b *fixture) {
		for range 3 {
			j := request(t, "1")
			j.Key = nil
			_, err := b.run(t, j, "a", nil)
			require.NoError(t, err)
		}
		require.EqualValues(t, 3, b.runs.Load())
		require.Empty(t, b.last, "only keyed requests are counted")
	})
}

func TestRun_AChangeThatNeedsMore_RunsAsATransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, want := range []idempotent.Result{idempotent.Executed, idempotent.Replayed} {
		r := request(t, "1")
		r.Decide = func(ports.Found) (ports.Writes, idempotent.Response, error) {
			return ports.Writes{}, idempotent.Response{}, ports.ErrNeedsMore
		}
		got, err := b.run(t, r, "a", nil)
		require.NoError(t, err)
		require.Equal(t, "a", string(got.Body))
		require.Equal(t, want, b.last)
	}
	require.EqualValues(t, 1, b.runs.Load())
}
