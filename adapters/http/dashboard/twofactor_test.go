package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/connecttest"
)

const password = "correct horse battery"

// registered gives a signed-in operator without a partner.
func registered(t *testing.T, s *connecttest.Server, email string) *connecttest.Browser {
	t.Helper()
	b := s.NewBrowser(t)
	sent := b.Submit("/register", map[string]string{"email": email, "password": password, "companyName": "Chalets"})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	return b
}

func TestTOTP_TurnedOn_ShowsTheSecretOnce_AndIsConfirmedByACode(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	elsewhere := s.NewBrowser(t)
	require.Equal(t, http.StatusSeeOther,
		elsewhere.Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Status)

	shown := b.Send(b.Get("/dashboard/settings"), form(t, b.Get("/dashboard/settings"), "enable_totp"),
		map[string]string{"currentPassword": password})
	require.Equal(t, http.StatusOK, shown.Status)
	require.Regexp(t, `^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$`, shown.ElementText("code"))
	require.NotEmpty(t, shown.ElementAttribute("path", "d"), "the QR code is drawn in the page")
	require.NotContains(t, shown.Body, "data:image/png")
	require.Zero(t, s.Count("second_factors", "confirmed_at IS NOT NULL"))
	require.Equal(t, http.StatusSeeOther,
		s.NewBrowser(t).Submit("/login", map[string]string{"email": "a@b.example", "password": password}).Status)
	require.Zero(t, s.Count("half_sign_ins", ""), "nothing is asked before the first code")

	wrong := b.Send(shown, form(t, shown, "confirm_totp"), map[string]string{"code": "00000"})
	require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
	require.Equal(t, shown.ElementText("code"), wrong.ElementText("code"), "the same secret")

	app := b.EnableTOTP(s)
	require.Equal(t, 1, s.Count("second_factors", "confirmed_at IS NOT NULL"))
	require.Zero(t, s.Count("second_factors", "position(convert_to($1, 'UTF8') in secret) > 0",
		strings.ReplaceAll(shown.ElementText("code"), " ", "")), "encrypted")
	require.Equal(t, 1, s.Count("sessions", ""), "the others ended")
	require.Equal(t, http.StatusSeeOther, elsewhere.Get("/dashboard").Status)
	page := b.Get("/dashboard/settings")
	require.Contains(t, page.ElementText("dl"), "10")
	for _, code := range app.Recovery {
		require.NotContains(t, page.Body, code)
		require.Zero(t, s.Count("recovery_codes", "encode(code_hash, 'escape') LIKE '%' || $1 || '%'", code))
	}
	require.Equal(t, 1, s.Count("mails", "recipient = 'a@b.example' AND subject LIKE 'Two-factor codes are on%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.enable_totp' AND subject LIKE 'opr_%'"))

	token := page.InputAttribute("csrf_token", "value")
	require.Equal(t, http.StatusConflict, b.Post("/dashboard/settings",
		url.Values{"csrf_token": {token}, "intent": {"enable_totp"}, "currentPassword": {password}}).Status)
	require.Equal(t, http.StatusConflict, b.Post("/dashboard/settings",
		url.Values{"csrf_token": {token}, "intent": {"confirm_totp"}, "code": {app.NextCode()}}).Status)
	require.Equal(t, 1, s.Count("second_factors", "confirmed_at IS NOT NULL"), "the secret is not replaced")
}

func TestTOTP_NewRecoveryCodes_ReplaceTheOldOnes_AndNeedACode(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	app := b.EnableTOTP(s)
	page := b.Get("/dashboard/settings")
	for _, code := range []string{app.Code(), app.WrongCode(), ""} { // used, wrong, none
		refused := b.Send(page, form(t, page, "new_recovery_codes"), map[string]string{"code": code})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Equal(t, "new_recovery_codes-code", refused.AutofocusIDs())
	}
	done := b.Send(page, form(t, page, "new_recovery_codes"), map[string]string{"code": app.NextCode()})
	require.Equal(t, http.StatusOK, done.Status, done.Body)
	require.NotNil(t, done.Cookie("session"), "the session is renewed, and the page sends its forms")
	require.NotContains(t, done.Body, app.Recovery[0])
	require.Contains(t, done.Body, `data-copy="codes"`)
	done.RequireNoForeignScript(t, "recovery codes")
	require.Equal(t, twofactor.RecoveryCodeCount, s.Count("recovery_codes", ""))
	page = b.Get("/dashboard/settings")
	refused := b.Send(page, form(t, page, "new_recovery_codes"), map[string]string{"code": app.Recovery[0]})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status, "an old recovery code")
	out := b.Send(done, 0, nil) // the log-out form of the page that came with the new session
	require.Equal(t, http.StatusSeeOther, out.Status, out.Body)
	require.Zero(t, s.Count("sessions", ""))
}

