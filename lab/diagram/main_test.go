package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

func TestFill_ThePageHoldsTheDiagramOfTheTransitionTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/deposit.md")
	require.NoError(t, err)
	filled, err := fill(string(page))
	require.NoError(t, err)
	require.Equal(t, filled, string(page), "run `make generate`")
	for _, status := range deposit.Statuses {
		_, row, found := strings.Cut(string(page), "| `"+string(status)+"` |")
		require.True(t, found, "the page does not explain %s", status)
		row, _, _ = strings.Cut(row, "\n")
		require.True(t, status == deposit.Pending || strings.HasSuffix(row, "| `"+string(status.EventName())+"` |"),
			"the event of %s: %s", status, row)
	}
	for _, trigger := range deposit.Triggers {
		require.Contains(t, string(page), "| `"+string(trigger)+"` |", "the page explains every trigger")
	}
}

func TestFill_WithoutMarkers_Fails(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "text\n", begin, end, end + begin} {
		_, err := fill(page)
		require.ErrorIs(t, err, errNoMarkers, page)
	}
}
