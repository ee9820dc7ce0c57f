package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/money"
	"partnerdeposits/core/zone"
)

func TestEuros(t *testing.T) {
	for cents, want := range map[money.Cents][2]string{
		0: {"€0.00", "0,00 €"}, 7: {"€0.07", "0,07 €"}, 7000: {"€70.00", "70,00 €"}, 125_050: {"€1,250.50", "1 250,50 €"},
		123_456_789: {"€1,234,567.89", "1 234 567,89 €"},
	} {
		require.Equal(t, want[0], ui.Euros(ui.English, cents))
		require.Equal(t, want[1], spaced(ui.Euros(ui.French, cents)))
	}
}

// spaced replaces no-break spaces by spaces, which readers of the test can see.
func spaced(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

func TestDates_AreOfTheZoneThatATimeCarries(t *testing.T) {
	at := time.Date(2026, 7, 31, 23, 30, 0, 0, time.UTC)
	require.Equal(t, "31 Jul 2026, 23:30 UTC", spaced(ui.FormatDateTime(ui.English, at)))
	paris := at.In(zone.ByName("Europe/Paris"))
	require.Equal(t, "1 Aug 2026", spaced(ui.FormatDate(ui.English, paris)))
	require.Equal(t, "1er août 2026, 01:30 CEST", spaced(ui.FormatDateTime(ui.French, paris)))
	require.Equal(t, "1 August 2026", spaced(ui.FormatLongDate(ui.English, paris)))
	require.Equal(t, "1er août 2026", spaced(ui.FormatLongDate(ui.French, paris)))
	require.Equal(t, "1er août 2026", spaced(ui.FormatDate(ui.French, paris)))
	require.Equal(t, "2 décembre 2026", spaced(ui.FormatLongDate(ui.French, paris.AddDate(0, 4, 1))))
	require.Equal(t, "août", ui.FormatShortMonth(ui.French, paris))
	require.Equal(t, "August 2026", spaced(ui.FormatMonthYear(ui.English, paris)))
}
