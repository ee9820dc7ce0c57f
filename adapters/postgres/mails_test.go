package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
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

func TestMails_Claim_GivesDueOnesOldestFirst_AgainAfterTheirLease_UntilTheyAreSent(t *testing.T) {
	t.Parallel()
	w := alone(t)
	older, newer := w.enqueue(at0), w.enqueue(at0.Add(time.Second))
	w.enqueue(time.Now().Add(time.Hour)) // a mail that is not due yet
	claimed := func(lease time.Duration) []ports.Mail {
		got, err := w.Mails.ClaimDue(t.Context(), 10, lease)
		require.NoError(t, err)
		return got
	}
	require.Empty(t, cmp.Diff(first(older, newer), claimed(0)))
	require.NoError(t, w.Mails.MarkSent(t.Context(), older.ID))
	newer.Attempt = 2
	require.Empty(t, cmp.Diff([]ports.Mail{newer}, claimed(time.Hour)), "the lease of the other is over")
	require.Empty(t, claimed(time.Hour), "each once")
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
		got, err := w.Mails.ClaimDue(t.Context(), 3, time.Hour)
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

func TestMails_Failed_OfAnEarlierClaim_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.enqueue(at0)
	stale, err := w.Mails.ClaimDue(t.Context(), 1, 0)
	require.NoError(t, err)
	current, err := w.Mails.ClaimDue(t.Context(), 1, 0)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, []int{stale[0].Attempt, current[0].Attempt})
	require.NoError(t, w.Mails.MarkFailed(t.Context(), stale[0], nil), "which would give the mail up")
	got, err := w.Mails.ClaimDue(t.Context(), 1, 0)
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
		got, err := r.Mails.CheckoutLinkMails(ctx, older.LinkOf, at0.Add(-time.Second), 10)
		require.Equal(t, []deposit.LinkMail{{Address: older.To, At: at0}, {Address: newer.To, At: newer.CreatedAt}}, got)
		if err != nil {
			return err
		}
		got, err = r.Mails.CheckoutLinkMails(ctx, older.LinkOf, at0, 10)
		require.Len(t, got, 1, "since at0")
		if err != nil {
			return err
		}
		got, err = r.Mails.CheckoutLinkMails(ctx, older.LinkOf, at0.Add(-time.Second), 1)
		require.Len(t, got, 1, "a page of 1")
		return err
	})
	claimed, err := w.Mails.ClaimDue(t.Context(), 10, time.Hour)
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

func TestMails_AreTriedSixTimesThenGivenUp(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	m := ports.Mail{ID: portstest.NewID(), To: "a@b.example", Subject: "s", Body: "b", CreatedAt: time.Now()}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Mails.Enqueue(ctx, m)
	})
	waits := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}
	for _, wait := range append(slices.Clone(waits), 0) {
		exec(t, pool, `UPDATE mails SET due_at = now()`)
		claimed, err := store.Mails.ClaimDue(t.Context(), 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.NoError(t, store.Mails.MarkFailed(t.Context(), claimed[0], waits))
		if wait > 0 {
			var due time.Duration
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT due_at - now() FROM mails WHERE failed_at IS NULL`).Scan(&due))
			require.InDelta(t, wait.Seconds(), due.Seconds(), 5)
		}
	}
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM mails WHERE failed_at IS NOT NULL`))
	exec(t, pool, `UPDATE mails SET due_at = now()`)
	claimed, err := store.Mails.ClaimDue(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Empty(t, claimed)
}
