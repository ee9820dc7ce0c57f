package parallel_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/parallel"
)

func TestEach_ReportsEveryItemOnce_PanicsIncluded(t *testing.T) {
	failed := errors.New("failed")
	results := map[int]string{}
	items := make([]int, 30)
	for i := range items {
		items[i] = i
	}
	parallel.Each(items, func(i int) (bool, error) {
		switch i % 3 {
		case 0:
			return false, failed
		case 1:
			panic("poisoned")
		default:
			return true, nil
		}
	}, func(i int, done bool, err error) {
		require.Equal(t, i%3 == 2, done)
		require.NotContains(t, results, i)
		results[i] = ""
		if err != nil {
			results[i] = err.Error()
		}
	})
	require.Len(t, results, 30)
	require.Equal(t, []string{"failed", "panic: poisoned", ""}, []string{results[0], results[1], results[2]})
}

func TestEach_RunsSeveralItemsAtOnce(t *testing.T) {
	met := make(chan struct{})
	parallel.Each([]bool{true, false}, func(sends bool) (bool, error) {
		if sends {
			met <- struct{}{}
		} else {
			<-met
		}
		return true, nil
	}, func(_ bool, done bool, err error) {
		require.NoError(t, err)
		require.True(t, done)
	})
}
