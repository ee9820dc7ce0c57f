package zone_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/zone"
)

func TestNames_AreZones(t *testing.T) {
	t.Parallel()
	require.Equal(t, "UTC", zone.Names[0])
	require.Greater(t, len(zone.Names), 400)
	for _, name := range zone.Names {
		require.Equal(t, name, zone.ByName(name).String())
		require.True(t, zone.IsKnownName(name))
	}
	for _, name := range []string{"", "Local", "local", "utc", "Mars/Olympus", "../UTC", "Europe/paris",
		"Europe/Paris "} {
		require.False(t, zone.IsKnownName(name), name)
		require.Equal(t, time.UTC, zone.ByName(name), name)
	}
}

// Where the clocks change at midnight a day has no 00:00, or two: Cairo and Beirut skip one, Havana repeats one.
func TestDay_BeginsWhereTheDayBeforeEnds(t *testing.T) {
	t.Parallel()
	for _, name := range zone.Names {
		in := zone.ByName(name)
		first, ok := zone.ParseDay("2026-01-01", in)
		require.True(t, ok)
		for first.Year() < 2028 {
			require.Equal(t, first.Format(time.DateOnly), first.Add(time.Hour).Format(time.DateOnly), name)
			require.NotEqual(t, first.Format(time.DateOnly), first.Add(-time.Nanosecond).Format(time.DateOnly), name)
			next := zone.NextDay(first)
			require.Equal(t, first.Format(time.DateOnly), next.Add(-time.Nanosecond).Format(time.DateOnly), name)
			read, ok := zone.ParseDay(next.Format(time.DateOnly), in)
			require.True(t, ok)
			require.True(t, read.Equal(next), "%s: %s", name, next)
			first = next
		}
	}
}

func TestDay_FirstMoment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"UTC": "2027-07-04T00:00:00Z", "Europe/Paris": "2027-07-03T22:00:00Z",
		"America/New_York":   "2027-07-04T04:00:00Z",
		"Pacific/Kiritimati": "2027-07-03T10:00:00Z", "Asia/Kathmandu": "2027-07-03T18:15:00Z",
	} {
		at, ok := zone.ParseDay("2027-07-04", zone.ByName(name))
		require.True(t, ok)
		require.Equal(t, want, at.UTC().Format(time.RFC3339), name)
	}
	cairo, ok := zone.ParseDay("2026-04-24", zone.ByName("Africa/Cairo")) // 00:00 does not exist
	require.True(t, ok)
	require.Equal(t, "2026-04-24T01:00:00+03:00", cairo.Format(time.RFC3339))
	havana, ok := zone.ParseDay("2026-11-01", zone.ByName("America/Havana")) // 00:00 exists twice
	require.True(t, ok)
	require.Equal(t, "2026-11-01T00:00:00-04:00", havana.Format(time.RFC3339))
	early, ok := zone.ParseDay("0002-01-01", time.UTC)
	require.True(t, ok)
	require.Equal(t, 2, early.Year())
	for _, text := range []string{"", "2027-7-4", "2027-02-30", "0001-01-01", "2027-07-04T00:00:00Z", "x"} {
		_, ok := zone.ParseDay(text, time.UTC)
		require.False(t, ok, text)
	}
}

func TestMinute_NamesTheZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 1, 12, 5, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"UTC": "12:05 UTC", "Europe/Paris": "14:05 CEST", "Asia/Kathmandu": "17:50 UTC+05:45",
		"America/Sao_Paulo": "09:05 UTC-03:00",
	} {
		require.Equal(t, want, zone.FormatTime(at.In(zone.ByName(name))), name)
	}
	local := at.In(time.Local) //nolint:gosmopolitan // that is the test
	require.Equal(t, "12:05 UTC", zone.FormatTime(local), "the zone of the machine is no reader's")
}
