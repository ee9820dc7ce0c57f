package timers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

var errPoisoned = errors.New("poisoned")

// work is a list of due deposits. A deposit that moves leaves the list; a poisoned deposit never moves.
type work struct {
	mu     sync.Mutex
	due    []id.ID
	limits []int // of each look
}

const poison = 0xff // the first byte of the id of a poisoned deposit

func (w *work) add(n int, kind byte) {
	for range n {
		each := id.ID{kind}
		binary.BigEndian.PutUint32(each[1:], uint32(len(w.due)+1))
		w.due = append(w.due, each)
	}
}

func (w *work) find(_ context.Context, limit int) ([]id.ID, error) {
	w.limits = append(w.limits, limit)
	return slices.Clone(w.due[:min(limit, len(w.due))]), nil
}

func (w *work) move(_ context.Context, depositID id.ID) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if depositID[0] == poison {
		return false, errPoisoned
	}
	w.due = slices.DeleteFunc(w.due, func(each id.ID) bool { return each == depositID })
	return true, nil
}

func TestTimer_MovesAllThatIsDue_AndHidesNothingBehindTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		poisoned, fine int
		limits         []int
		next           int // limit of the next run's first look
	}{
		"nothing due":               {0, 0, []int{200}, 200},
		"a part of a batch":         {0, 7, []int{200}, 200},
		"a batch":                   {0, 200, []int{200, 200}, 200},
		"several batches":           {0, 450, []int{200, 200, 200}, 200},
		"trouble in the first":      {3, 7, []int{200}, 203},
		"trouble that fills a look": {450, 1, []int{200, 400, 600}, 650},
		"trouble, then batches":     {200, 350, []int{200, 400, 400}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w, timer := &work{}, &timer{name: "expire checkout"}
			w.add(c.poisoned, poison)
			w.add(c.fine, 1)
			moved, err := timer.run(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), w.find, w.move)
			require.NoError(t, err)
			require.Equal(t, c.fine, moved)
			require.Equal(t, c.limits, w.limits)
			require.Len(t, w.due, c.poisoned)
			require.Equal(t, c.poisoned, bytes.Count(log.Bytes(), []byte("expire checkout failed")), "each failure is told once")
			for _, stays := range w.due {
				require.Contains(t, log.String(), id.Deposit.Of(stays))
			}

			w.limits = nil
			_, err = timer.run(t.Context(), slog.New(slog.DiscardHandler), w.find, w.move)
			require.NoError(t, err)
			require.Equal(t, c.next, w.limits[0])
		})
	}
}

func TestTimer_WithoutTheDatabase_SaysSoAndCountsTheWorkDone(t *testing.T) {
	t.Parallel()
	w, looks := &work{}, 0
	w.add(300, 1)
	moved, err := (&timer{name: "close elapsed"}).run(t.Context(), slog.New(slog.DiscardHandler),
		func(ctx context.Context, limit int) ([]id.ID, error) {
			if looks++; looks == 2 {
				return nil, fault.ErrUnavailable
			}
			return w.find(ctx, limit)
		}, w.move)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "close elapsed: ")
	require.Equal(t, 200, moved)
}

func TestTimer_ThatIsStopped_LooksNoMore(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	w := &work{}
	w.add(300, 1)
	moved, err := (&timer{}).run(ctx, slog.New(slog.DiscardHandler), w.find,
		func(ctx context.Context, depositID id.ID) (bool, error) {
			stop()
			return w.move(ctx, depositID)
		})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 200, moved)
	require.Len(t, w.limits, 1)
}

func TestExpired_OfACheckoutThatHadEnded_IsNoFailure(t *testing.T) {
	t.Parallel()
	for answer, want := range map[error]struct {
		cancelled bool
		failure   error
	}{
		nil: {true, nil}, deposit.ErrNotCancellable: {false, nil}, deposit.ErrNotSecurable: {false, nil},
		fault.ErrUnavailable: {false, fault.ErrUnavailable},
	} {
		cancelled, failure := expired(answer)
		require.Equal(t, want.cancelled, cancelled, "%v", answer)
		require.ErrorIs(t, failure, want.failure)
	}
}
