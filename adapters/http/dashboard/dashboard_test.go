package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/connecttest"
	ports "partnerdeposits/ports/platform"
)

func TestDesk_RequestsOfAnAccount_AreBounded(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Counted: true})
	s.CreatePartner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	other, _ := linked(t, s, "c@d.example", "demo")
	token := b.Get("/dashboard").InputAttribute("csrf_token", "value")
	read := func(of *connecttest.Browser) connecttest.Answer { return of.Get("/dashboard/partner?lang=fr") }
	act := func() connecttest.Answer {
		return b.Post("/dashboard/settings",
			url.Values{"csrf_token": {token}, "intent": {"change_language"}, "locale": {"en"}})
	}
	send := func(name string, perMinute, n int) { // as so many requests would be counted
		for range n {
			key := "desk:" + strings.TrimPrefix(name, "desk-") + ":" + id.Account.Of(account)
			require.True(t,
				s.Services.Limiter.Allow(t.Context(), ports.LimitRule{Name: name, Key: key, PerMinute: perMinute}).Allowed)
		}
	}
	send("desk-acts", 60, 59)
	require.NotEqual(t, http.StatusTooManyRequests, act().Status)
	refused := act()
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, "rate_limited", refused.ErrorCode())
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Contains(t, refused.Body, "Too many attempts")

	send("desk-reads", 600, 598) // the page with the token was read already
	require.Equal(t, http.StatusOK, read(b).Status, "acts cost no reads")
	refused = read(b)
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Contains(t, refused.Body, "Trop de tentatives")
	require.Equal(t, http.StatusOK, read(other).Status, "another account")
}

func TestErrorPages_OfAnOperator_KeepTheMenuAndLeadOn(t *testing.T) {
	s, _, b, _ := demo(t)
	b.Get("/dashboard?lang=fr") // the operator's choice holds on error pages, too
	for path, status := range map[string]int{
		"/dashboard/deposits/dep_0": http.StatusNotFound, "/dashboard/nowhere": http.StatusNotFound,
		"/dashboard/unlink": http.StatusMethodNotAllowed,
	} {
		page := b.Get(path)
		require.Equal(t, status, page.Status, path)
		require.NotEmpty(t, page.LinkURLByPrefix("/dashboard/settings"), path)
		require.Contains(t, page.Body, `action="/logout"`, path)
		require.Contains(t, page.Body, "Aller à Aujourd’hui", path)
		require.NotContains(t, page.Body, `aria-current="page"`, "the menu marks no entry: "+path)
	}
	forged := b.Post("/dashboard/settings", url.Values{"csrf_token": {"x"}})
	require.Equal(t, http.StatusForbidden, forged.Status)
	require.Contains(t, forged.Body, `action="/logout"`)

	stranger := s.NewBrowser(t)
	page := stranger.Get("/dashboard/nowhere")
	require.Equal(t, http.StatusNotFound, page.Status)
	require.NotContains(t, page.Body, `action="/logout"`)
	require.NotEmpty(t, page.LinkURLByPrefix("/login"))
}

func TestList_ShowsTheAccountsOwnDepositsAndFilters(t *testing.T) {
	s, p, b, account := demo(t)
	_, other := linked(t, s, "c@d.example", "demo")
	mine := deposits(t, s, p, account, 3)
	theirs := deposits(t, s, p, other, 1)
	secured(t, s, mine[0], 24*time.Hour)

	page := b.Get("/dashboard/deposits")
	require.Equal(t, http.StatusOK, page.Status)
	for _, want := range append(mine, "€1,250.51", "Awaiting the tenant", "Secured", "&lt;b&gt;1") {
		require.Contains(t, page.Body, want)
	}
	require.NotContains(t, page.Body, theirs[0])
	require.Less(t, strings.Index(page.Body, mine[1]), strings.Index(page.Body, mine[0]), "newest first")
	require.Empty(t, page.LinkURLByPrefix("/dashboard/deposits?cursor="), "nothing older")
	french := b.Get("/dashboard/deposits?lang=fr")
	require.Contains(t, french.Body, "En attente du locataire")
	require.Contains(t, french.Body, "1\u00a0250,50\u00a0€")
	b.Get("/dashboard?lang=en")

	only := func(query string, want ...string) {
		t.Helper()
		page := b.Get("/dashboard/deposits?" + query)
		require.Equal(t, http.StatusOK, page.Status)
		require.ElementsMatch(t, want, references(page), query)
	}
	today := s.Clock.Now().UTC()
	only("status=active", mine[0])
	only("status=pending,incomplete", mine[1], mine[2])
	only("q="+mine[1], mine[1])
	only("q=%3CB%3E2", mine[2])
	only("q=" + theirs[0])
	only("q=%25")
	only("from="+today.AddDate(0, 0, 5).Format(time.DateOnly), []string{}...)
	only("from="+today.Format(time.DateOnly)+"&to="+today.Format(time.DateOnly), mine...)
	only("to=" + today.AddDate(0, 0, -2).Format(time.DateOnly))
	require.Equal(t, "pending", selected(b.Get("/dashboard/deposits?status=pending")))

	for _, bad := range []string{"status=lost", "from=1.7.2026", "to=2026-02-30", "from=2026-07-02&to=2026-07-01",
		"q=" + strings.Repeat("x", 201), "q=%00", "q=%ff"} {
		refused := b.Get("/dashboard/deposits?" + bad)
		require.Equal(t, http.StatusBadRequest, refused.Status, bad)
		require.Equal(t, "invalid_filter", refused.ErrorCode(), bad)
		require.Contains(t, refused.Body, `role="alert"`, bad)
		require.Equal(t, http.StatusBadRequest, b.Get("/dashboard/deposits.csv?"+bad).Status, bad)
	}
}

