package account_test

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

// verified signs an operator up and verifies the address.
func verified(t *testing.T, s *connecttest.Server, b *connecttest.Browser, email string) {
	t.Helper()
	signUp(t, s, b, email)
	done := b.Submit(mailed(t, s, email), nil)
	require.Equal(t, http.StatusOK, done.Status, done.Body)
}

// A stranger with the address of somebody else turns codes on neither with a form nor with a secret from before.
func TestTOTP_OfAnUnverifiedAddress_IsRefused(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	signUp(t, s, b, "victim@bank.example")
	settings := b.Get("/dashboard/settings")
	require.Negative(t, settings.FormIndexByIntent("enable_totp"))
	require.Contains(t, settings.Body, "Verify your e-mail address first: then you can set them up here.")
	require.Contains(t, b.Get("/dashboard/settings?lang=fr").Body, "Vérifiez d’abord votre adresse e-mail")
	for _, intent := range []string{"enable_totp", "confirm_totp"} {
		refused := b.Post("/dashboard/settings", url.Values{
			"csrf_token": {settings.InputAttribute("csrf_token", "value")}, "intent": {intent}, "currentPassword": {password},
			"code": {"123456"},
		})
		require.Equal(t, http.StatusForbidden, refused.Status, intent)
		require.Equal(t, "email_not_verified", refused.ErrorCode(), intent)
		require.GreaterOrEqual(t, refused.FormIndexByIntent("resend_verification"), 0, "the page offers the mail")
	}
	require.Zero(t, s.Count("second_factors", ""))
}

// Whoever has taken a session turns no codes on with it, and guesses twenty passwords an hour over all forms.
func TestPasswordsOfTheSettings_AreAskedAndGuessedTwentyTimesAnHour(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	verified(t, s, b, "a@b.example")
	settings := b.Get("/dashboard/settings")
	for i := range 20 {
		intent := []string{"enable_totp", "change_password", "change_email"}[i%3]
		fields := map[string]string{"currentPassword": "wrong password"}
		switch intent {
		case "change_password":
			fields["newPassword"] = "another password"
		case "change_email":
			fields["email"] = "x@y.example"
		}
		refused := b.Send(settings, settings.FormIndexByIntent(intent), fields)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, refused.Body)
		code := map[string]string{"enable_totp": "invalid_field"}[intent] // beside its own field
		require.Equal(t, cmp.Or(code, "bad_credentials"), refused.ErrorCode(), intent)
		require.Contains(t, refused.Body, `href="#`+intent+`-currentPassword"`)
		require.NotContains(t, refused.Body, "wrong password")
	}
	for _, intent := range []string{"enable_totp", "change_password"} {
		n := settings.FormIndexByIntent(intent)
		require.Equal(t, http.StatusTooManyRequests, b.Send(settings, n,
			map[string]string{"currentPassword": password}).Status, "one limit for all forms with a password")
	}
	require.Zero(t, s.Count("second_factors", ""))
}

// A secret that nobody confirmed is of no use to whoever takes the session later.
func TestTOTP_ASecretThatWaitsForAnHour_IsNotConfirmed(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	verified(t, s, b, "a@b.example")
	settings := b.Get("/dashboard/settings")
	shown := b.Send(settings, settings.FormIndexByIntent("enable_totp"), map[string]string{"currentPassword": password})
	require.Equal(t, http.StatusOK, shown.Status, shown.Body)
	s.Clock.Add(twofactor.EnrolmentLifetime)
	refused := b.Send(shown, shown.FormIndexByIntent("confirm_totp"), map[string]string{"code": "000000"})
	require.Equal(t, http.StatusConflict, refused.Status)
	require.NotContains(t, refused.Body, shown.ElementText("code"), "the secret is not shown once more")
}

