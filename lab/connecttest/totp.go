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

// App is an operator's authenticator app: it computes the two-factor codes of the operator's secret.
type App struct {
	server   *Server
	secret   secret.Text
	Recovery []string // The operator's recovery codes in plain text.
}

// Code returns the two-factor code that the app shows now. The code may already have been used.
func (a *App) Code() string { return a.At(0) }

// At returns the two-factor code that the app shows the given number of steps after now; a negative number means
// before.
func (a *App) At(steps int64) string {
	code, err := totp.Codes{}.Code(a.secret, twofactor.StepAt(a.server.Clock.Now())+steps)
	if err != nil {
		panic(err)
	}
	return code
}

// Next moves the server's clock on by one period and returns the two-factor code that the app then shows.
func (a *App) Next() string {
	a.server.Clock.Add(twofactor.Period)
	return a.Code()
}

// Wrong returns six digits that are neither the app's current code nor the one before or after.
func (a *App) Wrong() string {
	for _, code := range []string{"000000", "111111", "222222", "333333", "444444", "555555"} {
		if code != a.At(-1) && code != a.At(0) && code != a.At(1) {
			return code
		}
	}
	panic("connecttest: every code is right")
}

// Password is the password of the operators for whom tests turn on two-factor codes.
const Password = "correct horse battery"

// EnableTOTP turns two-factor codes on for the signed-in operator, through the pages of the dashboard, and returns
// the operator's app. The operator's address must be verified already, unless the server needs no verification.
func (b *Browser) EnableTOTP(s *Server) *App {
	b.t.Helper()
	page := b.Get("/dashboard/settings")
	shown := b.Send(page, page.Form("enable_totp"), map[string]string{"currentPassword": Password})
	require.Equal(b.t, http.StatusOK, shown.Status, shown.Body)
	a := &App{server: s, secret: secret.Text(strings.ReplaceAll(shown.Text("code"), " ", ""))}
	done := b.Send(shown, shown.Form("confirm_totp"), map[string]string{"code": a.Code()})
	require.Equal(b.t, http.StatusOK, done.Status, done.Body)
	for _, code := range done.All("code") {
		a.Recovery = append(a.Recovery, code.FirstChild.Data)
	}
	require.Len(b.t, a.Recovery, twofactor.RecoveryCodes)
	return a
}

// Form returns the number of a page's form whose hidden field "intent" has the given value, for Browser.Send; -1
// if the page has no such form.
func (a Answer) Form(intent string) int {
	for i, form := range a.All("form") {
		for _, input := range all(form, "input") {
			if attr(input, "name") == "intent" && attr(input, "value") == intent {
				return i
			}
		}
	}
	return -1
}

// FormTo returns the number of a page's form that is sent to a path, for Browser.Send; -1 if the page has no such
// form.
func (a Answer) FormTo(path string) int {
	return slices.IndexFunc(a.All("form"), func(form *html.Node) bool { return attr(form, "action") == path })
}

// Text returns the text of a page's first element with that tag name.
func (a Answer) Text(element string) string {
	return formbrowser.Text(a.first(element, func(*html.Node) bool { return true }))
}
