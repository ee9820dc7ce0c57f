package desk_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// store counts a deposit for each day of a span, and notes the spans.
type store struct {
	depositports.Desk
	asked []ports.Span
	work  map[depositports.Work]depositports.WorkCount
	lists []depositports.Work
}

func (s *store) CountMade(_ context.Context, _ id.ID, spans []ports.Span) (counts []int, err error) {
	s.asked = spans
	for _, span := range spans {
		counts = append(counts, int(span.To.Sub(span.From)/(24*time.Hour)))
	}
	return counts, nil
}

func (s *store) CountWork(context.Context, id.ID, time.Time) (map[depositports.Work]depositports.WorkCount, error) {
	return s.work, nil
}

func (s *store) OpenWork(_ context.Context, _ id.ID, kind depositports.Work, _ time.Time,
	_ int) ([]*deposit.Deposit, error) {
	s.lists = append(s.lists, kind)
	return nil, nil
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestToday_CountsEachMonthThatIsOverOnce_AndThePresentOnceAMinute(t *testing.T) {
	t.Parallel()
	at := &clock{time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC)}
	s := &store{}
	service := desk.New(desk.Deps{Desk: s, Clock: at})
	year := func(account byte) []desk.Month {
		s.asked = nil
		today, err := service.Today(t.Context(), id.ID{account})
		require.NoError(t, err)
		require.Len(t, today.Year, 12)
		return today.Year
	}
	first := year(1)
	require.Len(t, s.asked, 12)
	require.Equal(t, desk.Month{Start: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Made: 30}, first[0])
	require.Equal(t, desk.Month{Start: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), Made: 28}, first[10])
	require.Equal(t, desk.Month{Start: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), Made: 31}, first[11],
		"also on the 31st")
	require.Equal(t, first, year(1))
	require.Empty(t, s.asked)
	year(2)
	require.Len(t, s.asked, 12, "another account")
	at.now = at.now.Add(59 * time.Second)
	year(1)
	require.Empty(t, s.asked)
	at.now = at.now.Add(time.Second)
	year(1)
	require.Len(t, s.asked, 1, "the present month, which is a minute old")

	at.now = at.now.Add(90 * time.Minute) // half an hour into April: deposits of March may still commit
	year(1)
	require.Len(t, s.asked, 2)
	at.now = at.now.Add(time.Hour)
	year(1)
	require.Len(t, s.asked, 2, "March for the last time")
	at.now = at.now.Add(time.Minute)
	year(1)
	require.Len(t, s.asked, 1)
}

func TestToday_ReadsTheListsOfWorkThatThereIs(t *testing.T) {
	t.Parallel()
	s := &store{work: map[depositports.Work]depositports.WorkCount{depositports.WorkEnding: {Count: 2},
		depositports.WorkActive: {Count: 9}}}
	_, err := desk.New(desk.Deps{Desk: s, Clock: &clock{time.Now()}}).Today(t.Context(), id.ID{1})
	require.NoError(t, err)
	require.Equal(t, []depositports.Work{depositports.WorkEnding}, s.lists)
}
