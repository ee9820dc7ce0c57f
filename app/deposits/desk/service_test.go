package desk_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/zone"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// store counts a deposit for each day of a span, and notes the spans.
type store struct {
	depositports.DashboardReader
	asked []ports.TimeSpan
	work  map[depositports.OverviewGroup]int
	most  []int                              // of each count of work
	soon  map[depositports.OverviewGroup]int // how many of the work begin soon
	lists []depositports.OverviewGroup
	bulk  []int // the limits of the refused deposits that were asked for
	none  bool  // no deposit was made in the year
	old   int   // deposits from before the year
	// ending is the time before which covers end, of the last read
	ending time.Time
}

func (s *store) CountCreatedDeposits(_ context.Context, _ id.ID, spans []ports.TimeSpan) (counts []int, err error) {
	s.asked = spans
	for _, span := range spans {
		if s.none {
			counts = append(counts, 0)
			continue
		}
		counts = append(counts, int(span.To.Sub(span.From)/(24*time.Hour)))
	}
	return counts, nil
}

func (s *store) CountByOverviewGroup(_ context.Context, _ id.ID, _ ports.TimeSpan,
	most int) (map[depositports.OverviewGroup]depositports.DepositGroupCount, error) {
	s.most = append(s.most, most)
	counts := map[depositports.OverviewGroup]depositports.DepositGroupCount{}
	for kind, n := range s.work {
		counts[kind] = depositports.DepositGroupCount{Count: min(n, most), More: n > most, Soon: s.soon[kind]}
	}
	return counts, nil
}

// CountByView counts as many deposits as it may.
func (s *store) CountByView(_ context.Context, _ id.ID, ending time.Time,
	most int) (map[depositports.ListView]int, error) {
	s.ending = ending
	return map[depositports.ListView]int{depositports.ViewAll: most, depositports.ViewSecured: most - 1}, nil
}

func (s *store) DepositsByOverviewGroup(_ context.Context, _ id.ID, kinds []depositports.OverviewGroup,
	_ ports.TimeSpan,
	_ int) (map[depositports.OverviewGroup][]*deposit.Deposit, error) {
	s.lists = append(s.lists, kinds...)
	return nil, nil
}

func (s *store) RefusedDepositIDs(_ context.Context, _ id.ID, limit int) ([]id.ID, error) {
	s.bulk = append(s.bulk, limit)
	return []id.ID{{1}, {2}}, nil
}

// DashboardDeposits notes the filter.
func (s *store) DashboardDeposits(_ context.Context, f depositports.DashboardFilter,
	page ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	s.ending = f.EndsBefore
	return ports.ListPage[*deposit.Deposit]{Items: make([]*deposit.Deposit, min(s.old, page.Limit))}, nil
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestToday_CountsEachMonthThatIsOverOnce_AndThePresentOnceAMinute(t *testing.T) {
	t.Parallel()
	at := &clock{time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC)}
	s := &store{}
	service, timezone := desk.New(desk.Deps{Desk: s, Clock: at}), "UTC"
	year := func(account byte) []desk.MonthlyDepositCount {
		s.asked = nil
		today, err := service.BuildOverview(t.Context(), connect.Account{ID: id.ID{account}, Timezone: timezone})
		require.NoError(t, err)
		require.Len(t, today.Year, 12)
		return today.Year
	}
	first := year(1)
	require.Len(t, s.asked, 12)
	require.Equal(t, desk.MonthlyDepositCount{Start: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Made: 30}, first[0])
	require.Equal(t, desk.MonthlyDepositCount{Start: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), Made: 28}, first[10])
	require.Equal(t, desk.MonthlyDepositCount{Start: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), Made: 31}, first[11],
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

	timezone = "Pacific/Kiritimati"
	at.now = time.Date(2027, 4, 30, 10, 0, 0, 0, time.UTC)
	require.Equal(t, "2027-05-01T00:00:00+14:00", year(3)[11].Start.Format(time.RFC3339), "a month of the account's zone")
	require.Equal(t, time.Date(2027, 4, 30, 10, 0, 0, 0, time.UTC), s.asked[11].From.UTC())
}

func TestLastCovered_IsToldInTheZoneOfTheStay(t *testing.T) {
	t.Parallel()
	at := &clock{time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC)}
	service := desk.New(desk.Deps{Clock: at, Timers: deposit.TimerDurations{CoverMax: 24 * time.Hour}})
	there := zone.ByName("Pacific/Kiritimati")
	require.Equal(t, "2027-04-02T13:00:00+14:00", service.LatestCoverEnd(time.Time{}.In(there)).Format(time.RFC3339))
	begins := time.Date(2027, 5, 1, 0, 0, 0, 0, there)
	require.Equal(t, "2027-05-02T00:00:00+14:00", service.LatestCoverEnd(begins).Format(time.RFC3339))
}

func TestViews_AreCountedToAThousand_AndThoseThatEndSoonEndWithinSevenDays(t *testing.T) {
	t.Parallel()
	s := &store{}
	at := &clock{time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC)}
	service, soon := desk.New(desk.Deps{Desk: s, Clock: at}), at.now.AddDate(0, 0, 7)
	counts, err := service.CountByView(t.Context(), id.ID{1})
	require.NoError(t, err)
	require.Equal(t, map[depositports.ListView]depositports.DepositGroupCount{depositports.ViewAll: {Count: 1000,
		More: true},
		depositports.ViewSecured: {Count: 1000}}, counts)
	require.Equal(t, soon, s.ending)
	for asked, want := range map[time.Time]time.Time{{}: soon, soon.Add(1): soon, soon.Add(-1): soon.Add(-1)} {
		_, err := service.ListDeposits(t.Context(), connect.Account{},
			depositports.DashboardFilter{View: depositports.ViewCoverEnding, EndsBefore: asked}, ports.Page{})
		require.NoError(t, err)
		require.Equal(t, want, s.ending)
	}
	_, err = service.ListDeposits(t.Context(), connect.Account{},
		depositports.DashboardFilter{View: depositports.ViewSecured},
		ports.Page{})
	require.NoError(t, err)
	require.Zero(t, s.ending)
}

