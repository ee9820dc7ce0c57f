package dashboard_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/connecttest"
)

// linkOf is the target of the page's link with an attribute of that value.
func linkOf(page connecttest.Answer, name, value string) string {
	for _, a := range page.ElementsByTag("a") {
		if attribute(a, name) == value {
			return attribute(a, "href")
		}
	}
	return ""
}

// The list, the number beside the name of a view, and the export hold the same deposits for each view.
func TestList_EachView_HasItsDepositsAndTheirNumber(t *testing.T) {
	s, p, b, account := demo(t)
	_, other := linked(t, s, "c@d.example", "demo")
	mine := deposits(t, s, p, account, 9)
	refused(t, s, deposits(t, s, p, other, 1)[0])
	refused(t, s, mine[1])
	secured(t, s, mine[2], 24*time.Hour)
	secured(t, s, mine[3], 8*24*time.Hour)
	refusedClaim(t, s, mine[4])
	captured(t, s, mine[6], 8_025)
	change(t, s, `UPDATE deposits SET status = 'incomplete' WHERE reference = $1`, mine[7])
	change(t, s, `UPDATE deposits SET status = 'cancelled', cancelled_at = now() WHERE reference = $1`, mine[5])
	names := [][2]string{{"all", "All"}, {"awaiting", "Awaiting"}, {"refused", "Refused"}, {"secured", "Secured"},
		{"ending", "Ending soon"}, {"claimed", "Claimed"}}
	of := map[string][]string{"all": mine, "awaiting": {mine[0], mine[7], mine[8]}, "refused": {mine[1], mine[4]},
		"secured": {mine[2], mine[3]}, "ending": {mine[2]}, "claimed": {mine[4], mine[6]}}
	for _, name := range names {
		page := b.Get("/dashboard/deposits?lang=en&view=" + name[0])
		require.Equal(t, http.StatusOK, page.Status)
		require.ElementsMatch(t, of[name[0]], references(page), name)
		for _, view := range names {
			require.Contains(t, page.ElementText("main"), view[1]+" "+string(rune('0'+len(of[view[0]]))), "in view %s", name[0])
		}

		export := "/dashboard/deposits.csv?view=" + name[0]
		require.Equal(t, export, page.LinkURLByPrefix(export))
		rows, err := csv.NewReader(strings.NewReader(b.Get(export).Body)).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(of[name[0]]), name)
	}
	for query, want := range map[string][]string{
		"view=refused&status=captured": {mine[4]}, "view=refused&status=payment_issue": {mine[1]},
		"view=secured&status=pending": {}, "view=claimed&q=Grace": {mine[4]}, "view=refused&q=" + mine[1]: {mine[1]},
		"view=secured&q=Grace": {}, "view=claimed&from=2000-01-01": {mine[4], mine[6]}, "view=refused&to=2000-01-01": {},
		"view=ending&ends_by=2000-01-01": {}, "view=secured&sort=stay": {mine[2], mine[3]},
	} {
		page := b.Get("/dashboard/deposits?" + query)
		require.Equal(t, http.StatusOK, page.Status, query)
		require.ElementsMatch(t, want, references(page), query)
	}
	require.Contains(t, b.Get("/dashboard/deposits?view=claimed&lang=en").Body, "€80.25 of €1,250.56")
	require.Contains(t, b.Get("/dashboard/deposits?view=claimed&lang=fr").Body, "80,25\u00a0€ sur 1\u00a0250,56\u00a0€")
	b.Get("/dashboard?lang=en")
	require.Equal(t, [][2]string{{"Ends " + s.Clock.Now().Add(24*time.Hour).Format("2\u00a0Jan\u00a02006"), "warn"}},
		chips(b.Get("/dashboard/deposits?view=ending")))
	for _, bad := range []string{"view=lost", "view=%00", "sort=x", "view=all&sort=amount", "ends_by=x",
		"ends_by=2026-02-30", "ends_by=0000-01-01", "ends_by=2026-11-29T25:00:00Z", "ends_by=%00"} {
		page := b.Get("/dashboard/deposits?" + bad)
		require.Equal(t, http.StatusBadRequest, page.Status, bad)
		require.Equal(t, "invalid_filter", page.ErrorCode(), bad)
		require.Contains(t, page.Body, `role="alert"`, bad)
		require.Equal(t, http.StatusBadRequest, b.Get("/dashboard/deposits.csv?"+bad).Status, bad)
	}
}

// The list is newest first, with a period in the order of stays, and in either order where it is asked for.
func TestList_IsInTheOrderThatIsAskedFor(t *testing.T) {
	s, p, b, account := demo(t)
	mine := deposits(t, s, p, account, 3)
	change(t, s, `UPDATE deposits SET contract_start_at = contract_start_at - interval '1 day' WHERE reference = $1`, mine[2])
	created, stay := []string{mine[2], mine[1], mine[0]}, []string{mine[1], mine[0], mine[2]}
	for query, want := range map[string][]string{"": created, "sort=created": created, "sort=stay": stay,
		"from=2000-01-01": stay, "from=2000-01-01&sort=created": created, "to=2999-01-01&sort=stay": stay,
		"status=pending&sort=stay": stay, "view=awaiting&sort=stay": stay, "q=%3Cb%3E&sort=stay": stay} {
		page := b.Get("/dashboard/deposits?" + query)
		require.Equal(t, want, references(page), query)
		require.NotEmpty(t, page.LinkURLByPrefix("/dashboard/deposits?"), query)
	}
}

