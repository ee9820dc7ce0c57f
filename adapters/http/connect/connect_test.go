package connect_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/connecttest"
)

func TestSignup_ThroughAConnectURL_MakesOperatorLinkAndEvent(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.CreatePartner("demo")
	b := s.NewBrowser(t)
	query := good(s, "demo", "op.1/ü", "&email=a%40b.example&name=Chalets+%26+Co")
	page := b.Get("/register?" + query)
	require.Equal(t, "a@b.example", page.InputAttribute("email", "value"))
	require.Equal(t, "Chalets & Co", page.InputAttribute("companyName", "value"))
	require.Contains(t, page.Body, "Partner demo can:")
	require.Zero(t, s.Count("account_links", ""), "a GET never links")

	sent := b.Send(page, 0, map[string]string{"password": password})
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.Equal(t, "/dashboard", sent.Location)
	home := b.Get("/dashboard")
	require.Contains(t, home.Body, "Chalets &amp; Co")
	require.Contains(t, b.Get("/dashboard/partner").Body, "Partner demo")

	var event, data string
	var partnerID id.ID
	require.NoError(t,
		s.Pool.QueryRow(t.Context(), "SELECT name, data, partner_id FROM outbox").Scan(&event, &data, &partnerID))
	require.Equal(t, "rental_operator.linked", event)
	require.Equal(t, p.ID, partnerID)
	var account id.ID
	require.NoError(t,
		s.Pool.QueryRow(t.Context(), "SELECT account_id FROM account_links WHERE revoked_at IS NULL").Scan(&account))
	var got map[string]string
	require.NoError(t, json.Unmarshal([]byte(data), &got))
	require.Equal(t, map[string]string{
		"partnerId": id.Partner.Of(p.ID), "accountId": id.Account.Of(account), "externalId": "op.1/ü",
		"linkedAt": s.Clock.Now().Format("2006-01-02T15:04:05.000Z"),
	}, got)
}

func TestLogin_ThroughAConnectURL_LinksOnce(t *testing.T) {
	s := demo(t)
	require.Equal(t, http.StatusSeeOther, s.NewBrowser(t).Submit("/register", signup("a@b.example")).Status)
	require.Zero(t, s.Count("account_links", ""), "a plain signup links nothing")

	path := "/login?" + good(s, "demo", "op-1", returnTo("https://pms.example/done?x=1"))
	for i, want := range []string{"linked", "already_linked", "already_linked"} {
		sent := s.NewBrowser(t).Submit(path, login("A@B.example")) // as typed on a phone
		require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
		requireResult(t, sent.Location, want, "op-1", "")
		require.Equal(t, 1, s.Count("account_links", ""), i)
		require.Equal(t, 1, s.Count("outbox", ""), i)
	}
}

func TestSignedInOperator_IsAskedAndLinksWithOneButton(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	for _, path := range []string{"/register?", "/login?"} {
		page := b.Get(path + good(s, "demo", "op-1", ""))
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, page.Body, "Link to Partner demo as a@b.example")
		require.Len(t, page.ElementsByTag("form"), 2)
	}
	require.Zero(t, s.Count("account_links", ""), "a GET never links")
	page := b.Get("/login?" + good(s, "demo", "op-1", ""))
	sent := b.Send(page, 0, nil)
	require.Equal(t, "/dashboard", sent.Location)
	require.Equal(t, 1, s.Count("account_links", "revoked_at IS NULL"))
	require.Equal(t, 1, s.Count("outbox", ""))
}

func TestSignedInOperator_MayUseAnotherAccount(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	query := good(s, "demo", "op-1", "&x=%2e")
	sent := b.Send(b.Get("/register?"+query), 1, nil)
	require.Equal(t, "/login?"+query, sent.Location)
	require.Zero(t, s.Count("sessions", ""))
	require.NotEmpty(t, b.Get(sent.Location).InputAttribute("password", "type"))
}

func TestSignedInOperator_WhoseSessionEnded_LogsInAndKeepsTheLink(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	query := good(s, "demo", "op-1", "")
	page := b.Get("/register?" + query)
	s.Clock.Set(s.Clock.Now().Add(14*24*time.Hour + time.Second))
	sent := b.Send(page, 0, nil)
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Equal(t, "/login?"+query, sent.Location)
	require.Zero(t, s.Count("account_links", ""))
}

