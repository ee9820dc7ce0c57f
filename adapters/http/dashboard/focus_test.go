package dashboard_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A page with mistakes has the focus in the first field that is wrong, in whichever form.
func TestMistakes_HaveTheFocus(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 2)
	secured(t, s, made[0], time.Hour)
	active, pending := pathOf(t, s, made[0]), pathOf(t, s, made[1])
	for _, c := range []struct {
		path, intent string
		fields       map[string]string
		focus        string
	}{
		{"/dashboard/settings", "change_password",
			map[string]string{"currentPassword": "no", "newPassword": "another password"},
			"change_password-currentPassword"},
		{"/dashboard/settings", "change_password", map[string]string{"currentPassword": secretWord, "newPassword": "x"},
			"change_password-newPassword"},
		{"/dashboard/settings", "change_email", map[string]string{"email": "x", "currentPassword": secretWord},
			"change_email-email"},
		{"/dashboard/settings", "change_company", map[string]string{"companyName": ""}, "change_company-companyName"},
		{"/dashboard/settings", "change_language", map[string]string{"locale": "de"}, "change_language-locale"},
		{"/dashboard/settings", "enable_totp", map[string]string{"currentPassword": "no"}, "enable_totp-currentPassword"},
		{active + "/claim", "capture", map[string]string{"amount": "1.234"}, "capture-amount"},
		{active + "/claim", "capture", map[string]string{"amount": "10", "description": "a\x00"}, "capture-description"},
		{active, "release", map[string]string{"comment": "a\x00"}, "release-comment"},
		{pending, "send_link", map[string]string{"email": "x"}, "send_link-email"},
		{"/dashboard/deposits/new", "create", map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "x",
			"email": "x"}, "endsOn"},
	} {
		page := b.Get(c.path)
		sent := b.Send(page, form(t, page, c.intent), c.fields)
		require.Equal(t, http.StatusUnprocessableEntity, sent.Status, "%s %v", c.intent, c.fields)
		require.Equal(t, c.focus, sent.AutofocusIDs(), "%s %v", c.intent, c.fields)
	}
	require.Empty(t, b.Get("/dashboard/settings").AutofocusIDs(), "without a mistake")
}
