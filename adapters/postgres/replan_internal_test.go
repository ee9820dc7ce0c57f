package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizeClass_GrowsEightfold(t *testing.T) {
	t.Parallel()
	for live, want := range map[int64]int{-1: 0, 0: 0, 1: 1, 7: 1, 8: 2, 63: 2, 64: 3, 1 << 20: 7, 1 << 40: 7} {
		require.Equal(t, want, sizeClass(live), live)
	}
}
