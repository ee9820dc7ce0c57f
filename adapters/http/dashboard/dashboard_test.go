package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/connect/connecttest"
	"partnerdeposits/core/id"
)

func TestDashboard_ShowsTheAccountItsLinkAndItsOwnDeposits(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	_, other := linked(t, s, "c@d.example", "demo")
	mine := deposits(t, s, p, account, 2)
	theirs := deposits(t, s, p, other, 1)

	page := b.Get("/dashboard")
	require.Equal(t, http.StatusOK, page.Status)
	for _, want := range []string{"Chalets of a@b.example", id.Account.Of(account), "Partner demo", "op-a", "€2,500.00", mine[0], mine[1], "€1,250.51", "Awaiting the tenant", "&lt;b&gt;1"} {
		require.Contains(t, page.Body, want)
	}
	require.NotContains(t, page.Body, theirs[0])
	require.Less(t, strings.Index(page.Body, mine[1]), strings.Index(page.Body, mine[0]), "newest first")
	require.Empty(t, page.LinkTo("/dashboard"), "nothing older")
	french := b.Get("/dashboard?lang=fr")
	require.Contains(t, french.Body, "En attente du locataire")
	require.Contains(t, french.Body, "1\u00a0250,50\u00a0€")
}

func TestDashboard_OfACapture_ShowsTheCapturedAmountOfTheDeposit(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	captured(t, s, deposits(t, s, p, account, 1)[0], 12_050)
	require.Contains(t, b.Get("/dashboard?lang=en").Body, `<span class="amount">€120.50 of €1,250.50</span>`)
	require.Contains(t, b.Get("/dashboard?lang=fr").Body, "<span class=\"amount\">120,50\u00a0€ sur 1\u00a0250,50\u00a0€</span>")

	other, theirs := linked(t, s, "c@d.example", "demo")
	captured(t, s, deposits(t, s, p, theirs, 1)[0], 125_050)
	require.Contains(t, other.Get("/dashboard").Body, `<span class="amount">€1,250.50</span>`, "a capture of the whole amount")
}

func TestDashboard_WithManyDeposits_IsReadPageByPage(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	all := deposits(t, s, p, account, 120)
	seen := map[string]int{}
	path, pages := "/dashboard", 0
	for ; path != ""; pages++ {
		page := b.Get(path)
		for _, code := range page.All("code") {
			if text := code.FirstChild.Data; strings.HasPrefix(text, "D-TEST-") {
				seen[text]++
			}
		}
		path = page.LinkTo("/dashboard?after=")
	}
	require.Equal(t, 3, pages)
	require.Len(t, seen, len(all))
	for reference, times := range seen {
		require.Equal(t, 1, times, reference)
	}
	for _, nonsense := range []string{"x", "AAAA", strings.Repeat("A", 33), "%00"} {
		require.Equal(t, http.StatusOK, b.Get("/dashboard?after="+nonsense).Status)
	}
}

func TestUnlink_EndsTheLinkAndSendsAMail(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	page := b.Get("/dashboard")
	sent := b.Send(page, 0, nil)
	require.Equal(t, "/dashboard?unlinked=1", sent.Location)
	after := b.Get(sent.Location)
	require.Contains(t, after.Body, "The link has ended.")
	require.Contains(t, after.Body, "not linked to a partner")
	require.Equal(t, 1, s.Count("account_links", "account_id = $1 AND revoked_by = 'operator'", account))
	require.Equal(t, 1, s.Count("mails", "recipient = 'a@b.example'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'link.revoke' AND actor LIKE 'operator:opr_%' AND subject = $1", id.Account.Of(account)))

	// The same form once more, from a page left open: nothing more happens.
	require.Equal(t, http.StatusSeeOther, b.Send(page, 0, nil).Status)
	require.Equal(t, 1, s.Count("mails", ""))
}

func TestUnlink_FromAPageLeftOpen_DoesNotEndALinkMadeSince(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.Partner("demo")
	s.Partner("other")
	b, account := linked(t, s, "a@b.example", "demo")
	stale := b.Get("/dashboard")
	b.Send(stale, 0, nil)
	relinked := b.Get("/login?" + connecttest.Query(key, "other", "op-9", unix(s), ""))
	require.Equal(t, http.StatusSeeOther, b.Send(relinked, 0, nil).Status)
	b.Send(stale, 0, nil)
	require.Equal(t, 1, s.Count("account_links", "account_id = $1 AND revoked_at IS NULL", account))
	require.NotContains(t, b.Get("/dashboard?unlinked=1").Body, "The link has ended.", "the page tells how things stand")
}

func TestUnlink_OfAnotherAccountsLink_ChangesNothing(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	s.Partner("demo")
	b, _ := linked(t, s, "a@b.example", "demo")
	other, _ := linked(t, s, "c@d.example", "demo")
	theirs := other.Get("/dashboard").Input("link", "value")
	for _, link := range []string{theirs, "", "lnk_x"} {
		require.Equal(t, http.StatusSeeOther, b.Send(b.Get("/dashboard"), 0, map[string]string{"link": link}).Status)
	}
	require.Equal(t, 2, s.Count("account_links", "revoked_at IS NULL"))
	require.Zero(t, s.Count("mails", ""))
}