func TestToday_ReadsTheListsOfWorkThatThereIs(t *testing.T) {
	t.Parallel()
	s := &store{work: map[depositports.OverviewGroup]int{depositports.OverviewCoverEnding: 2,
		depositports.OverviewActive: 9}}
	_, err := desk.New(desk.Deps{Desk: s, Clock: &clock{time.Now()}}).BuildOverview(t.Context(),
		connect.Account{ID: id.ID{1}})
	require.NoError(t, err)
	require.Equal(t, []depositports.OverviewGroup{depositports.OverviewCoverEnding}, s.lists)
	require.Empty(t, s.bulk)
}

// A deposit that begins soon is counted once: in its own group, and in the figure of its status.
func TestToday_CountsADepositInOneGroup(t *testing.T) {
	t.Parallel()
	s := &store{
		work: map[depositports.OverviewGroup]int{depositports.OverviewAwaitingTenant: 9,
			depositports.OverviewPaymentRefused: 2,
			depositports.OverviewCardRefused:    1},
		soon: map[depositports.OverviewGroup]int{depositports.OverviewAwaitingTenant: 4,
			depositports.OverviewPaymentRefused: 2},
	}
	today, err := desk.New(desk.Deps{Desk: s, Clock: &clock{time.Now()}}).
		BuildOverview(t.Context(), connect.Account{ID: id.ID{1}})
	require.NoError(t, err)
	require.Equal(t, 6, today.CountOfGroup(depositports.OverviewStayBeginning).Count)
	require.Equal(t, 5, today.CountOfGroup(depositports.OverviewAwaitingTenant).Count)
	require.Zero(t, today.CountOfGroup(depositports.OverviewPaymentRefused).Count)
	require.Equal(t, 3, today.CountRefusedPayments().Count)
	require.Equal(t, 9, today.Counts[depositports.OverviewAwaitingTenant].Count)
	require.Equal(t, []depositports.OverviewGroup{depositports.OverviewStayBeginning, depositports.OverviewCardRefused,
		depositports.OverviewAwaitingTenant},
		s.lists)
	require.Equal(t, []int{deposit.MaxDepositsPerBulkAct}, s.bulk)
	require.Len(t, today.Refused, 2)
	require.Equal(t, 8*24*time.Hour, today.Week.To.Sub(today.Week.From))
}

func TestToday_OfAnAccountThatNeverHadADeposit_IsEmpty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store store
		empty bool
	}{
		"nothing":               {store{none: true}, true},
		"deposits of this year": {store{}, false},
		"deposits from before":  {store{none: true, old: 3}, false},
		"a deposit made a moment ago": {store{none: true,
			work: map[depositports.OverviewGroup]int{depositports.OverviewActive: 1}}, false},
	} {
		today, err := desk.New(desk.Deps{Desk: &c.store, Clock: &clock{time.Now()}}).
			BuildOverview(t.Context(), connect.Account{ID: id.ID{1}})
		require.NoError(t, err, name)
		require.Equal(t, c.empty, today.Empty, name)
	}
}

func TestToday_CountsLittleWorkAtEachView_AndMuchWorkOnceAMinute(t *testing.T) {
	t.Parallel()
	s := &store{work: map[depositports.OverviewGroup]int{depositports.OverviewCoverEnding: 2,
		depositports.OverviewActive:         7_000,
		depositports.OverviewAwaitingTenant: 20_000}}
	at := &clock{time.Now()}
	service := desk.New(desk.Deps{Desk: s, Clock: at})
	counts := func() map[depositports.OverviewGroup]depositports.DepositGroupCount {
		s.most = nil
		today, err := service.BuildOverview(t.Context(), connect.Account{ID: id.ID{1}})
		require.NoError(t, err)
		return today.Counts
	}
	first := counts()
	require.Equal(t,
		map[depositports.OverviewGroup]depositports.DepositGroupCount{depositports.OverviewCoverEnding: {Count: 2},
			depositports.OverviewActive: {Count: 7_000}, depositports.OverviewAwaitingTenant: {Count: 10_000, More: true}},
		first)
	require.Equal(t, []int{500, 10_000}, s.most)

	s.work[depositports.OverviewCoverEnding], s.work[depositports.OverviewActive] = 1, 6_999
	second := counts()
	require.Equal(t, 1, second[depositports.OverviewCoverEnding].Count)
	require.Equal(t, 7_000, second[depositports.OverviewActive].Count, "for a minute")
	require.Equal(t, []int{500}, s.most)

	s.work[depositports.OverviewCoverEnding] = 501
	require.Equal(t, 501, counts()[depositports.OverviewCoverEnding].Count, "much since the last view")
	require.Equal(t, []int{500, 10_000}, s.most)

	s.work[depositports.OverviewActive] = 3
	require.Equal(t, 3, counts()[depositports.OverviewActive].Count)
	at.now = at.now.Add(time.Minute)
	s.work[depositports.OverviewCoverEnding] = 600
	require.Equal(t, 600, counts()[depositports.OverviewCoverEnding].Count)
	require.Equal(t, []int{500, 10_000}, s.most)
}
