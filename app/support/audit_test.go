//go:build !unit

package support_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/support"
	"partnerdeposits/core/actor"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

func TestAudit_OfTheClock_HasEntriesOfEarlierVersionsByEitherName(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	now := kit.Clock.Now()
	_, err := kit.Pool.Exec(t.Context(), `INSERT INTO audit_log (id, at, actor, action, subject, detail)
		VALUES (gen_random_uuid(), $1, 'dispatcher', 'payment.dispute', 'dep_1', '{}')`, now.Add(-time.Hour))
	require.NoError(t, err)
	for _, by := range []actor.Actor{actor.Clock, actor.Staff} {
		kit.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
			return r.Audit.Append(ctx, audit.NewEntry(system.Entropy{}, now, by, audit.PaymentOrphaned, "dep_2", nil))
		})
	}
	require.Equal(t, 1, kit.Count("audit_log", "actor = 'scheduler'"), "the text of a new entry")

	for _, name := range []string{"scheduler", "dispatcher"} {
		found, err := kit.BuildServices().Support.FindAuditEntries(t.Context(), name)
		require.NoError(t, err)
		require.Len(t, found, 2, name)
		require.Equal(t, []string{"dep_2", "dep_1"}, []string{found[0].Subject, found[1].Subject}, "the newest first")
		require.Equal(t, []actor.Actor{actor.Clock, actor.Clock}, []actor.Actor{found[0].Actor, found[1].Actor})
	}
}

// Ten entries have the same time at the border of two pages: none is left out, and none comes twice.
func TestExportAudit_OverSeveralPages_HasEachEntryOnceInOrder(t *testing.T) {
	t.Parallel()
	const entries = 2*support.ExportPageSize + 7
	kit := servicetest.New(t)
	from := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	_, err := kit.Pool.Exec(t.Context(), `INSERT INTO audit_log (id, at, actor, action, subject)
		SELECT gen_random_uuid(), $1::timestamptz + i / 10 * interval '1 second', 'admin', 'test', 'dep_' || i
		FROM generate_series(0, $2::int - 1) i`, from, entries)
	require.NoError(t, err)
	end := from.Add(entries / 10 * time.Second) // the time of the last seven, which do not count
	var found []ports.AuditEntry
	var pages []int
	each := func(page []ports.AuditEntry) error {
		found, pages = append(found, page...), append(pages, len(page))
		return nil
	}
	exported := kit.BuildServices().Support
	require.NoError(t, exported.ExportAuditLog(t.Context(), from, end, each))
	require.Equal(t, []int{support.ExportPageSize, support.ExportPageSize}, pages)
	seen := map[string]bool{}
	for i, e := range found {
		seen[e.Subject] = true
		require.True(t, i == 0 || !e.At.Before(found[i-1].At))
	}
	require.Len(t, seen, 2*support.ExportPageSize)

	found, pages = nil, nil
	require.NoError(t, exported.ExportAuditLog(t.Context(), from.Add(5*time.Second), end.Add(time.Second), each))
	require.Len(t, found, entries-50)
	require.Equal(t, []int{support.ExportPageSize, entries - 50 - support.ExportPageSize}, pages)
	failing := func([]ports.AuditEntry) error { return io.EOF }
	require.ErrorIs(t, exported.ExportAuditLog(t.Context(), from, end, failing), io.EOF)
}
