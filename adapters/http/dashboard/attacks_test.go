package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/connecttest"
)

// routes are the method and the path of every page of the operator.
func routes() (all [][2]string) {
	app := fiber.New()
	dashboard.Mount(app, dashboard.Deps{})
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead {
			all = append(all, [2]string{r.Method, r.Path})
		}
	}
	return all
}

// A page that no link leads to is found by nobody.
func TestEveryPage_IsReachedByLinksFromTheFirst(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.another(), time.Hour) // its claim is a page
	reached, opened := map[string]bool{}, map[string]bool{}
	var open func(link string)
	open = func(link string) {
		path, _, _ := strings.Cut(link, "?")
		if opened[path] || !strings.HasPrefix(path, site.DashboardPath) {
			return
		}
		opened[path] = true
		for _, r := range routes() {
			if r[0] == http.MethodGet && fiber.RoutePatternMatch(path, r[1]) {
				reached[r[1]] = true
				break
			}
		}
		for _, a := range d.b.Get(link).ElementsByTag("a") {
			open(attribute(a, "href"))
		}
	}
	open(site.DashboardPath)
	for _, r := range routes() {
		sent := strings.HasSuffix(r[1], "/:form")                            // a form that was sent leads there
		if r[0] == http.MethodGet && r[1] != site.DepositFilePath && !sent { // the deposit has no files
			require.True(t, reached[r[1]], "no link leads to %s", r[1])
		}
	}
}

// every form of the operator's pages, with values that would have an effect on the deposit at a path.
func everyForm(path, link string) map[string][]url.Values {
	ticked := []string{strings.TrimPrefix(path, "/dashboard/deposits/")}
	return map[string][]url.Values{
		"/dashboard/deposits": {{"intent": {"send_links"}, "deposit": ticked, "confirm": {"yes"}},
			{"intent": {"remind_all"}, "deposit": ticked, "confirm": {"yes"}}},
		"/dashboard/deposits/:id": {
			{"intent": {"capture"}, "amount": {"100"}, "confirm": {"yes"}}, {"intent": {"release"}, "confirm": {"yes"}},
			{"intent": {"cancel"}, "confirm": {"yes"}}, {"intent": {"send_link"}, "email": {"x@y.example"}, "confirm": {"yes"}},
			{"intent": {"remind"}, "confirm": {"yes"}}, {"intent": {"settled_elsewhere"}, "confirm": {"yes"}},
			{"intent": {"withdraw_claim"}, "confirm": {"yes"}},
		},
		"/dashboard/deposits/new": {{"intent": {"create"}, "amount": {"300"}, "startsOn": {"2031-07-01"},
			"endsOn": {"2031-07-02"}, "email": {"x@y.example"}}},
		"/dashboard/partner": {{"intent": {"unlink"}, "link": {link}, "confirm": {"yes"}}},
		"/dashboard/unlink":  {{"link": {link}}},
		"/dashboard/settings": {
			{"intent": {"resend_verification"}},
			{"intent": {"change_password"}, "currentPassword": {"correct horse battery"}, "newPassword": {"another password"}},
			{"intent": {"change_email"}, "email": {"x@y.example"}, "currentPassword": {"correct horse battery"}},
			{"intent": {"change_company"}, "companyName": {"X"}},
			{"intent": {"change_language"}, "locale": {"fr"}}, {"intent": {"end_session"}, "session": {"others"}},
			{"intent": {"change_mails"}},
			{"intent": {"enable_totp"}}, {"intent": {"confirm_totp"}, "code": {"123456"}},
			{"intent": {"disable_totp"}, "code": {"123456"}, "currentPassword": {"x"}},
			{"intent": {"new_recovery_codes"}, "code": {"123456"}},
		},
	}
}

