//go:build !unit

package idempotent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
)

func TestRestore_Finish_BeginsAnEpochAndKeepsAnAuditEntry(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	one, err := kit.Restore.Finish(t.Context())
	require.NoError(t, err)
	other, err := kit.Restore.Finish(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, one, other)

	var epoch id.ID
	require.NoError(t, kit.Pool.QueryRow(t.Context(), `SELECT epoch FROM restore_epoch`).Scan(&epoch))
	require.Equal(t, other, epoch)
	var entries int
	require.NoError(t, kit.Pool.QueryRow(t.Context(),
		`SELECT count(*) FROM audit_log WHERE actor = 'admin' AND action = 'restore.finish'`).Scan(&entries))
	require.Equal(t, 2, entries)
}
