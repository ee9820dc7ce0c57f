package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

// begins moves the stay of a deposit, which begins after so long.
func begins(t *testing.T, s *connecttest.Server, reference string, after time.Duration) {
	t.Helper()
	at := s.Clock.Now().Add(after)
	change(t, s, `UPDATE deposits SET contract_start_at = $2, contract_end_at = $2::timestamptz + interval '3 days'
		WHERE reference = $1`, reference, at)
	change(t, s, `UPDATE open_deposits SET starts_at = $2 WHERE deposit_id = (SELECT id FROM deposits WHERE reference = $1)`,
		reference, at)
}

// ofTenant gives a deposit a tenant.
func ofTenant(t *testing.T, s *connecttest.Server, reference, first, last, email string) {
	t.Helper()
	clientID := servicetest.NewID()
	change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
		SELECT $1, account_id, $3, $4, $5, '', 'en', now() FROM deposits WHERE reference = $2`, clientID, reference, email,
		first, last)
	change(t, s, `UPDATE deposits SET client_id = $1 WHERE reference = $2`, clientID, reference)
}

// group is a group of Today: its id, and the row of each deposit.
type group struct {
	name  string
	title string
	rows  map[string]*html.Node // by reference
	all   []string              // references, in their order
}

func within(n *html.Node, name string) (all []*html.Node) {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == name {
			all = append(all, c)
		}
	}
	return all
}

func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func groupsOf(page connecttest.Answer) (all []group) {
	for _, section := range page.ElementsByTag("section") {
		if attribute(section, "class") != "group" {
			continue
		}
		g := group{name: attribute(section, "aria-labelledby"), rows: map[string]*html.Node{}}
		g.title = text(within(section, "h3")[0])
		for _, li := range within(section, "li") {
			for _, code := range within(li, "code") {
				g.rows[code.FirstChild.Data] = li
				g.all = append(g.all, code.FirstChild.Data)
			}
		}
		all = append(all, g)
	}
	return all
}

// act gives what the row of a deposit offers: the intent of a form, the path of a link, or a text.
func act(row *html.Node) string {
	for _, input := range within(row, "input") {
		if attribute(input, "name") == "intent" {
			return attribute(input, "value")
		}
	}
	for _, a := range within(row, "a") {
		if strings.Contains(attribute(a, "class"), "button") {
			return attribute(a, "href")
		}
	}
	for _, p := range within(row, "p") {
		if attribute(p, "class") == "does meta" {
			return text(p)
		}
	}
	return ""
}

func TestToday_GroupsEachDepositOnce_TheMostUrgentFirst(t *testing.T) {
	s, p, b, account := demo(t)
	_, other := linked(t, s, "c@d.example", "demo")
	theirs := deposits(t, s, p, other, 1)[0]
	made := deposits(t, s, p, account, 13)
	const day = 24 * time.Hour
	for i, after := range []time.Duration{6 * day, -12 * time.Hour, 2 * day, 8 * day, 30 * day, 30 * day, -2 * day} {
		begins(t, s, made[i], after)
	}
	refused(t, s, made[2])
	refused(t, s, made[3])
	ofTenant(t, s, made[0], "Ada", "García López", "ada@example.com")
	ofTenant(t, s, made[3], "Alan", "Turing", "alan@example.com")
	secured(t, s, made[7], 3*day)
	secured(t, s, made[8], 30*day)
	captured(t, s, made[9], 12_050)
	refusedClaim(t, s, made[10])
	refusedClaim(t, s, made[11])
	change(t, s, `UPDATE collections SET asked_at = asked_at - interval '24 hours' WHERE deposit_id = $1`,
		depositOf(t, s, made[11]).ID)
	change(t, s, `UPDATE deposits SET status = 'cancelled', cancelled_at = now() WHERE reference = $1`, made[12])
	s.Clock.Add(time.Minute) // the number of this month's deposits is kept so long

	page := b.Get("/dashboard")
	require.Equal(t, http.StatusOK, page.Status)
	got := map[string]string{}
	var order [][]string
	for _, g := range groupsOf(page) {
		order = append(order, append([]string{g.name}, g.all...))
		for reference, row := range g.rows {
			require.NotContains(t, got, reference, "in two groups")
			got[reference] = act(row)
			require.Empty(t, strings.Count(text(row), "Awaiting the tenant"), "the heading tells the state")
		}
	}
	require.Equal(t, [][]string{
		{"soon", made[1], made[2], made[0]}, {"refused", made[3]}, {"card_refused", made[11], made[10]}, {"ending", made[7]},
		{"collecting", made[9]}, {"awaiting", made[6], made[5], made[4]},
	}, order)
	open := func(i int) string { return pathOf(t, s, made[i]) }
	require.Equal(t, map[string]string{
		made[0]: "send_link", made[1]: open(1), made[2]: open(2), made[3]: "send_link", made[4]: open(4), made[5]: open(5),
		made[6]: open(6), made[7]: open(7) + "/claim", made[9]: open(9), made[11]: "remind",
		made[10]: "Reminded on " + s.Clock.Now().Format("2 Jan 2006"),
	}, withSpaces(got))
	require.NotContains(t, page.Body, made[8], "a cover that ends later")
	require.NotContains(t, page.Body, theirs)
	require.Empty(t, groupChips(page), "beside the numbers")
	for _, says := range []string{"Ada García López", "No tenant yet", "Cover ends on",
		"Begins within 7 days, not secured"} {
		require.Contains(t, page.ElementText("main"), says)
	}
	require.Contains(t, b.Get("/dashboard?lang=fr").ElementText("main"), "Commence sous 7 jours, sans garantie")
}

// withSpaces makes no-break spaces ordinary ones.
func withSpaces(texts map[string]string) map[string]string {
	for k, v := range texts {
		texts[k] = strings.ReplaceAll(v, "\u00a0", " ")
	}
	return texts
}

// groupChips gives the chips of rows.
func groupChips(page connecttest.Answer) (all []string) {
	for _, g := range groupsOf(page) {
		for _, row := range g.rows {
			for _, span := range within(row, "span") {
				if strings.HasPrefix(attribute(span, "class"), "chip") {
					all = append(all, text(span))
				}
			}
		}
	}
	return all
}

// The figures count every deposit of a status, and lead to the list of it.
func TestToday_FiguresAreLinks(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 6)
	s.Clock.Add(time.Minute)
	secured(t, s, made[0], 30*24*time.Hour)
	secured(t, s, made[1], 30*24*time.Hour)
	refused(t, s, made[2])
	refusedClaim(t, s, made[3])
	begins(t, s, made[4], 30*24*time.Hour)
	page := b.Get("/dashboard")
	var got [][2]string
	for _, a := range within(page.ElementsByTag("ul")[0], "a") {
		got = append(got, [2]string{attribute(a, "href"), strings.ReplaceAll(text(a), "\u00a0", " ")})
	}
	require.Equal(t, [][2]string{
		{"/dashboard/deposits?view=awaiting", "Awaiting the tenant 2 €2,501.09 in all"},
		{"/dashboard/deposits?view=refused", "Refused 2"},
		{"/dashboard/deposits?view=secured", "Secured now 2 €2,501.01 in all"},
		{"/dashboard/deposits", "Made this month 6"},
	}, got)
	require.Contains(t, page.ElementText("main"), "Maximum deposit €2,500.00")
	require.Contains(t, page.Body, id.Account.Of(account))

	bulk := url.Values{}
	for _, input := range within(page.ElementsByTag("form")[page.FormIndexByIntent("remind_all")], "input") {
		bulk.Add(attribute(input, "name"), attribute(input, "value"))
	}
	require.Equal(t, []string{id.Deposit.Of(depositOf(t, s, made[2]).ID), id.Deposit.Of(depositOf(t, s, made[3]).ID)},
		bulk["deposit"])
	require.Len(t, bulk.Get("form"), 32)
	require.NotEmpty(t, bulk.Get("csrf_token"))
	require.Contains(t, page.ElementText("main"), "Remind all refused (2)")
	change(t, s, `UPDATE deposits SET status = 'pending' WHERE reference = $1`, made[2])
	require.Negative(t, b.Get("/dashboard").FormIndexByIntent("remind_all"), "one has its own row")
}

func TestToday_SendsALinkAgainWithOneClick(t *testing.T) {
	d := newDesk(t)
	ofTenant(t, d.Server, d.reference, "Ada", "Byron", "ada@example.com")
	page := d.b.Get("/dashboard")
	for range 2 { // a double click
		d.done(d.b.Send(page, page.FormIndexByIntent("send_link"), nil), "send_link")
		require.Equal(t, 1, d.Count("mails", "recipient = 'ada@example.com'"))
	}
	require.Equal(t, 1, d.Count("audit_log", "action = 'deposit.send_link'"))
}

func TestToday_RemindsATenantWithOneClick_OnceADay(t *testing.T) {
	c := newClaim(t)
	require.Negative(t, c.b.Get("/dashboard").FormIndexByIntent("remind"), "mailed today")
	c.mailedYesterday()
	page := c.b.Get("/dashboard")
	c.done(c.b.Send(page, page.FormIndexByIntent("remind"), nil), "remind")
	require.Equal(t, 1, c.Count("mails", "link_of IS NOT NULL"))
	after := c.b.Get("/dashboard")
	require.Negative(t, after.FormIndexByIntent("remind"))
	require.Contains(t, after.ElementText("main"), "Reminded on")
}

// A group has five rows at most, and a link to the list with all of its deposits.
func TestToday_AGroupHasFiveRows_AndLeadsToTheRest(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 10)
	later := made[9] // a cover that does not end soon
	secured(t, s, later, 7*24*time.Hour+time.Minute)
	made = made[:9]
	for _, c := range []struct {
		name, link string
		change     func(reference string)
	}{
		{"soon", "/dashboard/deposits?from=", func(string) {}},
		{"awaiting", "/dashboard/deposits?view=awaiting",
			func(r string) { begins(t, s, r, 30*24*time.Hour) }},
		{"refused", "/dashboard/deposits?view=refused", func(r string) { refused(t, s, r) }},
		{"ending", "/dashboard/deposits?ends_by=", func(r string) { secured(t, s, r, time.Hour) }},
		{"collecting", "/dashboard/deposits?view=claimed", func(r string) { captured(t, s, r, 5_000) }},
	} {
		for _, reference := range made {
			c.change(reference)
		}
		page := b.Get("/dashboard")
		groups := groupsOf(page)
		require.Len(t, groups, 1, c.name)
		require.Equal(t, c.name, groups[0].name)
		require.Len(t, groups[0].all, 5)
		link := page.LinkURLByPrefix(c.link)
		require.NotEmpty(t, link, c.name)
		require.Contains(t, page.Body, "Show all 9<", c.name)
		if c.name == "soon" || c.name == "ending" {
			list := b.Get(link)
			require.ElementsMatch(t, made, references(list), "those of the group, and no other")
			_, query, _ := strings.Cut(link, "?")
			require.Equal(t, 1+len(made), strings.Count(b.Get("/dashboard/deposits.csv?"+query).Body, "\n"))
			if c.name == "ending" {
				require.Equal(t, "active", selected(list))
				require.Contains(t, list.ElementText("main"), "whose cover ends before")
				require.Equal(t, made[:1], references(b.Get(link+"&q="+made[0])))
			}
		}
	}
}

func TestToday_OfAnEmptyAccount_HasThreeStepsWithTicks(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.CreatePartner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	steps := func(page connecttest.Answer) (all [][2]string) {
		for _, li := range within(page.ElementsByTag("ol")[0], "li") {
			a := within(li, "a")[0]
			all = append(all, [2]string{attribute(a, "href"), text(within(li, "span")[0])})
		}
		return all
	}
	page := b.Get("/dashboard")
	require.Equal(t, [][2]string{{"/dashboard/settings#address", "To do"}, {"/dashboard/deposits/new", "To do"},
		{"/dashboard/settings#two-factor", "To do"}}, steps(page))
	for _, absent := range []string{"<rect", "class=\"figures\"", "Nothing needs your attention", "Made this month"} {
		require.NotContains(t, page.Body, absent)
	}
	require.Contains(t, page.ElementText("main"), "We mailed a link to a@b.example")
	change(t, s, `UPDATE operators SET verified_at = now()`)
	b.EnableTOTP(s)
	page = b.Get("/dashboard?lang=fr")
	require.Equal(t, [][2]string{{"/dashboard/settings#address", "Fait"}, {"/dashboard/deposits/new", "À faire"},
		{"/dashboard/settings#two-factor", "Fait"}}, steps(page))
	require.Equal(t, http.StatusSeeOther, b.Submit("/dashboard/deposits/new",
		map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "2031-07-08"}).Status)
	page = b.Get("/dashboard?lang=en")
	require.Len(t, groupsOf(page), 1, "a deposit ends the steps")
	require.Contains(t, page.Body, id.Account.Of(account))
}

// The chart is there from five deposits on, with its numbers as a table.
func TestToday_ChartIsHiddenWhileThereIsLittle(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 4)
	for _, reference := range made {
		secured(t, s, reference, 60*24*time.Hour)
	}
	page := b.Get("/dashboard")
	require.NotContains(t, page.Body, "<svg")
	require.Contains(t, page.ElementText("main"), "Nothing needs your attention")
	require.Contains(t, page.ElementText("main"), "Chalets of a@b.example")
	require.Equal(t, http.StatusSeeOther, b.Submit("/dashboard/deposits/new",
		map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "2031-07-08"}).Status)
	s.Clock.Add(time.Minute) // the number of this month's deposits is kept so long
	page = b.Get("/dashboard")
	require.Equal(t, 12, strings.Count(page.Body, "<rect "))
	require.Len(t, page.ElementsByTag("tr"), 13, "the numbers as a table")
	require.Contains(t, page.ElementText("main"), "5 in all")
}
