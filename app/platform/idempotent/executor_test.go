//go:build !unit

package idempotent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

type fixture struct {
	*idempotent.Executor
	redis   *goredis.Client
	last    idempotent.Result
	runs    atomic.Int64
	changes bool  // the effect is a change, not a transaction
	owner   id.ID // of the keys: another for each test
}

func setup(t *testing.T) *fixture {
	t.Helper()
	client := redistest.New(t)
	b := &fixture{redis: client, owner: id.ID{1}}
	b.Executor = servicetest.New(t, func(s *servicetest.Setup) {
		s.Redis = client
		s.Parts = func(p *servicetest.Deps) { p.Idempotency = func(r idempotent.Result) { b.last = r } }
	}).Idempotent
	return b
}

// flush empties Redis as soon as Redis holds a cached response, so that the response cannot arrive afterwards.
func (b *fixture) flush(t *testing.T) {
	t.Helper()
	b.awaitCached(t)
	require.NoError(t, b.redis.FlushDB(t.Context()).Err())
}

// awaitCached needs a Redis that was empty when the test began.
func (b *fixture) awaitCached(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return b.redis.DBSize(t.Context()).Val() > 0 }, servicetest.MaxWait,
		time.Millisecond)
}

func request(t testing.TB, owner id.ID, body string) idempotent.Request {
	t.Helper()
	return idempotent.Request{
		Key: &ports.IdempotencyKey{Owner: owner, Route: "POST /x", Key: [16]byte{1}, Fingerprint: fingerprint(t, body)},
		Now: system.Clock{}.Now(),
	}
}

// run looks up the key of the request, if it has one, and runs its effect.
func (b *fixture) run(t *testing.T, r idempotent.Request, answer string, fail error) (idempotent.Response, error) {
	t.Helper()
	if r.Key != nil {
		b.LookUp(t.Context(), r.Key)
	}
	if b.changes {
		r.Decide = func(ports.FoundRows) (ports.RowsToWrite, idempotent.Response, error) {
			b.runs.Add(1)
			return ports.RowsToWrite{}, idempotent.Response{Code: 201, Body: []byte(answer)}, fail
		}
		return b.Run(t.Context(), r)
	}
	r.Effect = func(context.Context) (idempotent.Response, error) {
		b.runs.Add(1)
		return idempotent.Response{Code: 201, Body: []byte(answer)}, fail
	}
	return b.Run(t.Context(), r)
}

// refuse runs a request that a check before the use case refuses.
func (b *fixture) refuse(t *testing.T, body string, reason error) (idempotent.Response, error) {
	t.Helper()
	r := request(t, b.owner, body)
	b.LookUp(t.Context(), r.Key)
	return b.ReplayOrRefuse(t.Context(), r.Key, r.Now, reason)
}

// Both kinds of effect keep the rules of a key, on real stores. Tests of a kind share the stores.
func TestRun_OfATransactionOrAChange(t *testing.T) {
	t.Parallel()
	for kind, changes := range map[string]bool{"transaction": false, "change": true} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for name, test := range map[string]func(*testing.T, *fixture){
				"runs once, and replays from cache or database":                    runsOnce,
				"a failed effect leaves the key free":                              failedEffect,
				"a refusal before the use case counts where the key holds nothing": prepare,
				"after the window the key is new":                                  afterTheWindow,
				"without a key it runs every time":                                 withoutAKey,
			} {
				b.changes, b.owner, b.last = changes, servicetest.NewID(), ""
				b.runs.Store(0)
				require.NoError(t, b.redis.FlushDB(t.Context()).Err())
				t.Run(name, func(t *testing.T) { test(t, b) })
			}
		})
	}
}

func runsOnce(t *testing.T, b *fixture) {
	first, err := b.run(t, request(t, b.owner, "1"), "a", nil)
	require.NoError(t, err)
	require.Equal(t, idempotent.Response{Code: 201, Body: []byte("a")}, first)
	require.Equal(t, idempotent.ResultExecuted, b.last)
	for range 2 {
		again, err := b.run(t, request(t, b.owner, "1.0"), "b", nil)
		require.NoError(t, err)
		require.Equal(t, idempotent.Response{Code: 201, Body: []byte("a"), Replayed: true}, again)
		require.Equal(t, idempotent.ResultReplayed, b.last)
		_, err = b.run(t, request(t, b.owner, "2"), "b", nil)
		require.ErrorIs(t, err, ports.ErrIdempotencyKeyReused)
		require.Equal(t, idempotent.ResultKeyReused, b.last)
		b.flush(t)
	}
	require.EqualValues(t, 1, b.runs.Load())
}