func TestAccount_LinkedToAnotherPartner_IsRefusedAndOffersTheWayBack(t *testing.T) {
	s := demo(t)
	s.CreatePartner("other")
	b := s.NewBrowser(t)
	b.Submit("/register?"+good(s, "demo", "op-1", ""), signup("a@b.example"))

	path := "/login?" + good(s, "other", "op-9", returnTo("https://pms.example/done"))
	sent := s.NewBrowser(t).Submit(path, login("a@b.example"))
	require.Equal(t, http.StatusConflict, sent.Status)
	require.Equal(t, "account_already_linked", sent.ErrorCode())
	require.NotNil(t, sent.Cookie("session"), "the log-in itself was good: the operator may want to unlink")
	requireResult(t, sent.LinkURLByPrefix("https://pms.example"), "error", "op-9", "account_already_linked")

	signedIn := b.Get(path)
	require.Equal(t, http.StatusConflict, signedIn.Status)
	require.Equal(t, "account_already_linked", signedIn.ErrorCode())
	requireResult(t, signedIn.LinkURLByPrefix("https://pms.example"), "error", "op-9", "account_already_linked")

	require.Equal(t, 1, s.Count("account_links", ""))
	require.Equal(t, 1, s.Count("outbox", ""))

	// Once unlinked, the very same link works.
	b.UnlinkPartner()
	again := b.Send(b.Get(path), 0, nil)
	requireResult(t, again.Location, "linked", "op-9", "")
}

func TestExternalID_OfAnotherAccount_IsAConflictAndASignupLeavesNothing(t *testing.T) {
	s := demo(t)
	query := good(s, "demo", "op-1", returnTo("https://pms.example/done"))
	s.NewBrowser(t).Submit("/register?"+query, signup("a@b.example"))

	b := s.NewBrowser(t)
	form := url.Values{"csrf_token": {b.Get("/register").InputAttribute("csrf_token", "value")}, "email": {"c@d.example"},
		"password": {password}, "companyName": {"C"}}
	sent := b.Post("/register?"+query, form) // its page was opened before the link was made
	require.Equal(t, http.StatusConflict, sent.Status)
	require.Equal(t, "external_id_conflict", sent.ErrorCode())
	require.Nil(t, sent.Cookie("session"))
	requireResult(t, sent.LinkURLByPrefix("https://pms.example"), "error", "op-1", "external_id_conflict")
	require.Equal(t, 1, s.Count("operators", ""))
	require.Equal(t, 1, s.Count("accounts", ""))
	require.Equal(t, 1, s.Count("sessions", ""))
	require.Equal(t, 1, s.Count("outbox", ""))

	// An account of its own, under a number of another: refused, yet signed in.
	s.NewBrowser(t).Submit("/register", signup("e@f.example"))
	login2 := s.NewBrowser(t).Submit("/login?"+query, login("e@f.example"))
	requireRefused(t, login2, "external_id_conflict", "op-1", "a…@b.example")
	// The same account, under another number.
	login3 := s.NewBrowser(t).Submit("/login?"+good(s, "demo", "op-2", ""), login("a@b.example"))
	requireRefused(t, login3, "external_id_conflict", "op-1", "op-2")
	require.Equal(t, 1, s.Count("account_links", ""))
}

func TestEmailTaken_SaysToLogInAndKeepsTheLink(t *testing.T) {
	s := demo(t)
	s.NewBrowser(t).Submit("/register", signup("a@b.example"))
	query := good(s, "demo", "op-1", "&email=x%40y.example")
	sent := s.NewBrowser(t).Submit("/register?"+query, signup("A@b.EXAMPLE"))
	require.Equal(t, http.StatusConflict, sent.Status)
	require.Equal(t, "email_taken", sent.ErrorCode())
	require.Equal(t, "A@b.EXAMPLE", sent.InputAttribute("email", "value"), "what was entered, not what was prefilled")
	require.Equal(t, "Chalets du Lac", sent.InputAttribute("companyName", "value"))
	require.Equal(t, "/login?"+query, sent.LinkURLByPrefix("/login"))
	require.NotContains(t, sent.Body, password)
	require.Zero(t, s.Count("account_links", ""))
}

func TestLinkToTheOtherPage_KeepsEveryParameterToTheByte(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	for _, more := range []string{
		"", "&email=a%40b.example&name=A+B%20C", "&x=1&x=2&&y", "&name=%E2%9C%93&name=%e2%9c%93",
		"&return_url=https%3A%2F%2Fpms.example%2F%3Fa%3D1%26b%3D2", "&return_url=https://pms.example/?a=1",
		"&q=%zz&;&'=*()~!$",
	} {
		query := good(s, "demo", "op.1%", more)
		for path, other := range map[string]string{"/register": "/login", "/login": "/register"} {
			page := b.Get(path + "?" + query)
			require.Equal(t, http.StatusOK, page.Status)
			require.Equal(t, other+"?"+query, page.LinkURLByPrefix(other), "as the browser reads it from the page")
			require.Equal(t, path+"?"+query, page.ElementAttribute("form", "action"))
			french := page.LinkURLByPrefix("?")
			require.Equal(t, "?"+strings.ReplaceAll(query, "&&", "&")+"&lang=fr", french)
			require.Equal(t, "fr", b.Get(path+french).ElementAttribute("html", "lang"))
			b = s.NewBrowser(t)
		}
	}
	require.Equal(t, "/login", b.Get("/register").LinkURLByPrefix("/login"))
	require.Equal(t, "/register", b.Get("/login").LinkURLByPrefix("/register"))
}
