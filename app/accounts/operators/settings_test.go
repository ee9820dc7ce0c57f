//go:build !unit

package operators_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/servicetest"
)

func subjects(kit *servicetest.Kit, to string) (all []string) {
	for _, m := range kit.Mails(to) {
		english, _, _ := strings.Cut(m.Subject, " / ")
		all = append(all, english)
	}
	return all
}

func ended(t *testing.T, s *operators.Service, tokens ...operators.SignedIn) {
	t.Helper()
	for _, in := range tokens {
		_, _, err := s.CurrentOperator(t.Context(), in.Token.Reveal())
		require.ErrorIs(t, err, connect.ErrBadCredentials)
	}
}

func TestChangePassword_RenewsThisSessionAndEndsTheOthers(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	here := signedUp(t, s, "a@b.example")
	there, err := s.LogIn(t.Context(), "a@b.example", "correct horse", operators.Browser{})
	require.NoError(t, err)
	forgot(t, s, "a@b.example")
	link := mailed(t, kit, "a@b.example")
	from := operators.Browser{Session: here.Token.Reveal()}
	_, err = s.ChangePassword(t.Context(), here.Operator, "wrong", "another password", from)
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	_, err = s.ChangePassword(t.Context(), here.Operator, "correct horse", "short", from)
	require.ErrorIs(t, err, connect.ErrInvalidPassword)
	_, _, err = s.CurrentOperator(t.Context(), here.Token.Reveal())
	require.NoError(t, err)

	in, err := s.ChangePassword(t.Context(), here.Operator, "correct horse", "another password", from)
	require.NoError(t, err)
	ended(t, s, here, there)
	_, _, err = s.CurrentOperator(t.Context(), in.Token.Reveal())
	require.NoError(t, err)
	require.ErrorIs(t, s.ResetPassword(t.Context(), link, "a third password", operators.Browser{}), connect.ErrTokenVoid,
		"links from before end")
	require.Contains(t, subjects(kit, "a@b.example"), "Your password was changed")
	_, err = s.LogIn(t.Context(), "a@b.example", "another password", operators.Browser{})
	require.NoError(t, err)
	_, err = s.ChangePassword(t.Context(), here.Operator, "correct horse", "a third password", from)
	require.ErrorIs(t, err, connect.ErrBadCredentials)
}

