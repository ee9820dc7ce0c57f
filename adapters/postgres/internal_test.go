package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Query reads a row with a connection of the store.
func (s *Store) Query(ctx context.Context, sql string, into ...any) error {
	return s.base.DB.QueryRow(ctx, sql).Scan(into...)
}

func TestSizeClass_GrowsEightfold(t *testing.T) {
	t.Parallel()
	for live, want := range map[int64]int{-1: 0, 0: 0, 1: 1, 7: 1, 8: 2, 63: 2, 64: 3, 1 << 20: 7, 1 << 40: 7} {
		require.Equal(t, want, sizeClass(live), live)
	}
}
