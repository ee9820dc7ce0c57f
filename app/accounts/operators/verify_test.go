//go:build !unit

package operators_test

import (
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/servicetest"
)

// mailing is setup with a mail server.
func mailing(t *testing.T) (*operators.Service, *servicetest.Clock, *servicetest.Kit) {
	t.Helper()
	clock := servicetest.NewClock(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC))
	kit := servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock, s.Config.SMTPURL, s.Config.DashboardBaseURL = clock, "smtp://127.0.0.1:9", "https://desk.example"
		s.Parts = func(p *servicetest.Deps) { p.Passwords = &counting{} }
	})
	return kit.Operators, clock, kit
}

var linkPattern = regexp.MustCompile(`https://desk\.example(/verify|/password/reset)\?token=([A-Za-z0-9_-]{43})\n`)

// mailed gives the token of the newest mail with a link to the address.
func mailed(t *testing.T, kit *servicetest.Kit, to string) string {
	t.Helper()
	all := kit.ListMails(to)
	require.NotEmpty(t, all)
	for i := len(all) - 1; i >= 0; i-- {
		if found := linkPattern.FindStringSubmatch(all[i].Body); found != nil {
			token, err := url.QueryUnescape(found[2])
			require.NoError(t, err)
			return token
		}
	}
	require.Fail(t, "no mail with a link", to)
	return ""
}

func signedUp(t *testing.T, s *operators.Service, email string) operators.SignInResult {
	t.Helper()
	in, err := s.SignUp(t.Context(), form(email), operators.Browser{Name: "Firefox, Linux"})
	require.NoError(t, err)
	return in
}

func operatorOf(t *testing.T, kit *servicetest.Kit, email string) connect.Operator {
	t.Helper()
	o, _, err := kit.Postgres.Operators.OperatorByEmail(t.Context(), email)
	require.NoError(t, err)
	return o
}

func TestLinks_UsedAtOnce_TakeEffectOnce(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	signedUp(t, s, "a@b.example")
	once := map[string]int{"<nil>": 1, connect.ErrTokenVoid.Error(): 7}
	token := mailed(t, kit, "a@b.example")
	require.Equal(t, once, atOnce(8, func(int) error {
		_, err := s.VerifyEmail(t.Context(), token, "correct horse", operators.Browser{})
		return err
	}))
	forgot(t, s, "a@b.example")
	token = mailed(t, kit, "a@b.example")
	require.Equal(t, once, atOnce(8, func(int) error {
		return s.ResetPassword(t.Context(), token, "another password", operators.Browser{})
	}))
}

func TestLinks_GuessedOfAnotherKindOrTooOld_AreVoid(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	signedUp(t, s, "a@b.example")
	verify := mailed(t, kit, "a@b.example")
	forgot(t, s, "a@b.example")
	reset := mailed(t, kit, "a@b.example")
	void := func(why, verify, reset string) {
		t.Helper()
		_, err := s.VerifyEmail(t.Context(), verify, "correct horse", operators.Browser{})
		require.ErrorIs(t, err, connect.ErrTokenVoid, why)
		require.ErrorIs(t, s.ResetPassword(t.Context(), reset, "another password", operators.Browser{}),
			connect.ErrTokenVoid, why)
	}
	guess := []byte(verify)
	guess[20] ^= 1
	void("guessed", string(guess), string(guess))
	void("of another kind", reset, verify)
	clock.Add(30 * time.Minute)
	void("the reset has expired", reset, reset)
	clock.Add(24*time.Hour - 30*time.Minute)
	void("both have expired", verify, reset)
}

func TestAskToVerify_MailsFiveTimesAnHour(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	in := signedUp(t, s, "a@b.example")
	for range 4 {
		require.NoError(t, s.MailVerificationLink(t.Context(), in.Operator))
	}
	require.ErrorIs(t, s.MailVerificationLink(t.Context(), in.Operator), fault.ErrRateLimited)
	require.Len(t, kit.ListMails("a@b.example"), 5)
	clock.Add(time.Hour)
	require.NoError(t, s.MailVerificationLink(t.Context(), in.Operator))
	_, err := s.VerifyEmail(t.Context(), mailed(t, kit, "a@b.example"), "correct horse", operators.Browser{})
	require.NoError(t, err)
	require.NoError(t, s.MailVerificationLink(t.Context(), in.Operator), "the session's operator is from before")
	require.Len(t, kit.ListMails("a@b.example"), 6, "a verified address gets no further mail")
}

func TestAskToVerify_AnAddressThatSomebodyTyped_GetsTenMailsADay(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	typed, moves := signedUp(t, s, "victim@b.example").Operator, signedUp(t, s, "a@b.example").Operator
	asks := map[string]func() error{
		"a sign-up": func() error { return s.MailVerificationLink(t.Context(), typed) },
		"a change": func() error {
			_, err := s.ChangeEmail(t.Context(), moves, "Victim+1@b.example", "correct horse", "", operators.Browser{})
			return err
		},
	}
	for name, sent := range map[string]int{"a sign-up": 1, "a change": 0} {
		for ; sent < 10; sent++ {
			clock.Add(15 * time.Minute) // four an hour
			require.NoError(t, asks[name](), name)
		}
		require.ErrorIs(t, asks[name](), fault.ErrRateLimited, name)
	}
	require.Len(t, kit.ListMails("victim@b.example"), 10)
	signedUp(t, s, "victim+2@b.example")
	clock.Add(24 * time.Hour)
	for _, ask := range asks {
		require.NoError(t, ask())
	}
}

func TestWithoutAMailServer_NothingIsVerifiedAndNothingAsked(t *testing.T) {
	t.Parallel()
	s, _, _, kit := setup(t)
	in := signedUp(t, s, "a@b.example")
	require.False(t, s.HasUnverifiedEmail(in.Operator))
	require.NoError(t, s.MailVerificationLink(t.Context(), in.Operator))
	require.Empty(t, kit.ListMails(""))
	require.NoError(t, s.RequestPasswordReset(t.Context(), "a@b.example", "en"))
	_, err := s.MailPasswordResets(t.Context())
	require.NoError(t, err)
	token := regexp.MustCompile(`token=([A-Za-z0-9_-]{43})`).FindStringSubmatch(kit.ListMails("a@b.example")[0].Body)[1]
	require.NoError(t, s.ResetPassword(t.Context(), token, "a password of mine", operators.Browser{}))
	require.False(t, operatorOf(t, kit, "a@b.example").EmailVerified())
}
