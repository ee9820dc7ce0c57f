// Package zone holds the time zones in which accounts count their days. A time is shown in the zone that it carries.
package zone

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // The time zone database is embedded, since a machine may have none.
)

// names is the content of names.txt: UTC and the zones of places in the IANA database (its zone.tab).
//
//go:embed names.txt
var names string

// Names lists the time zones that an account can have, UTC first.
var Names = strings.Fields(names)

// IsKnownName reports whether a name is that of a time zone that an account can have.
func IsKnownName(name string) bool { return slices.Contains(Names, name) }

var loaded sync.Map

// ByName returns the time zone of a name; UTC for an unknown one.
func ByName(name string) *time.Location {
	if found, ok := loaded.Load(name); ok {
		return found.(*time.Location)
	}
	if !IsKnownName(name) {
		return time.UTC
	}
	found, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	loaded.Store(name, found)
	return found
}

// InDisplayZone returns a time in the zone that it carries, or in UTC if that is the machine's local zone.
func InDisplayZone(t time.Time) time.Time {
	if t.Location() == time.Local {
		return t.UTC()
	}
	return t
}

// FormatTime formats hour, minute and zone: "14:05 CEST", or "14:05 UTC+05:45" for a zone without a name.
func FormatTime(t time.Time) string {
	t = InDisplayZone(t)
	if name, _ := t.Zone(); strings.ContainsAny(name, "+-") {
		return t.Format("15:04 UTC-07:00")
	}
	return t.Format("15:04 MST")
}

// ParseDay returns the first moment of an ISO date in a time zone. ok is false for another text.
func ParseDay(text string, in *time.Location) (first time.Time, ok bool) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 2 {
		return time.Time{}, false
	}
	return midnight(at, in), true
}

// NextDay returns the first moment of the day after t, in the time zone of t.
func NextDay(t time.Time) time.Time {
	return midnight(time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC), t.Location())
}

// midnight returns the first moment of a day in a time zone. Where clocks change at midnight, a day has no 00:00,
// or two.
func midnight(date time.Time, in *time.Location) time.Time {
	first := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, in)
	// The clocks go forward at midnight, so the day begins with that change.
	if first.Day() != date.Day() {
		_, first = first.ZoneBounds()
		return first
	}
	began, _ := first.ZoneBounds()
	_, was := began.Add(-1).Zone()
	_, is := first.Zone()
	earlier := first.Add(time.Duration(is-was) * time.Second)
	// The clocks go back after midnight and repeat the day's beginning; the earlier 00:00 counts.
	if earlier.Before(first) && earlier.Day() == first.Day() {
		return earlier
	}
	return first
}