func TestUnlink_AsksOnceMoreAndTellsBothSides(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.CreatePartner("demo", func(p *partner.Partner) { p.ContactEmail = "tech@pms.example" })
	b, account := linked(t, s, "a@b.example", "demo")
	page := b.Get("/dashboard/partner")
	for _, want := range []string{"Partner demo", "op-a", "create deposits for your rentals", "never sees your password"} {
		require.Contains(t, page.Body, want)
	}
	asked := b.Send(page, 0, nil)
	require.Equal(t, http.StatusOK, asked.Status)
	require.Contains(t, asked.Body, "Unlink Partner demo?")
	require.Equal(t, "unlink", asked.InputAttribute("intent", "value"))
	require.Equal(t, "yes", asked.InputAttribute("confirm", "value"))
	require.Zero(t, s.Count("account_links", "revoked_at IS NOT NULL"))
	sent := b.Send(asked, 0, nil)
	require.Equal(t, "/dashboard/partner?unlinked=1", sent.Location)
	after := b.Get(sent.Location)
	require.Contains(t, after.Body, "The link has ended.")
	require.Contains(t, after.Body, "not linked to a partner")
	require.Equal(t, 1, s.Count("account_links", "account_id = $1 AND revoked_by = 'operator'", account))
	told := s.ListMails("a@b.example")
	require.Len(t, told, 2, "of the link and of its end")
	require.Contains(t, told[0].Subject, "Partner demo is now linked to your account")
	require.Contains(t, told[1].Body, "by you")
	require.Equal(t, 1, s.Count("mails", "recipient = 'tech@pms.example' AND body LIKE '%op-a%Chalets of a@b.example%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'link.revoke' AND actor LIKE 'operator:opr_%' AND subject = $1",
		id.Account.Of(account)))

	// Both forms once more, from pages left open: nothing more happens.
	require.Equal(t, http.StatusSeeOther, b.Send(asked, 0, nil).Status)
	require.Equal(t, "/dashboard/partner", b.Send(page, 0, nil).Location)
	require.Equal(t, 3, s.Count("mails", ""))
}

func TestUnlink_FromAPageLeftOpen_DoesNotEndALinkMadeSince(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.CreatePartner("demo")
	s.CreatePartner("other")
	b, account := linked(t, s, "a@b.example", "demo")
	stale := b.Send(b.Get("/dashboard/partner"), 0, nil)
	b.Send(stale, 0, nil)
	relinked := b.Get("/login?" + connecttest.SignedQuery(key, "other", "op-9", unix(s), ""))
	require.Equal(t, http.StatusSeeOther, b.Send(relinked, 0, nil).Status)
	b.Send(stale, 0, nil)
	for _, none := range []string{"", "lnk_x"} {
		require.Equal(t, http.StatusSeeOther, b.Send(stale, 0, map[string]string{"link": none}).Status)
	}
	require.Equal(t, 1, s.Count("account_links", "account_id = $1 AND revoked_at IS NULL", account))
	require.NotContains(t, b.Get("/dashboard/partner?unlinked=1").Body, "The link has ended.",
		"the page tells how things stand")
}

func TestDetail_TellsAmountCoverTenantAndHistory(t *testing.T) {
	s, p, b, account := demo(t)
	reference := deposits(t, s, p, account, 1)[0]
	path := pathOf(t, s, reference)
	page := b.Get(path)
	require.Equal(t, http.StatusOK, page.Status)
	for _, want := range []string{reference, "€1,250.50", "Awaiting the tenant", "The cover reaches the end of the stay.",
		"No tenant yet", "Deposit made", "Partner demo", "&lt;b&gt;0"} {
		require.Contains(t, page.Body, want)
	}
	require.Equal(t, s.DashboardURL+"/checkout/token-"+reference, page.InputAttribute("link", "value"), "the link to copy")
	require.NotContains(t, page.Body, "Claim for damage")

	secured(t, s, reference, 24*time.Hour)
	_, err := s.Pool.Exec(t.Context(),
		`UPDATE deposits SET contract_end_at = expires_at + interval '3 days' WHERE reference = $1`, reference)
	require.NoError(t, err)
	page = b.Get(path)
	require.Contains(t, page.Body, "The cover ends before the stay does")
	require.NotContains(t, page.Body, "/checkout/", "the link of a checkout that is over")
	for _, n := range page.ElementsByTag("time") {
		_, err := time.Parse(time.RFC3339, attribute(n, "datetime"))
		require.NoError(t, err)
	}
	require.NotEmpty(t, page.ElementsByTag("time"))
	for _, nonsense := range []string{"dep_x", "new2", "..", id.Deposit.Of(id.ID{9})} {
		missing := b.Get("/dashboard/deposits/" + nonsense)
		require.Equal(t, http.StatusNotFound, missing.Status, nonsense)
	}
	require.Equal(t, "deposit_not_found", b.Get("/dashboard/deposits/"+id.Deposit.Of(id.ID{9})).ErrorCode())
}
