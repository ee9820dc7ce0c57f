package account_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/twofactor"
)

// A mailbox is not a second factor: the link that sets a password leaves the codes on.
func TestReset_OfAPassword_LeavesTwoFactorCodesOn(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.Browser(t)
	signUp(t, s, b, "a@b.example")
	app := b.EnableTOTP(s)
	fresh := s.Browser(t)
	forgot(t, s, fresh, "a@b.example")
	done := fresh.Submit(mailed(t, s, "a@b.example"), map[string]string{"password": "a new password"})
	require.Less(t, done.Status, 400, done.Body)
	sent := fresh.Submit("/login", map[string]string{"email": "a@b.example", "password": "a new password"})
	require.Equal(t, "/login/code", sent.Location)
	require.Equal(t, "/login", fresh.Get("/dashboard").Location)
	require.Equal(t, http.StatusSeeOther, fresh.Submit("/login/code", map[string]string{"code": app.Next()}).Status)
	require.Equal(t, http.StatusOK, fresh.Get("/dashboard").Status)
}

func TestDisableTOTPByAdmin_LetsAnOperatorInWithoutTheApp_AndTellsThem(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.Browser(t)
	signUp(t, s, b, "a@b.example")
	o, _, err := s.Postgres.OperatorByEmail(t.Context(), "a@b.example")
	require.NoError(t, err)
	require.ErrorIs(t, s.Operators.DisableTOTPByAdmin(t.Context(), o.ID), twofactor.ErrOff)
	b.EnableTOTP(s)
	half := s.Browser(t)
	require.Equal(t, "/login/code", half.Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Location)
	require.NoError(t, s.Operators.DisableTOTPByAdmin(t.Context(), o.ID))
	require.Zero(t, s.Count("second_factors", "")+s.Count("recovery_codes", "")+s.Count("sessions", "")+s.Count("half_sign_ins", ""))
	require.Equal(t, "/login", half.Get("/login/code").Location)
	require.Equal(t, 1, s.Count("mails", "recipient = 'a@b.example' AND subject LIKE 'Our support turned two-factor codes off%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.reset_totp' AND actor = 'admin'"))
	require.Equal(t, "/dashboard", s.Browser(t).Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Location)
}