// Back leads over the pages that were read, without loss or repetition, while deposits are made.
func TestList_IsReadForwardAndBackWhileDepositsAreMade(t *testing.T) {
	s, p, b, account := demo(t)
	all := deposits(t, s, p, account, 120)
	slices.Reverse(all)
	later := 0
	for _, filter := range []string{"", "view=awaiting", "status=pending", "q=%3Cb%3E", "sort=stay", "from=2020-01-01",
		"view=awaiting&sort=stay&q=%3Cb%3E"} {
		path, seen, last := "/dashboard/deposits?"+filter, []string(nil), ""
		for path != "" {
			page := b.Get(path)
			require.Less(t, len(page.Body), 48<<10, "bytes of a full page")
			seen, last, path = append(seen, references(page)...), path, linkOf(page, "rel", "next")
		}
		require.Equal(t, all, seen[later:], filter)
		later++
		s.Clock.Add(3 * time.Hour)
		change(t, s, `INSERT INTO deposits SELECT (jsonb_populate_record(d, jsonb_build_object('id', $2::uuid, 'reference',
			$3::text, 'created_at', $4::timestamptz, 'contract_start_at', $4::timestamptz,
			'checkout_token_hash', '\x' || md5($3::text)))).* FROM deposits d WHERE reference = $1`, all[0],
			id.ID{9, 15: byte(later)}, "D-LATE-"+string(rune('A'+later)), s.Clock.Now())
		back := references(b.Get(last))
		for path = linkOf(b.Get(last), "rel", "prev"); path != ""; {
			page := b.Get(path)
			require.NotEmpty(t, linkOf(page, "rel", "next"))
			require.Contains(t, page.ElementText("main"), "Back to the first page")
			back, path = append(references(page), back...), linkOf(page, "rel", "prev")
		}
		require.Equal(t, all, back[later:], filter)
		require.Len(t, back, len(all)+later, filter)
	}
	first := b.Get("/dashboard/deposits")
	require.Empty(t, linkOf(first, "rel", "prev"))
	require.Contains(t, first.ElementText("main"), "1–50 of 127")
	require.NotContains(t, b.Get("/dashboard/deposits?q=%3Cb%3E").ElementText("main"), "1–50 of")
	for _, nonsense := range []string{"x", "AAAA", strings.Repeat("A", 33), strings.Repeat("_", 32), "%00"} {
		for _, cursor := range []string{"before=", "cursor="} {
			require.Equal(t, http.StatusOK, b.Get("/dashboard/deposits?"+cursor+nonsense).Status, nonsense)
		}
	}
}

// A view with more than a thousand deposits says so, in the language of the page.
func TestList_CountsToAThousand(t *testing.T) {
	s, p, b, account := demo(t)
	deposits(t, s, p, account, 1_000)
	require.Contains(t, b.Get("/dashboard/deposits?lang=en").ElementText("main"), "Awaiting 1,000Refused")
	change(t, s, `INSERT INTO deposits SELECT (jsonb_populate_record(d, jsonb_build_object('id', $1::uuid, 'reference',
		'D-LATE-1', 'checkout_token_hash', '\x00'))).* FROM deposits d LIMIT 1`, id.ID{9})
	page := b.Get("/dashboard/deposits?lang=en")
	require.Contains(t, page.ElementText("main"), "All 1,000+")
	require.Contains(t, page.ElementText("main"), "1–50 of 1,000+")
	require.Contains(t, b.Get("/dashboard/deposits?lang=fr").ElementText("main"), "Toutes 1\u00a0000+")
}

// Only a deposit whose tenant can be mailed a link has a box, with a name of its own.
func TestList_RowsWhoseTenantCanBeMailed_HaveABox(t *testing.T) {
	s, p, b, account := demo(t)
	mine := deposits(t, s, p, account, 4)
	secured(t, s, mine[0], 24*time.Hour)
	require.NotContains(t, b.Get("/dashboard/deposits?view=secured").Body, `id="ticked"`)
	refusedClaim(t, s, mine[1])
	captured(t, s, mine[2], 8_025)
	page := b.Get("/dashboard/deposits?lang=en")
	found := map[string]string{}
	for _, n := range page.ElementsByTag("input") {
		if attribute(n, "name") == "deposit" {
			require.Equal(t, "ticked", attribute(n, "form"))
			found[attribute(n, "value")] = attribute(n, "aria-label")
		}
	}
	require.Equal(t, map[string]string{id.Deposit.Of(depositOf(t, s, mine[1]).ID): "Select Grace Hopper",
		id.Deposit.Of(depositOf(t, s, mine[3]).ID): "Select " + mine[3]}, found)
	for _, want := range []string{`value="send_links"`, `value="remind_all"`, "No tenant yet", "Grace Hopper"} {
		require.Contains(t, page.Body, want)
	}
	require.NotEmpty(t, page.InputAttribute("form", "value"))
}