func TestTOTP_TurnedOff_NeedsThePasswordAndACode(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	app := b.EnableTOTP(s)
	page := b.Get("/dashboard/settings")
	n := form(t, page, "disable_totp")
	code := app.NextCode()
	for password, code := range map[string]string{"wrong password": code, password: app.WrongCode()} {
		refused := b.Send(page, n, map[string]string{"currentPassword": password, "code": code})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Equal(t, 1, s.Count("second_factors", ""))
	}
	other := registered(t, s, "c@d.example").EnableTOTP(s)
	refused := b.Send(page, n, map[string]string{"currentPassword": password, "code": other.Recovery[0]})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status, "the recovery code of another operator")
	done := b.Send(page, n, map[string]string{"currentPassword": password, "code": app.Recovery[0]})
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	require.NotNil(t, done.Cookie("session"))
	require.Contains(t, b.Get(done.Location).Body, "Two-factor codes are off.")
	require.Zero(t, s.Count("second_factors f JOIN operators o ON o.id = f.operator_id", "o.email = 'a@b.example'"))
	require.Equal(t, twofactor.RecoveryCodeCount, s.Count("recovery_codes", ""), "those of the other operator")
	require.Equal(t, 1, s.Count("mails", "subject LIKE 'Two-factor codes are off%'"))
	require.Equal(t, 1, s.Count("audit_log", "action = 'operator.disable_totp'"))
	require.Equal(t, "/dashboard", s.NewBrowser(t).Submit("/login",
		map[string]string{"email": "a@b.example", "password": password}).Location, "the password is enough again")
	require.Equal(t, http.StatusConflict, b.Post("/dashboard/settings", url.Values{
		"csrf_token": {b.Get("/dashboard/settings").InputAttribute("csrf_token", "value")}, "intent": {"new_recovery_codes"},
		"code": {app.Code()},
	}).Status)
}

func TestChangeEmail_WithCodesOn_NeedsACode(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	app := b.EnableTOTP(s)
	page := b.Get("/dashboard/settings")
	n := form(t, page, "change_email")
	for _, code := range []string{"", app.WrongCode()} {
		refused := b.Send(page, n, map[string]string{"email": "new@b.example", "currentPassword": password, "code": code})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Equal(t, "#change_email-code", refused.LinkURLByPrefix("#change_email-code"))
		require.Zero(t, s.Count("operators", "email = 'new@b.example'"))
		require.Zero(t, s.Count("operator_tokens", "kind = 'change_email'"))
	}
	done := b.Send(page, n, map[string]string{"email": "new@b.example", "currentPassword": password,
		"code": app.NextCode()})
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
}

// A stolen session guesses neither the password nor the code on the settings.
func TestTOTP_GuessesOnTheSettings_AreBounded(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	app := b.EnableTOTP(s)
	page := b.Get("/dashboard/settings")
	for range twofactor.MaxTriesPerNetwork {
		require.Equal(t, http.StatusUnprocessableEntity,
			b.Send(page, form(t, page, "new_recovery_codes"), map[string]string{"code": app.WrongCode()}).Status)
	}
	refused := b.Send(page, form(t, page, "disable_totp"),
		map[string]string{"currentPassword": password, "code": app.NextCode()})
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, "too_many_codes", refused.ErrorCode())
	s.Clock.Add(twofactor.NetworkTriesWindow)
	require.Equal(t, http.StatusSeeOther, b.Send(page, form(t, page, "disable_totp"),
		map[string]string{"currentPassword": password, "code": app.Code()}).Status)
}

// capturing gives the page that asks once more before a capture.
func capturing(t *testing.T, s *connecttest.Server, b *connecttest.Browser, reference string) connecttest.Answer {
	t.Helper()
	page := b.Get(pathOf(t, s, reference) + "/claim")
	asked := b.Send(page, form(t, page, "capture"),
		map[string]string{"amount": "100", "reason": "damage", "description": "The lamp"})
	require.Equal(t, http.StatusOK, asked.Status, asked.Body)
	return asked
}

