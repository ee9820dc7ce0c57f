//go:build !unit

package support_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

func TestAudit_OfTheClock_HasEntriesOfEarlierVersionsByEitherName(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	now := kit.Clock.Now()
	_, err := kit.Pool.Exec(t.Context(), `INSERT INTO audit_log (id, at, actor, action, subject, detail)
		VALUES (gen_random_uuid(), $1, 'dispatcher', 'payment.dispute', 'dep_1', '{}')`, now.Add(-time.Hour))
	require.NoError(t, err)
	for _, by := range []actor.Actor{actor.Clock, actor.Staff} {
		kit.Write(func(ctx context.Context, r *postgres.Store) error {
			return r.Audit.Append(ctx, audit.Entry(system.Entropy{}, now, by, audit.PaymentOrphaned, "dep_2", nil))
		})
	}
	require.Equal(t, 1, kit.Count("audit_log", "actor = 'scheduler'"), "the text of a new entry")

	for _, name := range []string{"scheduler", "dispatcher"} {
		found, err := kit.Build().Support.Audit(t.Context(), name)
		require.NoError(t, err)
		require.Len(t, found, 2, name)
		require.Equal(t, []string{"dep_2", "dep_1"}, []string{found[0].Subject, found[1].Subject}, "the newest first")
		require.Equal(t, []actor.Actor{actor.Clock, actor.Clock}, []actor.Actor{found[0].Actor, found[1].Actor})
	}
}