// unchanged gives a check that no table has changed since.
func unchanged(d *desk) func(what string) {
	state := func() string {
		var all string
		require.NoError(d.t,
			d.Pool.QueryRow(d.t.Context(),
				`SELECT concat_ws('|', (SELECT string_agg(id::text || status || version || updated_at, ',' ORDER BY id)
					FROM deposits),
			(SELECT count(*) FROM deposit_transitions), (SELECT count(*) FROM mails), (SELECT count(*)
			FROM audit_log), (SELECT count(*) FROM outbox),
			(SELECT count(*) FROM payments), (SELECT count(*) FROM account_links WHERE revoked_at IS NULL), (SELECT count(*)
			FROM clients),
			(SELECT string_agg(o::text, ',' ORDER BY o.id) FROM operators o), (SELECT string_agg(company_name, ',' ORDER BY id)
			FROM accounts), (SELECT count(*) FROM sessions),
			(SELECT count(*) FROM operator_tokens), (SELECT string_agg(c::text, ',') FROM collections c),
			(SELECT string_agg(f::text, ',') FROM second_factors f), (SELECT count(*) FROM recovery_codes
			WHERE used_at IS NULL), (SELECT count(*) FROM deposit_files))`).Scan(&all))
		return all
	}
	before := state()
	return func(what string) {
		d.t.Helper()
		require.Equal(d.t, before, state(), what)
	}
}

func TestEveryForm_WithoutItsTokenOrFromAnotherSite_ChangesNothing(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, time.Hour)
	partnerPage := d.b.Get("/dashboard/partner")
	link, token := partnerPage.InputAttribute("link", "value"), partnerPage.InputAttribute("csrf_token", "value")
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	strange := stranger.Get("/dashboard/partner").InputAttribute("csrf_token", "value")
	check := unchanged(d)
	forms, posts := everyForm(d.path, link), 0
	for _, r := range routes() {
		if r[0] != http.MethodPost {
			continue
		}
		require.Contains(t, forms, r[1], "a form without a row here")
		path := strings.Replace(r[1], ":id", strings.TrimPrefix(d.path, "/dashboard/deposits/"), 1)
		for _, values := range forms[r[1]] {
			for _, bad := range []string{"", "x", strange, strings.Repeat("0", 64)} {
				values.Set("csrf_token", bad)
				sent := d.b.Post(path, values)
				require.Equal(t, http.StatusForbidden, sent.Status, "%s %v", path, values)
				require.Equal(t, "invalid_csrf_token", sent.ErrorCode())
			}
			values.Set("csrf_token", token)
			for header, evil := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+path, strings.NewReader(values.Encode()))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				req.Header.Set(header, evil)
				require.Equal(t, http.StatusForbidden, d.b.Do(req).Status, "%s %s", path, header)
			}
			posts++
			check(path + " " + values.Encode())
		}
	}
	require.Equal(t, 23, posts)
}

func TestEveryPage_WithoutASession_LeadsToTheLogin(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour) // its claim is a page
	nobody := d.NewBrowser(t)
	check := unchanged(d)
	for _, r := range routes() {
		path := strings.Replace(r[1], ":id", strings.TrimPrefix(d.path, "/dashboard/deposits/"), 1)
		answer := nobody.Get(path)
		if r[0] == http.MethodPost {
			answer = nobody.Post(path, url.Values{"intent": {"cancel"}, "confirm": {"yes"}})
		}
		if r[0] == http.MethodGet || r[1] != "/dashboard/unlink" {
			location, err := url.Parse(answer.Location)
			require.NoError(t, err)
			require.Equal(t, site.LogInPath, location.Path, path)
			next := site.PathAfterLogIn(location.Query().Get("next"))
			require.True(t, strings.HasPrefix(path, next), "%s leads back to %s", path, next)
			if r[1] != site.DepositFilePath { // the deposit has no files
				require.Equal(t, http.StatusOK, d.b.Get(next).Status, "the page after the log-in")
			}
		}
		require.NotContains(t, answer.Body, d.reference)
	}
	check("a request without a session")
}