func TestCapture_WithCodesOn_NeedsACode_ThatWorksOnce(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 2)
	secured(t, s, made[0], 48*time.Hour)
	secured(t, s, made[1], 48*time.Hour)
	require.Empty(t, capturing(t, s, b, made[0]).InputAttribute("code", "id"), "no code while codes are off")
	app := b.EnableTOTP(s)
	other := registered(t, s, "c@d.example").EnableTOTP(s)

	asked := capturing(t, s, b, made[0])
	require.Equal(t, "code", asked.InputAttribute("code", "id"))
	app.NextCode()
	for _, code := range []string{app.WrongCode(), "", other.Code(), other.Recovery[0]} {
		refused := b.Send(asked, form(t, asked, "capture"), map[string]string{"code": code})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, code)
		require.Equal(t, "wrong_code", refused.ErrorCode())
		require.Equal(t, "The lamp", refused.InputAttribute("description", "value"), "the form is kept")
		require.Equal(t, deposit.Active, depositOf(t, s, made[0]).Status)
	}
	require.Zero(t, s.Count("payments", "kind = 'collection'"))
	withoutField := url.Values{}
	for _, name := range []string{"csrf_token", "intent", "confirm", "version", "form", "amount", "reason",
		"description"} {
		withoutField.Set(name, asked.InputAttribute(name, "value"))
	}
	require.Equal(t, http.StatusUnprocessableEntity, b.Post(pathOf(t, s, made[0]), withoutField).Status)
	require.Equal(t, deposit.Active, depositOf(t, s, made[0]).Status)

	s.Clock.Add(twofactor.NetworkTriesWindow)
	code := app.Code()
	done := b.Send(asked, form(t, asked, "capture"), map[string]string{"code": code})
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	require.Equal(t, deposit.Captured, depositOf(t, s, made[0]).Status)
	twice := b.Send(asked, form(t, asked, "capture"), map[string]string{"code": code})
	require.Equal(t, http.StatusSeeOther, twice.Status, "a double click is answered, not refused")
	require.Equal(t, 1, s.Count("payments", "kind = 'collection'"))

	second := capturing(t, s, b, made[1])
	replayed := b.Send(second, form(t, second, "capture"), map[string]string{"code": code})
	require.Equal(t, http.StatusUnprocessableEntity, replayed.Status, "the code of the first capture")
	require.Equal(t, deposit.Active, depositOf(t, s, made[1]).Status)
	require.Equal(t, http.StatusSeeOther,
		b.Send(second, form(t, second, "capture"), map[string]string{"code": app.NextCode()}).Status)
}

func TestCapture_GuessedCodes_AreBounded_AndARefusedCaptureKeepsTheCode(t *testing.T) {
	s, p, b, account := demo(t)
	reference := deposits(t, s, p, account, 1)[0]
	secured(t, s, reference, 48*time.Hour)
	app := b.EnableTOTP(s)
	asked := capturing(t, s, b, reference)
	for range twofactor.MaxTriesPerNetwork {
		require.Equal(t, http.StatusUnprocessableEntity,
			b.Send(asked, form(t, asked, "capture"), map[string]string{"code": app.WrongCode()}).Status)
	}
	require.Equal(t, http.StatusTooManyRequests,
		b.Send(asked, form(t, asked, "capture"), map[string]string{"code": app.NextCode()}).Status)
	require.Equal(t, deposit.Active, depositOf(t, s, reference).Status)

	s.Clock.Add(twofactor.NetworkTriesWindow)
	change(t, s, "UPDATE deposits SET version = version + 1 WHERE reference = $1", reference)
	code := app.Code()
	require.Equal(t, http.StatusConflict, b.Send(asked, form(t, asked, "capture"), map[string]string{"code": code}).Status)
	require.Zero(t, s.Count("code_tries", "tries > 0 AND key <> decode(repeat('00', 32), 'hex')"),
		"a refused capture with the right code is no try")
	asked = capturing(t, s, b, reference)
	require.Equal(t, http.StatusSeeOther, b.Send(asked, form(t, asked, "capture"), map[string]string{"code": code}).Status)
}