// Codes that a stranger turned on, with a version that let them, end when the owner of the address proves it.
func TestReset_AsTheFirstProofOfTheAddress_EndsCodesAndSessions_AndShowsWhatWasMadeBefore(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	p := s.CreatePartner("demo")
	stranger := s.NewBrowser(t)
	query := connecttest.SignedQuery(servicetest.ConnectSecret, "demo", "op-1",
		strconv.FormatInt(s.Clock.Now().Unix(), 10), "")
	sent := stranger.Submit("/register?"+query,
		map[string]string{"email": "victim@bank.example", "password": password, "companyName": "Chalets"})
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.NotContains(t, stranger.Get("/dashboard").Body, "before you proved")
	made := stranger.Submit("/dashboard/deposits/new",
		map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "2031-07-08"})
	require.Equal(t, http.StatusSeeOther, made.Status, made.Body)
	set(t, s, "UPDATE operators SET verified_at = now()")
	stranger.EnableTOTP(s)
	set(t, s, "UPDATE operators SET verified_at = NULL")
	s.Clock.Add(time.Minute)

	owner := s.NewBrowser(t)
	forgot(t, s, owner, "victim@bank.example")
	require.Equal(t, "/login?done=reset",
		owner.Submit(mailed(t, s, "victim@bank.example"), map[string]string{"password": "my own password"}).Location)
	require.Zero(t,
		s.Count("second_factors", "")+s.Count("recovery_codes", "")+s.Count("sessions", "")+s.Count("half_sign_ins", ""))
	require.Equal(t, 1, s.Count("mails", "recipient = 'victim@bank.example' AND subject LIKE 'Two-factor codes are off%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.first_proof'"))
	require.Equal(t, "/dashboard", owner.Submit("/login",
		map[string]string{"email": "victim@bank.example", "password": "my own password"}).Location, "no code is asked")
	require.Equal(t, "/login", stranger.Get("/dashboard").Location)

	first := owner.Get("/dashboard")
	require.Contains(t, first.Body, "Made before you proved your address")
	require.Contains(t, first.Body, "The account is linked to "+p.Name+" since ")
	require.Contains(t, first.Body, "Show all 1<")
	require.Contains(t, owner.Get("/dashboard?lang=fr").Body, "Créé avant que vous ne confirmiez votre adresse")
	require.Equal(t, 1, s.Count("account_links", "revoked_at IS NULL"), "the link stays")
	s.Clock.Add(8 * 24 * time.Hour)
	again := s.NewBrowser(t)
	again.Submit("/login", map[string]string{"email": "victim@bank.example", "password": "my own password"})
	require.NotContains(t, again.Get("/dashboard").Body, "Made before")
}

func TestReset_OfAVerifiedAddress_ShowsNothingOfBefore(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	verified(t, s, b, "a@b.example")
	require.Equal(t, http.StatusSeeOther, b.Submit("/dashboard/deposits/new",
		map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "2031-07-08"}).Status)
	forgot(t, s, b, "a@b.example")
	require.Equal(t, http.StatusSeeOther,
		b.Submit(mailed(t, s, "a@b.example"), map[string]string{"password": "another password"}).Status)
	b.Submit("/login", map[string]string{"email": "a@b.example", "password": "another password"})
	require.NotContains(t, b.Get("/dashboard").Body, "Made before")
	require.Zero(t, s.Count("audit_log", "action = 'operator.first_proof'"))
}

func set(t *testing.T, s *connecttest.Server, sql string) {
	t.Helper()
	_, err := s.Pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// A mailbox is not a second factor: the link that sets a password leaves the codes on.
func TestReset_OfAPassword_LeavesTwoFactorCodesOn(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	verified(t, s, b, "a@b.example")
	app := b.EnableTOTP(s)
	fresh := s.NewBrowser(t)
	forgot(t, s, fresh, "a@b.example")
	done := fresh.Submit(mailed(t, s, "a@b.example"), map[string]string{"password": "a new password"})
	require.Less(t, done.Status, 400, done.Body)
	sent := fresh.Submit("/login", map[string]string{"email": "a@b.example", "password": "a new password"})
	require.Equal(t, "/login/code", sent.Location)
	require.Equal(t, "/login", fresh.Get("/dashboard").Location)
	require.Equal(t, http.StatusSeeOther, fresh.Submit("/login/code", map[string]string{"code": app.NextCode()}).Status)
	require.Equal(t, http.StatusOK, fresh.Get("/dashboard").Status)
}

func TestDisableTOTPByAdmin_LetsAnOperatorInWithoutTheApp_AndTellsThem(t *testing.T) {
	t.Parallel()
	s := mailing(t)
	b := s.NewBrowser(t)
	verified(t, s, b, "a@b.example")
	o, _, err := s.Postgres.Operators.OperatorByEmail(t.Context(), "a@b.example")
	require.NoError(t, err)
	require.ErrorIs(t, s.Operators.DisableTOTPByAdmin(t.Context(), o.ID), twofactor.ErrNotEnabled)
	b.EnableTOTP(s)
	half := s.NewBrowser(t)
	require.Equal(t, "/login/code",
		half.Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Location)
	require.NoError(t, s.Operators.DisableTOTPByAdmin(t.Context(), o.ID))
	require.Zero(t,
		s.Count("second_factors", "")+s.Count("recovery_codes", "")+s.Count("sessions", "")+s.Count("half_sign_ins", ""))
	require.Equal(t, "/login", half.Get("/login/code").Location)
	require.Equal(t, 1,
		s.Count("mails", "recipient = 'a@b.example' AND subject LIKE 'Our support turned two-factor codes off%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.reset_totp' AND actor = 'admin'"))
	require.Equal(t, "/dashboard",
		s.NewBrowser(t).Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Location)
}
