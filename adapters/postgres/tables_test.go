package postgres_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/storetest"
)

// A table that New of its module leaves out compiles, and panics at its first use.
func TestTables_AreFilledByNew(t *testing.T) {
	t.Parallel()
	store, _ := storetest.New(t, postgres.Options{})
	checked := 0
	modules := reflect.ValueOf(store).Elem()
	for i := range modules.NumField() {
		tables := modules.Field(i)
		if tables.Type().Name() != "Tables" {
			continue
		}
		for k := range tables.NumField() {
			checked++
			name := tables.Type().PkgPath() + ": Tables." + tables.Type().Field(k).Name
			require.False(t, tables.Field(k).IsZero(), "New leaves out %s", name)
		}
	}
	require.Greater(t, checked, 25)
}
