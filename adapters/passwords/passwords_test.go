package passwords_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

var _ ports.Passwords = (*passwords.Argon2id)(nil)

func newHasher(t *testing.T) *passwords.Argon2id {
	t.Helper()
	p, err := passwords.New()
	require.NoError(t, err)
	return p
}

func TestHash_MatchesItsPasswordAndNoOther(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	hash, err := p.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	again, err := p.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "each hash has its own salt")
	for password, want := range map[string]bool{"correct horse": true, "correct horse ": false, "": false, "correct\x00horse": false} {
		got, err := p.Matches(t.Context(), password, hash)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", password)
	}
}

func TestMatches_WithoutAHash_IsFalseWhateverThePassword(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	for _, password := range []string{"", "anything", "nobody has this password"} {
		got, err := p.Matches(t.Context(), password, "")
		require.NoError(t, err)
		require.False(t, got)
	}
}

func TestMatches_BrokenHash_IsAnErrorAndNotAMatch(t *testing.T) {
	t.Parallel()
	got, err := newHasher(t).Matches(t.Context(), "x", "not a hash")
	require.Error(t, err)
	require.False(t, got)
}

func TestHash_WhoseContextHasEnded_IsUnavailable(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Hash(ctx, "x")
	require.ErrorIs(t, err, fault.ErrUnavailable)
	_, err = p.Matches(ctx, "x", "")
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestHash_InABurst_WaitsItsTurnOrGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	p := newHasher(t)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	var done, gaveUp atomic.Int32
	var wg sync.WaitGroup
	for range 60 { // 60 × 50 ms on two places take ten times the deadline
		wg.Go(func() {
			if _, err := p.Hash(ctx, "x"); err != nil {
				gaveUp.Add(1)
				return
			}
			done.Add(1)
		})
	}
	wg.Wait()
	require.Positive(t, gaveUp.Load())
	require.Equal(t, int32(60), done.Load()+gaveUp.Load())
}
