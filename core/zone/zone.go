// Package zone holds the time zones in which accounts count their days. A time is shown in the zone that it carries.
package zone

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a machine may have no zone data
)

// names.txt has UTC, and the zones of places in the IANA database (its zone.tab).
//
//go:embed names.txt
var names string

// Names lists the time zones that an account can have, UTC first.
var Names = strings.Fields(names)

// Known reports whether an account can have the time zone.
func Known(name string) bool { return slices.Contains(Names, name) }

var loaded sync.Map // name to *time.Location

// Of gives the time zone of a name; UTC for a name that is not known.
func Of(name string) *time.Location {
	if found, ok := loaded.Load(name); ok {
		return found.(*time.Location)
	}
	if !Known(name) {
		return time.UTC
	}
	found, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	loaded.Store(name, found)
	return found
}

// Shown gives a time as readers see it: in the time zone that the time carries. A time in the machine's own zone, which
// means nothing to a reader, is shown in UTC.
func Shown(t time.Time) time.Time {
	if t.Location() == time.Local {
		return t.UTC()
	}
	return t
}

// Minute formats the minute of t with the zone's name: 14:05 CEST, or 14:05 UTC+05:45 for a zone without one.
func Minute(t time.Time) string {
	t = Shown(t)
	if name, _ := t.Zone(); strings.ContainsAny(name, "+-") {
		return t.Format("15:04 UTC-07:00")
	}
	return t.Format("15:04 MST")
}

// Day reads an ISO date and gives the first moment of that day in the zone. ok is false for every other text.
func Day(text string, in *time.Location) (first time.Time, ok bool) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 2 {
		return time.Time{}, false
	}
	return midnight(at, in), true
}

// Next gives the first moment of the day after t, in the time zone of t.
func Next(t time.Time) time.Time {
	return midnight(time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC), t.Location())
}

// midnight gives the first moment, in a time zone, of the day that a time in UTC names. Where the clocks change at
// midnight, a day has no 00:00, or two.
func midnight(date time.Time, in *time.Location) time.Time {
	first := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, in)
	if first.Day() != date.Day() { // the hour before: the day begins with the change
		_, first = first.ZoneBounds()
		return first
	}
	began, _ := first.ZoneBounds()
	_, was := began.Add(-1).Zone()
	_, is := first.Zone()
	earlier := first.Add(time.Duration(is-was) * time.Second)
	if earlier.Before(first) && earlier.Day() == first.Day() { // the change repeats the beginning of the day
		return earlier
	}
	return first
}
