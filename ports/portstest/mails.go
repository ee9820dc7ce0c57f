package portstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func (w *world) enqueue(at time.Time) ports.Mail {
	w.t.Helper()
	m := ports.Mail{ID: NewID(), To: "ann@rentals.example", Subject: "Unlinked", Body: "Hello.\n", CreatedAt: at}
	w.do(func(ctx context.Context, r ports.Repositories) error { return r.Mails.Enqueue(ctx, m) })
	return m
}

var mailsSuite = map[string]func(*testing.T, *world){
	"Mails_Claim_GivesDueOnesOldestFirstAndEachOnce": func(t *testing.T, w *world) {
		older, newer := w.enqueue(at0), w.enqueue(at0.Add(time.Second))
		w.enqueue(time.Now().Add(time.Hour)) // a mail that is not due yet
		got, err := w.Claim(t.Context(), 10, time.Hour)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff([]ports.Mail{older, newer}, got))
		got, err = w.Claim(t.Context(), 10, time.Hour)
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"Mails_Claim_ManyAtOnce_ShareThem": func(t *testing.T, w *world) {
		for range 20 {
			w.enqueue(at0)
		}
		var mu sync.Mutex
		seen := map[id.ID]int{}
		w.race(func(int) error {
			got, err := w.Claim(t.Context(), 3, time.Hour)
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
	},
	"Mails_LeaseOver_IsGivenAgain": func(t *testing.T, w *world) {
		m := w.enqueue(at0)
		for range 2 {
			got, err := w.Claim(t.Context(), 1, 0)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff([]ports.Mail{m}, got))
		}
	},
	"Mails_Sent_IsNotGivenAgain": func(t *testing.T, w *world) {
		m := w.enqueue(at0)
		_, err := w.Claim(t.Context(), 1, 0)
		require.NoError(t, err)
		require.NoError(t, w.Sent(t.Context(), m.ID))
		got, err := w.Claim(t.Context(), 1, 0)
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"Mails_Failed_WaitsBeforeTheNextTry": func(t *testing.T, w *world) {
		m := w.enqueue(at0)
		_, err := w.Claim(t.Context(), 1, 0)
		require.NoError(t, err)
		require.NoError(t, w.Failed(t.Context(), m.ID, []time.Duration{time.Minute}))
		got, err := w.Claim(t.Context(), 1, 0)
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"Audit_Append_IsAccepted": func(_ *testing.T, w *world) {
		w.do(func(ctx context.Context, r ports.Repositories) error {
			for _, detail := range []map[string]string{nil, {"reason": "duplicate"}} {
				if err := r.Audit.Append(ctx, ports.AuditEntry{ID: NewID(), At: at0, Actor: "admin", Action: "link.revoke", Subject: "acct_1", Detail: detail}); err != nil {
					return err
				}
			}
			return nil
		})
	},
}
