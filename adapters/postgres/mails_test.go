package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	ports "partnerdeposits/ports/platform"
)

func (w *pooledStore) enqueue(at time.Time) ports.Mail {
	w.t.Helper()
	m := ports.Mail{ID: portstest.NewID(), To: "ann@rentals.example", Subject: "Unlinked", Body: "Hello.\n", CreatedAt: at}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Mails.Enqueue(ctx, m) })
	return m
}

func (w *pooledStore) linkMail(depositID id.ID, at time.Time) ports.Mail {
	w.t.Helper()
	m := ports.Mail{ID: portstest.NewID(), To: "tenant@rentals.example", Subject: "Link",
		Body: "https://x.example/checkout/a\n", HTML: "<p>é</p>", CreatedAt: at, LinkOf: depositID}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Mails.Enqueue(ctx, m) })
	return m
}

// first gives mails as their first claim does.
func first(mails ...ports.Mail) []ports.Mail {
	for i := range mails {
		mails[i].Attempt = 1
	}
	return mails
}

func TestMails_Claim_GivesDueOnesOldestFirstAndEachOnce(t *testing.T) {
	t.Parallel()
	w := alone(t)
	older, newer := w.enqueue(at0), w.enqueue(at0.Add(time.Second))
	w.enqueue(time.Now().Add(time.Hour)) // a mail that is not due yet
	got, err := w.Mails.Claim(t.Context(), 10, time.Hour)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(first(older, newer), got))
	got, err = w.Mails.Claim(t.Context(), 10, time.Hour)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestMails_Claim_ManyAtOnce_ShareThem(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for range 20 {
		w.enqueue(at0)
	}
	var mu sync.Mutex
	seen := map[id.ID]int{}
	w.race(func(int) error {
		got, err := w.Mails.Claim(t.Context(), 3, time.Hour)
		mu.Lock()
		defer mu.Unlock()
		for _, m := range got {
			seen[m.ID]++
		}
		return err
	})
	require.Len(t, seen, 20)
	for _, n := range seen {
		require.Equal(t, 1, n)
	}
}

func TestMails_LeaseOver_IsGivenAgain(t *testing.T) {
	t.Parallel()
	w := alone(t)
	m := w.enqueue(at0)
	for attempt := range 2 {
		got, err := w.Mails.Claim(t.Context(), 1, 0)
		require.NoError(t, err)
		m.Attempt = attempt + 1
		require.Empty(t, cmp.Diff([]ports.Mail{m}, got))
	}
}

func TestMails_Sent_IsNotGivenAgain(t *testing.T) {
	t.Parallel()
	w := alone(t)
	m := w.enqueue(at0)
	_, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.NoError(t, w.Mails.Sent(t.Context(), m.ID))
	got, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestMails_Failed_WaitsBeforeTheNextTry(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.enqueue(at0)
	claimed, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.NoError(t, w.Mails.Failed(t.Context(), claimed[0], []time.Duration{time.Minute}))
	got, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestMails_Failed_OfAnEarlierClaim_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.enqueue(at0)
	stale, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	current, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, []int{stale[0].Attempt, current[0].Attempt})
	require.NoError(t, w.Mails.Failed(t.Context(), stale[0], nil), "which would give the mail up")
	got, err := w.Mails.Claim(t.Context(), 1, 0)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestMails_WithALink_ComeBackWhole_AndAreListedByTheirDeposit(t *testing.T) {
	t.Parallel()
	w := alone(t)
	older := w.linkMail(portstest.NewID(), at0)
	newer := w.linkMail(older.LinkOf, at0.Add(time.Second))
	w.linkMail(portstest.NewID(), at0)
	w.enqueue(at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		got, err := r.Mails.LinkMails(ctx, older.LinkOf, at0.Add(-time.Second), 10)
		require.Equal(t, []deposit.LinkMail{{Address: older.To, At: at0}, {Address: newer.To, At: newer.CreatedAt}}, got)
		if err != nil {
			return err
		}
		got, err = r.Mails.LinkMails(ctx, older.LinkOf, at0, 10)
		require.Len(t, got, 1, "since at0")
		if err != nil {
			return err
		}
		got, err = r.Mails.LinkMails(ctx, older.LinkOf, at0.Add(-time.Second), 1)
		require.Len(t, got, 1, "a page of 1")
		return err
	})
	claimed, err := w.Mails.Claim(t.Context(), 10, time.Hour)
	require.NoError(t, err)
	require.Len(t, claimed, 4)
	for _, m := range claimed {
		if m.ID == newer.ID {
			newer.Attempt = 1
			require.Empty(t, cmp.Diff(newer, m))
			return
		}
	}
	t.Fatal("the mail was not claimed")
}