func failedEffect(t *testing.T, b *fixture) {
	broken := errors.New("broken")
	_, err := b.run(t, request(t, b.owner, "1"), "", broken)
	require.ErrorIs(t, err, broken)
	require.Equal(t, idempotent.ResultUseCaseRefused, b.last)
	_, err = b.run(t, request(t, b.owner, "2"), "a", nil)
	require.NoError(t, err)
}

func TestRun_Panic_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	j := request(t, b.owner, "1")
	j.Effect = func(context.Context) (idempotent.Response, error) { panic("at the disco") }
	require.Panics(t, func() { _, _ = b.Run(t.Context(), j) })
	_, err := b.run(t, request(t, b.owner, "1"), "a", nil)
	require.NoError(t, err)
}

func TestRun_WhileTheFirstRuns_TheSecondIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	inside, finish, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		j := request(t, b.owner, "1")
		j.Effect = func(context.Context) (idempotent.Response, error) {
			close(inside)
			<-finish
			return idempotent.Response{Code: 200, Body: []byte("a")}, nil
		}
		_, err := b.Run(t.Context(), j)
		done <- err
	}()
	<-inside
	for range 3 {
		_, err := b.run(t, request(t, b.owner, "1"), "b", nil)
		require.ErrorIs(t, err, ports.ErrIdempotencyKeyInUse)
	}
	close(finish)
	require.NoError(t, <-done)
	again, err := b.run(t, request(t, b.owner, "1"), "b", nil)
	require.NoError(t, err)
	require.Equal(t, "a", string(again.Body))
}

func prepare(t *testing.T, b *fixture) {
	shape := errors.New("amount: is required")
	_, err := b.refuse(t, "1", shape)
	require.ErrorIs(t, err, shape)
	_, err = b.run(t, request(t, b.owner, "1"), "a", nil)
	require.NoError(t, err)
	for range 2 {
		_, err = b.refuse(t, "2", shape)
		require.ErrorIs(t, err, ports.ErrIdempotencyKeyReused)
		again, err := b.refuse(t, "1", shape)
		require.NoError(t, err, "a stored response is replayed even if the rules have become stricter")
		require.True(t, again.Replayed)
		b.flush(t)
	}
}

func afterTheWindow(t *testing.T, b *fixture) {
	_, err := b.run(t, request(t, b.owner, "1"), "a", nil)
	require.NoError(t, err)
	b.awaitCached(t)
	later := request(t, b.owner, "2")
	later.Now = later.Now.Add(ports.IdempotencyWindow)
	got, err := b.run(t, later, "b", nil)
	require.NoError(t, err)
	require.Equal(t, idempotent.Response{Code: 201, Body: []byte("b")}, got)
}

func withoutAKey(t *testing.T, b *fixture) {
	for range 3 {
		j := request(t, b.owner, "1")
		j.Key = nil
		_, err := b.run(t, j, "a", nil)
		require.NoError(t, err)
	}
	require.EqualValues(t, 3, b.runs.Load())
	require.Empty(t, b.last, "only keyed requests are counted")
}

func TestRun_AChangeThatNeedsMore_RunsAsATransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, want := range []idempotent.Result{idempotent.ResultExecuted, idempotent.ResultReplayed} {
		r := request(t, b.owner, "1")
		r.Decide = func(ports.FoundRows) (ports.RowsToWrite, idempotent.Response, error) {
			return ports.RowsToWrite{}, idempotent.Response{}, ports.ErrNeedsMoreRows
		}
		got, err := b.run(t, r, "a", nil)
		require.NoError(t, err)
		require.Equal(t, "a", string(got.Body))
		require.Equal(t, want, b.last)
	}
	require.EqualValues(t, 1, b.runs.Load())
}
