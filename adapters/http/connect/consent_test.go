package connect_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/connecttest"
)

func TestConsent_NamesWhatIsLinked(t *testing.T) {
	s := demo(t)
	query := good(s, "demo", "op-17/ü", "")
	for _, path := range []string{"/register?", "/login?"} {
		page := s.NewBrowser(t).Get(path + query)
		require.Contains(t, page.Body, "Your number at Partner demo")
		require.Contains(t, page.Body, "op-17/ü")
	}
	b := s.NewBrowser(t)
	b.Submit("/register", signup("a@b.example"))
	for _, path := range []string{"/register?", "/login?"} {
		page := b.Get(path + query)
		for _, named := range []string{"Partner demo", "op-17/ü", "a@b.example", "Chalets du Lac"} {
			require.Contains(t, page.Body, named)
		}
		french := b.Get(path + query + "&lang=fr")
		require.Contains(t, french.Body, "Votre numéro chez Partner demo")
		b.Get(path + query + "&lang=en")
	}
}

// requireRefused wants a page without consent that names all of named.
func requireRefused(t *testing.T, page connecttest.Answer, code string, named ...string) {
	t.Helper()
	require.Equal(t, http.StatusConflict, page.Status, page.Body)
	require.Equal(t, code, page.ErrorCode())
	require.Empty(t, page.InputAttribute("intent", "name"), "nothing to agree to")
	require.Empty(t, page.InputAttribute("password", "name"))
	for _, n := range named {
		require.Contains(t, page.Body, n)
	}
}

func TestConsent_ThatMustBeRefused_IsNotOffered(t *testing.T) {
	s := demo(t)
	s.CreatePartner("other")
	owner := s.NewBrowser(t)
	owner.Submit("/register?"+good(s, "demo", "op-1", ""), signup("lea@b.example"))
	for _, path := range []string{"/register?", "/login?"} {
		requireRefused(t, owner.Get(path+good(s, "other", "op-9", "")), "account_already_linked",
			"lea@b.example", "Chalets du Lac", "Partner demo", "op-1", "Partner other", "op-9")
		page := owner.Get(path + good(s, "demo", "op-2", returnTo("https://pms.example/done")))
		requireRefused(t, page, "external_id_conflict", "lea@b.example", "Partner demo", "op-1", "op-2")
		requireResult(t, page.LinkURLByPrefix("https://pms.example"), "error", "op-2", "external_id_conflict")
		require.Equal(t, http.StatusOK, owner.Get(path+good(s, "demo", "op-1", "")).Status, "linked in the very same way")
	}

	stranger := s.NewBrowser(t)
	stranger.Submit("/register", signup("kim@c.example"))
	query := good(s, "demo", "op-1", "")
	page := stranger.Get("/login?" + query)
	requireRefused(t, page, "external_id_conflict", "kim@c.example", "op-1", "l…@b.example")
	require.NotContains(t, page.Body, "lea@")
	require.Equal(t, "/login?"+query, stranger.Send(page, 0, nil).Location, "another account may be used")

	nobody := s.NewBrowser(t)
	page = nobody.Get("/register?" + query)
	requireRefused(t, page, "external_id_conflict", "op-1", "l…@b.example")
	require.Equal(t, "/login?"+query, page.LinkURLByPrefix("/login"))
	form := nobody.Get("/login?" + query)
	require.Equal(t, http.StatusOK, form.Status)
	require.Contains(t, form.Body, "l…@b.example")
	require.Equal(t, "/dashboard", nobody.Send(form, 0, login("lea@b.example")).Location)
	require.Equal(t, 1, s.Count("account_links", ""))
}

func TestConnectURL_FromBeforeARevocation_IsExpired(t *testing.T) {
	s := demo(t)
	owner, old := s.NewBrowser(t), good(s, "demo", "op-1", "")
	owner.Submit("/register?"+old, signup("lea@b.example"))
	s.Clock.Set(s.Clock.Now().Add(2 * time.Second))
	owner.UnlinkPartner()
	require.Zero(t, s.Count("account_links", "revoked_at IS NULL"))

	finder := s.NewBrowser(t) // who finds the old mail
	token := finder.Get("/register").InputAttribute("csrf_token", "value")
	for _, path := range []string{"/register?", "/login?"} {
		require.Equal(t, http.StatusGone, finder.Get(path+old).Status)
		require.Equal(t, "expired", finder.Get(path+old).ErrorCode())
		sent := finder.Post(path+old,
			url.Values{"csrf_token": {token}, "email": {"x@y.example"}, "password": {password}, "companyName": {"C"}})
		require.Equal(t, "expired", sent.ErrorCode(), path)
	}
	require.Zero(t, s.Count("account_links", "revoked_at IS NULL"))
	require.Equal(t, 1, s.Count("operators", ""))

	require.Equal(t, http.StatusOK, finder.Get("/register?"+good(s, "demo", "op-2", "")).Status, "another number")
	require.Equal(t, "/dashboard", owner.Send(owner.Get("/login?"+good(s, "demo", "op-1", "")), 0, nil).Location,
		"signed in the second of the revocation")
	require.Equal(t, 1, s.Count("account_links", "revoked_at IS NULL"))
}

func TestLinkedOperator_IsNotAskedAgain(t *testing.T) {
	s := demo(t)
	b := s.NewBrowser(t)
	b.Submit("/register?"+good(s, "demo", "op-1", ""), signup("a@b.example"))
	for _, path := range []string{"/register?", "/login?"} {
		page := b.Get(path + good(s, "demo", "op-1", ""))
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, page.Body, "You are linked")
		require.Contains(t, page.Body, "Partner demo")
		require.Equal(t, "/dashboard", page.LinkURLByPrefix("/dashboard"))
		require.NotContains(t, page.Body, "can:", "nothing is to be agreed to")
		require.Empty(t, page.InputAttribute("intent", "value"), "no way back is wanted")

		page = b.Get(path + good(s, "demo", "op-1", returnTo("https://pms.example/done")))
		require.Equal(t, "link", page.InputAttribute("intent", "value"))
		requireResult(t, b.Send(page, 0, nil).Location, "already_linked", "op-1", "")
		require.Contains(t, b.Get(path+good(s, "demo", "op-1", "&lang=fr")).Body, "Ouvrir")
		b.Get(path + good(s, "demo", "op-1", "&lang=en"))
	}
	require.Equal(t, 1, s.Count("account_links", ""))
	require.Equal(t, 1, s.Count("outbox", ""))
}
