package backing

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAwaitStandby_CountsCommitsThatThePrimaryHasNotWritten(t *testing.T) {
	t.Parallel()
	pair, err := StartPostgresPair(t.Context(), Options{FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pair.Close()) })
	execute(t, pair.Primary, "CREATE TABLE made (n int)")
	for n := range 20 {
		execute(t, pair.Primary, fmt.Sprintf("INSERT INTO made VALUES (%d)", n))
		require.NoError(t, pair.AwaitReplication(t.Context()))
		require.Equal(t, int64(n+1), query[int64](t, pair.Standby, "SELECT count(*) FROM made"))
	}
}
