package dashboard_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
)

// "Show all" leads to the covers that end soon, and to no other deposit.
func TestToday_ShowAllCoversThatEndSoon_LeadsToJustThose(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	made := deposits(t, s, p, account, 9)
	for i, reference := range made {
		covered := time.Duration(i+1) * time.Hour
		if i >= 7 { // the last two are covered for longer
			covered = 7*24*time.Hour + time.Duration(i)*time.Minute
		}
		secured(t, s, reference, covered)
	}
	link := ""
	for _, a := range b.Get("/dashboard").All("a") {
		if href := attribute(a, "href"); strings.Contains(href, "ends_by=") {
			link = href
		}
	}
	require.NotEmpty(t, link)
	page := b.Get(link)
	require.Equal(t, http.StatusOK, page.Status)
	found := references(page)
	slices.Sort(found)
	want := slices.Sorted(slices.Values(made[:7]))
	require.Equal(t, want, found)
	require.Equal(t, "active", selected(page))
	require.Contains(t, page.Text("main"), "whose cover ends before")

	u, err := url.Parse(link)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(b.Get("/dashboard/deposits.csv?" + u.RawQuery).Body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+7)

	for query, n := range map[string]int{
		"ends_by=" + s.Clock.Now().AddDate(0, 0, 8).Format(time.DateOnly): 9, // whole days
		"q=" + made[0] + "&" + u.RawQuery:                                 1, // with a search
		"from=2000-01-01&to=2999-01-01&" + u.RawQuery:                     7, // with a period
		"status=pending&ends_by=2999-01-01":                               0, // no cover
	} {
		require.Len(t, references(b.Get("/dashboard/deposits?"+query)), n, query)
	}
	for _, bad := range []string{"x", "2026-02-30", "0000-01-01", "2026-11-29T25:00:00Z", "%00"} {
		page := b.Get(fmt.Sprintf("/dashboard/deposits?ends_by=%s", bad))
		require.Equal(t, http.StatusBadRequest, page.Status, bad)
	}
}