func TestEveryPage_NeverShowsOrChangesAnotherAccountsDeposit(t *testing.T) {
	d := newDesk(t)
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	token := stranger.Get("/dashboard/partner").InputAttribute("csrf_token", "value")
	link := d.b.Get("/dashboard/partner").InputAttribute("link", "value")
	depositID := strings.TrimPrefix(d.path, "/dashboard/deposits/")
	for _, status := range []string{"pending", "active", "captured"} {
		switch status {
		case "active":
			secured(t, d.Server, d.reference, time.Hour)
		case "captured":
			refusedClaim(t, d.Server, d.reference) // which can be ended, and its tenant reminded
			change(t, d.Server, `UPDATE collections SET asked_at = asked_at - interval '24 hours'`)
		}
		check := unchanged(d)
		for _, r := range routes() {
			path := strings.Replace(r[1], ":id", depositID, 1)
			if r[0] == http.MethodGet {
				for _, query := range []string{"", "?status=" + status, "?q=" + d.reference, "?q=%3Cb%3E", "?from=2000-01-01",
					"?status=pending,active&q=" + d.reference} {
					answer := stranger.Get(path + query)
					require.NotContains(t, strings.NewReplacer(`value="`+d.reference, "", "q="+d.reference, "").Replace(answer.Body),
						d.reference, "%s%s", path, query)
					require.NotContains(t, answer.Body, depositID+`"`, "%s%s", path, query)
					if strings.Contains(r[1], ":id") {
						require.Equal(t, http.StatusNotFound, answer.Status)
						require.Equal(t, "deposit_not_found", answer.ErrorCode())
					}
				}
				continue
			}
			for _, values := range everyForm(d.path, link)[r[1]] {
				if r[1] == "/dashboard/deposits/new" || r[1] == "/dashboard/settings" {
					continue // changes what is the stranger's own
				}
				values.Set("csrf_token", token)
				answer := stranger.Post(path, values)
				require.NotContains(t, answer.Body, d.reference)
				if strings.Contains(r[1], ":id") {
					require.Equal(t, http.StatusNotFound, answer.Status, values)
				}
			}
		}
		check(status)
	}
}

func TestGets_ChangeNothing(t *testing.T) {
	d := newDesk(t)
	page := d.b.Get("/dashboard/partner")
	token, link := page.InputAttribute("csrf_token", "value"), page.InputAttribute("link", "value")
	check := unchanged(d)
	for _, r := range routes() {
		path := strings.Replace(r[1], ":id", strings.TrimPrefix(d.path, "/dashboard/deposits/"), 1)
		for _, forms := range everyForm(d.path, link) {
			for _, values := range forms {
				values.Set("csrf_token", token)
				d.b.Get(path + "?" + values.Encode())
			}
		}
	}
	check("a GET")
}

func TestEveryAnswer_HasAStrictPolicyAndLeadsNowhereElse(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, time.Hour)
	token := d.b.Get("/dashboard").InputAttribute("csrf_token", "value")
	const evil = "?next=https://evil.example&return_url=https://evil.example&url=//evil.example&lang=//evil.example&cursor=https://evil.example&done=%22%3E%3Cscript%3E&unlinked=https://evil.example"
	requireSafe := func(what string, a connecttest.Answer) {
		t.Helper()
		policy := a.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", what)
		require.Contains(t, policy, "form-action 'self'", what)
		require.NotContains(t, policy, "unsafe", what)
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"), what)
		require.Equal(t, "no-referrer", a.Header.Get("Referrer-Policy"), what)
		require.NotContains(t, a.Body, "style=", what)
		a.RequireNoForeignScript(t, what)
		require.Regexp(t, `^(/[^/\\].*)?$`, a.Location, what)
		for _, n := range a.ElementsByTag("a") {
			require.Regexp(t, `^([/?#][^/\\].*|\?.*)$`, attribute(n, "href"), what)
		}
		for _, n := range a.ElementsByTag("form") {
			require.Regexp(t, `^/[^/\\]`, attribute(n, "action"), what)
		}
	}
	for _, r := range routes() {
		path := strings.Replace(r[1], ":id", strings.TrimPrefix(d.path, "/dashboard/deposits/"), 1)
		requireSafe("GET "+path, d.b.Get(path+evil))
		if r[0] == http.MethodPost {
			for _, intent := range []string{"capture", "release", "create", "unlink", "https://evil.example"} {
				requireSafe("POST "+path+" "+intent, d.b.Post(path+evil, url.Values{"csrf_token": {token}, "intent": {intent}}))
			}
		}
	}
	requireSafe("another host", d.b.Get("/dashboard/deposits/"+url.PathEscape("//evil.example")))
}
