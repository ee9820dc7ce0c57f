package passwords_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/core/fault"
	accountports "partnerdeposits/ports/accounts"
)

var _ accountports.PasswordHasher = (*passwords.Argon2id)(nil)

var anybody accountports.PasswordCaller

func newHasher(t *testing.T) *passwords.Argon2id {
	t.Helper()
	p, err := passwords.New()
	require.NoError(t, err)
	return p
}

func TestHash_MatchesItsPasswordAndNoOther(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	hash, err := p.Hash(t.Context(), "correct horse", anybody)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	again, err := p.Hash(t.Context(), "correct horse", anybody)
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "each hash has its own salt")
	for password, want := range map[string]bool{"correct horse": true, "correct horse ": false, "": false,
		"correct\x00horse": false} {
		got, err := p.Matches(t.Context(), password, hash, anybody)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", password)
	}
}

func TestMatches_WithoutAHash_IsFalseWhateverThePassword(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	for _, password := range []string{"", "anything", "nobody has this password"} {
		got, err := p.Matches(t.Context(), password, "", anybody)
		require.NoError(t, err)
		require.False(t, got)
	}
}

func TestMatches_BrokenHash_IsAnErrorAndNotAMatch(t *testing.T) {
	t.Parallel()
	got, err := newHasher(t).Matches(t.Context(), "x", "not a hash", anybody)
	require.Error(t, err)
	require.False(t, got)
}

func TestHash_WhoseContextHasEnded_IsUnavailable(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Hash(ctx, "x", anybody)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	_, err = p.Matches(ctx, "x", "", anybody)
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestHash_InABurst_WaitsItsTurnOrGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	done, gaveUp := burst(ctx, p)
	require.Positive(t, gaveUp)
	require.Equal(t, 60, done+gaveUp)
}

func TestHash_InABurst_IsUnavailableOnceItsPatienceEnds(t *testing.T) {
	t.Parallel()
	p, err := passwords.New(passwords.WithMaxHashWait(100 * time.Millisecond))
	require.NoError(t, err)
	done, gaveUp := burst(t.Context(), p)
	require.Positive(t, gaveUp)
	require.Equal(t, 60, done+gaveUp)
}

// burst hashes sixty passwords at once: 60 × 50 ms take far longer than the tests let them.
func burst(ctx context.Context, p *passwords.Argon2id) (done, gaveUp int) {
	var ok, refused atomic.Int32
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			switch _, err := p.Hash(ctx, "x", anybody); {
			case err == nil:
				ok.Add(1)
			case errors.Is(err, fault.ErrUnavailable):
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	return int(ok.Load()), int(refused.Load())
}

// The test changes GOMAXPROCS, so it does not run in parallel.
func TestParallel_IsHalfTheProcessorsAndAtLeastOne(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 7: 3, 8: 4} {
		runtime.GOMAXPROCS(processors)
		require.Equal(t, want, passwords.MaxParallelHashes(), processors)
		require.Equal(t, want, passwords.Slots(newHasher(t)), processors)
	}
}

// Sixty strangers for each slot, each from a network of its own, are patient. The operator comes when most of them wait
// already.
func TestHash_OfAKnownNetwork_IsNotHeldUpByABurst(t *testing.T) {
	t.Parallel()
	p, err := passwords.New(passwords.WithMaxHashWait(time.Hour))
	require.NoError(t, err)
	slots := passwords.Slots(p)
	ctx, cancel := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	for i := range 60 * slots {
		strangers.Go(func() { _, _ = p.Hash(ctx, "x", accountports.PasswordCaller{Network: strconv.Itoa(i)}) })
	}
	require.Eventually(t, func() bool { return passwords.Waiting(p) >= 40*slots }, time.Minute, time.Millisecond)
	_, err = p.Hash(t.Context(), "x", accountports.PasswordCaller{Network: "office", Known: true})
	require.NoError(t, err)
	require.Greater(t, passwords.Waiting(p), 20*slots, "strangers wait on")
	cancel()
	strangers.Wait()
}