func TestChangeEmail_TakesEffectWhenTheNewAddressIsVerified(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	here := signedUp(t, s, "a@b.example")
	there, err := s.LogIn(t.Context(), "a@b.example", "correct horse", operators.Browser{})
	require.NoError(t, err)
	signedUp(t, s, "taken@b.example")
	from := operators.Browser{Session: here.Token.Reveal()}
	for _, c := range []struct {
		email, password string
		want            error
	}{
		{"x", "correct horse", connect.ErrInvalidEmail},
		{"new@b.example\r\nBcc: all@b.example", "correct horse", connect.ErrInvalidEmail},
		{"TAKEN@b.example", "correct horse", connect.ErrEmailTaken},
		{"new@b.example", "wrong", connect.ErrBadCredentials},
	} {
		_, err := s.ChangeEmail(t.Context(), here.Operator, c.email, c.password, "", from)
		require.ErrorIs(t, err, c.want, c.email)
	}
	require.Empty(t, kit.Mails("new@b.example"))
	require.Len(t, kit.Mails("taken@b.example"), 1)

	in, err := s.ChangeEmail(t.Context(), here.Operator, "new@b.example", "correct horse", "", from)
	require.NoError(t, err)
	require.Empty(t, in.Token.Reveal())
	require.Contains(t, subjects(kit, "a@b.example"), "Your e-mail address is about to change",
		"the old address is told at once")
	require.Equal(t, "a@b.example", operatorOf(t, kit, "a@b.example").Email)
	token := mailed(t, kit, "new@b.example")
	clock.Add(time.Hour)

	in, err = s.Verify(t.Context(), token, "", from)
	require.NoError(t, err)
	o, _, err := s.CurrentOperator(t.Context(), in.Token.Reveal())
	require.NoError(t, err, "this browser's session began anew")
	require.Equal(t, "new@b.example", o.Email)
	require.Equal(t, clock.Now(), o.VerifiedAt)
	ended(t, s, here, there)
	require.Contains(t, subjects(kit, "a@b.example"), "Your e-mail address was changed")
	_, err = s.LogIn(t.Context(), "a@b.example", "correct horse", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	_, err = s.Verify(t.Context(), token, "correct horse", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrTokenVoid)
}

func TestChangeEmail_InAStrangersBrowser_LogsNobodyIn(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	here, stranger := signedUp(t, s, "a@b.example"), signedUp(t, s, "c@d.example")
	_, err := s.ChangeEmail(t.Context(), here.Operator, "new@b.example", "correct horse", "",
		operators.Browser{Session: here.Token.Reveal()})
	require.NoError(t, err)
	in, err := s.Verify(t.Context(), mailed(t, kit, "new@b.example"), "correct horse",
		operators.Browser{Session: stranger.Token.Reveal()})
	require.NoError(t, err)
	require.Empty(t, in.Token.Reveal())
	ended(t, s, here)
	o, _, err := s.CurrentOperator(t.Context(), stranger.Token.Reveal())
	require.NoError(t, err)
	require.Equal(t, "c@d.example", o.Email)
}

func TestChangeEmail_LinksFromBeforeAChange_AreVoid(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	here := signedUp(t, s, "a@b.example")
	ask := func(email string) string {
		_, err := s.ChangeEmail(t.Context(), here.Operator, email, "correct horse", "", operators.Browser{})
		require.NoError(t, err)
		return mailed(t, kit, email)
	}
	first := ask("one@b.example")
	second := ask("two@b.example")
	_, err := s.Verify(t.Context(), first, "correct horse", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrTokenVoid, "a later request replaced it")
	forgot(t, s, "a@b.example")
	require.NoError(t,
		s.ResetPassword(t.Context(), mailed(t, kit, "a@b.example"), "another password", operators.Browser{}))
	_, err = s.Verify(t.Context(), second, "another password", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrTokenVoid, "whoever lost a session to a thief ends the thief's request too")
	require.Equal(t, "a@b.example", operatorOf(t, kit, "a@b.example").Email)
}

func TestChangeEmail_FiveTimesAnHour_AndToNoAddressTakenMeanwhile(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	here := signedUp(t, s, "a@b.example")
	for i := range 6 {
		_, err := s.ChangeEmail(t.Context(), here.Operator, "new@b.example", "correct horse", "", operators.Browser{})
		require.Equal(t, i == 5, errors.Is(err, fault.ErrRateLimited), i)
	}
	require.Len(t, kit.Mails("new@b.example"), 5)
	token := mailed(t, kit, "new@b.example")
	signedUp(t, s, "new@b.example")
	_, err := s.Verify(t.Context(), token, "correct horse", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrEmailTaken)
	require.Equal(t, here.Operator.ID, operatorOf(t, kit, "a@b.example").ID)
}

func TestChangeEmail_WithoutAMailServer_TakesEffectUnverified(t *testing.T) {
	t.Parallel()
	s, _, _, kit := setup(t)
	here := signedUp(t, s, "a@b.example")
	in, err := s.ChangeEmail(t.Context(), here.Operator, "new@b.example", "correct horse", "",
		operators.Browser{Session: here.Token.Reveal()})
	require.NoError(t, err)
	o, _, err := s.CurrentOperator(t.Context(), in.Token.Reveal())
	require.NoError(t, err)
	require.Equal(t, "new@b.example", o.Email)
	require.False(t, o.Verified())
	ended(t, s, here)
	require.Equal(t, []string{"Your e-mail address was changed"}, subjects(kit, "a@b.example"))
}

func TestChangeCompanyAndLanguage(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	in := signedUp(t, s, "a@b.example")
	for _, bad := range []string{"", " ", "a\nb", strings.Repeat("x", 121), "Pay at https://evil.example",
		"WWW.evil.example"} {
		require.ErrorIs(t, s.ChangeCompany(t.Context(), in.Operator, in.Account, bad), connect.ErrInvalidCompany)
	}
	require.NoError(t, s.ChangeCompany(t.Context(), in.Operator, in.Account, " Gîtes "))
	for _, bad := range []string{"", "de", "en-GB", "fr\x00"} {
		require.ErrorIs(t, s.ChangeLanguage(t.Context(), in.Operator, bad), fault.ErrInvalidField)
	}
	require.NoError(t, s.ChangeLanguage(t.Context(), in.Operator, "fr"))
	o, a, err := kit.Postgres.Operators.OperatorByEmail(t.Context(), "a@b.example")
	require.NoError(t, err)
	require.Equal(t, "Gîtes", a.CompanyName)
	require.Equal(t, "fr", o.Locale)
	require.Equal(t, 1, kit.Count("audit_log", "action = 'account.rename' AND detail @> '{\"to\": \"Gîtes\"}'"))
	require.NoError(t, s.AskToVerify(t.Context(), o))
	require.Contains(t, subjects(kit, "a@b.example"), "Vérifiez votre adresse e-mail")
}

func TestSessions_AreShownAndEnded(t *testing.T) {
	t.Parallel()
	s, clock, _ := mailing(t)
	here, stranger := signedUp(t, s, "a@b.example"), signedUp(t, s, "c@d.example")
	var others []operators.SignedIn
	for range 3 {
		clock.Add(time.Minute)
		in, err := s.LogIn(t.Context(), "a@b.example", "correct horse", operators.Browser{Name: "Safari, iPhone"})
		require.NoError(t, err)
		others = append(others, in)
	}
	list := func() []operators.Session {
		all, err := s.Sessions(t.Context(), here.Operator.ID, here.Token.Reveal())
		require.NoError(t, err)
		return all
	}
	all := list()
	require.Len(t, all, 4)
	require.Equal(t, []string{"Safari, iPhone", "Safari, iPhone", "Safari, iPhone", "Firefox, Linux"},
		[]string{all[0].Browser, all[1].Browser, all[2].Browser, all[3].Browser})
	require.True(t, all[3].This)
	require.False(t, all[0].This)

	require.NoError(t, s.EndSession(t.Context(), stranger.Operator, all[0].Name),
		"no error, and no effect: the session is another operator's")
	require.Len(t, list(), 4)
	require.NoError(t, s.EndSession(t.Context(), here.Operator, all[0].Name))
	ended(t, s, others[2])
	require.Len(t, list(), 3)
	require.NoError(t, s.EndOtherSessions(t.Context(), here.Operator, here.Token.Reveal()))
	ended(t, s, others...)
	require.Len(t, list(), 1)
	_, _, err := s.CurrentOperator(t.Context(), stranger.Token.Reveal())
	require.NoError(t, err)
	clock.Add(12 * time.Hour)
	ended(t, s, here)
}

func TestResetByAdmin_GivesAnAccountBackToItsOwner(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	thief := signedUp(t, s, "a@b.example")
	signedUp(t, s, "taken@b.example")
	for email, want := range map[string]error{"x": connect.ErrInvalidEmail, "taken@b.example": connect.ErrEmailTaken} {
		_, err := s.ResetByAdmin(t.Context(), thief.Operator.ID, email)
		require.ErrorIs(t, err, want)
	}
	_, err := s.ResetByAdmin(t.Context(), servicetest.NewID(), "")
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	mailedTo, err := s.ResetByAdmin(t.Context(), thief.Operator.ID, "new@b.example")
	require.NoError(t, err)
	require.Equal(t, "new@b.example", mailedTo)
	ended(t, s, thief)
	require.NoError(t,
		s.ResetPassword(t.Context(), mailed(t, kit, "new@b.example"), "another password", operators.Browser{}))
	require.True(t, operatorOf(t, kit, "new@b.example").Verified())
	_, err = s.LogIn(t.Context(), "new@b.example", "another password", operators.Browser{})
	require.NoError(t, err)
	require.Equal(t, 1, kit.Count("audit_log", "actor = 'admin' AND action = 'operator.reset'"))
}
