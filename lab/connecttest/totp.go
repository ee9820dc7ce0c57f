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

// App is an authenticator app with the secret of an operator.
type App struct {
	server   *Server
	secret   secret.Text
	Recovery []string // recovery codes of the operator, in clear
}

// Code gives the code that the app shows now. It may have been used.
func (a *App) Code() string { return a.At(0) }

// At gives the code of so many steps later.
func (a *App) At(steps int64) string {
	code, err := totp.Codes{}.Code(a.secret, twofactor.StepAt(a.server.Clock.Now())+steps)
	if err != nil {
		panic(err)
	}
	return code
}

// Next waits for the next code of the app, by the server's clock, and gives it.
func (a *App) Next() string {
	a.server.Clock.Add(twofactor.Period)
	return a.Code()
}

// Wrong gives six digits that are no code of the app about now.
func (a *App) Wrong() string {
	for _, code := range []string{"000000", "111111", "222222", "333333", "444444", "555555"} {
		if code != a.At(-1) && code != a.At(0) && code != a.At(1) {
			return code
		}
	}
	panic("connecttest: every code is right")
}

// Password is the password of the operators whose codes EnableTOTP turns on.
const Password = "correct horse battery"

// EnableTOTP turns two-factor codes on for the signed-in operator, through the pages. The address is verified, or needs
// not be.
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

// Form gives the number of the form with that intent, for Browser.Send; -1 if the page has no such form.
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

// FormTo gives the number of the form that is sent to a path, for Browser.Send; -1 if the page has no such form.
func (a Answer) FormTo(path string) int {
	return slices.IndexFunc(a.All("form"), func(form *html.Node) bool { return attr(form, "action") == path })
}

// Text gives the text of the first element of that name.
func (a Answer) Text(element string) string {
	return formbrowser.Text(a.first(element, func(*html.Node) bool { return true }))
}
