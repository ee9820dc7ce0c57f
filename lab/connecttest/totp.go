package connecttest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/adapters/totp"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/formbrowser"
)

// AuthenticatorApp computes the two-factor codes of an operator's secret.
type AuthenticatorApp struct {
	server   *Server
	secret   secret.Text
	Recovery []string // Recovery codes in plain text.
}

// Code returns the two-factor code of now, which may already have been used.
func (a *AuthenticatorApp) Code() string { return a.CodeAt(0) }

// CodeAt returns the two-factor code of steps periods after now, or before if negative.
func (a *AuthenticatorApp) CodeAt(steps int64) string {
	code, err := totp.CodeGenerator{}.Code(a.secret, twofactor.CodePeriodNumberAt(a.server.Clock.Now())+steps)
	if err != nil {
		panic(err)
	}
	return code
}

// NextCode moves the server's clock on by one period and returns the new two-factor code.
func (a *AuthenticatorApp) NextCode() string {
	a.server.Clock.Add(twofactor.CodePeriod)
	return a.Code()
}

// WrongCode returns six digits that are neither the current two-factor code nor a neighbouring one.
func (a *AuthenticatorApp) WrongCode() string {
	for _, code := range []string{"000000", "111111", "222222", "333333", "444444", "555555"} {
		if code != a.CodeAt(-1) && code != a.CodeAt(0) && code != a.CodeAt(1) {
			return code
		}
	}
	panic("connecttest: every code is right")
}

// Password is the password of operators with two-factor codes.
const Password = "correct horse battery"

// EnableTOTP turns two-factor codes on for the signed-in operator through the dashboard. The operator's address
// must be verified where the server verifies addresses.
func (b *Browser) EnableTOTP(s *Server) *AuthenticatorApp {
	b.t.Helper()
	page := b.Get("/dashboard/settings")
	shown := b.Send(page, page.FormIndexByIntent("enable_totp"), map[string]string{"currentPassword": Password})
	require.Equal(b.t, http.StatusOK, shown.Status, shown.Body)
	a := &AuthenticatorApp{server: s, secret: secret.Text(strings.ReplaceAll(shown.ElementText("code"), " ", ""))}
	done := b.Send(shown, shown.FormIndexByIntent("confirm_totp"), map[string]string{"code": a.Code()})
	require.Equal(b.t, http.StatusOK, done.Status, done.Body)
	for _, code := range done.ElementsByTag("code") {
		a.Recovery = append(a.Recovery, code.FirstChild.Data)
	}
	require.Len(b.t, a.Recovery, twofactor.RecoveryCodeCount)
	return a
}

// FormIndexByIntent returns the number, for Browser.Send, of a page's form with that hidden field "intent"; -1:
// none.
func (a Answer) FormIndexByIntent(intent string) int {
	for i, form := range a.ElementsByTag("form") {
		for _, input := range all(form, "input") {
			if attr(input, "name") == "intent" && attr(input, "value") == intent {
				return i
			}
		}
	}
	return -1
}

// FormIndexByPath returns the number, for Browser.Send, of a page's form that is sent to a path; -1: none.
func (a Answer) FormIndexByPath(path string) int {
	return slices.IndexFunc(a.ElementsByTag("form"), func(form *html.Node) bool { return attr(form, "action") == path })
}

func (a Answer) ElementText(element string) string {
	return formbrowser.ElementText(a.first(element, func(*html.Node) bool { return true }))
}
