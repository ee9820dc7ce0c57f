package migrations_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/expand"
)

// TestMigrations_LetTheLastReleaseServeOn: docs/guides/migrations.md tells the rule and the ways around each refusal.
func TestMigrations_LetTheLastReleaseServeOn(t *testing.T) {
	t.Parallel()
	folder := os.DirFS(".")
	releases, err := expand.Releases(folder)
	require.NoError(t, err)
	released := releases[len(releases)-1].Migrated
	changed, err := expand.Frozen(folder, released)
	require.NoError(t, err)
	all, err := expand.Migrations(folder)
	require.NoError(t, err)
	require.Greater(t, len(all), 50, "the migrations are found")
	var known []string
	for _, r := range releases {
		known = append(known, r.Name)
	}
	for _, problem := range append(changed, expand.Check(all, released, known)...) {
		t.Error(problem)
	}
}
