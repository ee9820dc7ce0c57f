package dashboard_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/site"
	"partnerdeposits/lab/connecttest"
)

func TestEndedSession_GivesTheTextToItsOperatorAlone_AndNeverASecret(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	stranger.Get(site.DashboardPath)
	send := func(values url.Values, header, value string) connecttest.Answer {
		t.Helper()
		change(t, d.Server, "DELETE FROM sessions WHERE operator_id = (SELECT id FROM operators WHERE email = 'a@b.example')")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+d.path, strings.NewReader(values.Encode()))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if header != "" {
			req.Header.Set(header, value)
		}
		return d.b.Do(req)
	}
	logIn := func() connecttest.Answer {
		return d.b.Submit("/login?next="+url.QueryEscape(d.path),
			map[string]string{"email": "a@b.example", "password": "correct horse battery"})
	}
	form := url.Values{"intent": {"release"}, "comment": {words}, "code": {"123456"},
		"currentPassword": {"hunter2 hunter2"}}
	d.b.Get(d.path)
	sent := send(form, "", "")
	require.Equal(t, "/login?next="+url.QueryEscape(d.path), sent.Location)
	kept := sent.Cookie("unsent")
	require.NotNil(t, kept)
	require.True(t, kept.HttpOnly)
	require.Equal(t, 15*60, kept.MaxAge)
	raw, err := base64.RawURLEncoding.DecodeString(kept.Value)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "oven")
	packed, err := d.Cipher.Decrypt(raw, []byte("cookie:unsent"))
	require.NoError(t, err)
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	require.NoError(t, err)
	require.Contains(t, string(plain), "oven")
	require.NotContains(t, string(plain), "123456")
	require.NotContains(t, string(plain), "hunter2")
	require.Contains(t, d.b.Get(sent.Location).Body, "your text comes back")
	require.Equal(t, d.path, logIn().Location)
	page := d.b.Get(d.path)
	require.Contains(t, page.Body, "Your text is back")
	require.NotContains(t, page.Body, "123456")
	require.NotContains(t, page.Body, "hunter2")
	require.Zero(t, d.Count("deposit_transitions", ""))
	d.ask("release", nil) // a form that is sent ends what was kept
	require.NotContains(t, d.b.Get(d.path).Body, "Your text is back")

	// Another site sends nothing that would be kept, and another operator reads nothing.
	require.Nil(t, send(form, "Sec-Fetch-Site", "cross-site").Cookie("unsent"))
	logIn()
	d.b.Get(d.path)
	d.path = site.NewDepositPath
	value := send(url.Values{"intent": {"create"}, "lastName": {words}}, "", "").Cookie("unsent")
	d.path = pathOf(t, d.Server, d.reference)
	require.NotNil(t, value)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/dashboard/deposits/new", nil)
	require.NoError(t, err)
	req.AddCookie(&http.Cookie{Name: "unsent", Value: value.Value})
	read := stranger.Do(req)
	require.Equal(t, http.StatusOK, read.Status)
	require.NotContains(t, read.Body, "Your text is back")

	// A text that is too long is not cut: the page says that it is lost.
	logIn()
	d.b.Get(d.path)
	lost := send(url.Values{"intent": {"release"}, "comment": {strings.Repeat("é", 3000)}}, "", "")
	require.Contains(t, d.b.Get(lost.Location).Body, "too long to be kept")
	logIn()
	require.NotContains(t, d.b.Get(d.path).Body, "Your text is back")
}

func TestLogIn_LeadsBackToThePageOfAMail_OverARefusalAndACode(t *testing.T) {
	d := newDesk(t)
	app := d.b.EnableTOTP(d.Server)
	b := d.NewBrowser(t)
	first := b.Get(d.path)
	require.Equal(t, "/login?next="+url.QueryEscape(d.path), first.Location)
	page := b.Get(first.Location)
	require.NotContains(t, page.Body, "session has ended", "nobody was signed in here")
	refused := b.Send(page, 0, map[string]string{"email": "a@b.example", "password": "not this password"})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "password", refused.AutofocusIDs())
	half := b.Send(refused, 0, map[string]string{"email": "a@b.example", "password": "correct horse battery"})
	require.Equal(t, http.StatusSeeOther, half.Status)
	wrong := b.Send(b.Get(half.Location), 0, map[string]string{"code": app.WrongCode()})
	require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
	require.Equal(t, d.path, b.Send(wrong, 0, map[string]string{"code": app.NextCode()}).Location)
	require.Equal(t, d.path, b.Get(first.Location).Location, "signed in already")
	require.Equal(t, site.DashboardPath, b.Get("/login?next=//evil.example").Location)
}
