//go:build !unit

package operators_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/servicetest"
)

func subjects(kit *servicetest.Kit, to string) (all []string) {
	for _, m := range kit.ListMails(to) {
		english, _, _ := strings.Cut(m.Subject, " / ")
		all = append(all, english)
	}
	return all
}

func ended(t *testing.T, s *operators.Service, tokens ...operators.SignInResult) {
	t.Helper()
	for _, in := range tokens {
		_, _, err := s.FindCurrentOperator(t.Context(), in.Token.Reveal())
		require.ErrorIs(t, err, connect.ErrBadCredentials)
	}
}

func TestChangeEmail_InAStrangersBrowser_LogsNobodyIn(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	here, stranger := signedUp(t, s, "a@b.example"), signedUp(t, s, "c@d.example")
	_, err := s.ChangeEmail(t.Context(), here.Operator, "new@b.example", "correct horse", "",
		operators.Browser{Session: here.Token.Reveal()})
	require.NoError(t, err)
	in, err := s.VerifyEmail(t.Context(), mailed(t, kit, "new@b.example"), "correct horse",
		operators.Browser{Session: stranger.Token.Reveal()})
	require.NoError(t, err)
	require.Empty(t, in.Token.Reveal())
	ended(t, s, here)
	o, _, err := s.FindCurrentOperator(t.Context(), stranger.Token.Reveal())
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
	_, err := s.VerifyEmail(t.Context(), first, "correct horse", operators.Browser{})
	require.ErrorIs(t, err, connect.ErrTokenVoid, "a later request replaced it")
	forgot(t, s, "a@b.example")
	require.NoError(t,
		s.ResetPassword(t.Context(), mailed(t, kit, "a@b.example"), "another password", operators.Browser{}))
	_, err = s.VerifyEmail(t.Context(), second, "another password", operators.Browser{})
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
	require.Len(t, kit.ListMails("new@b.example"), 5)
	token := mailed(t, kit, "new@b.example")
	signedUp(t, s, "new@b.example")
	_, err := s.VerifyEmail(t.Context(), token, "correct horse", operators.Browser{})
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
	o, _, err := s.FindCurrentOperator(t.Context(), in.Token.Reveal())
	require.NoError(t, err)
	require.Equal(t, "new@b.example", o.Email)
	require.False(t, o.EmailVerified())
	ended(t, s, here)
	require.Equal(t, []string{"Your e-mail address was changed"}, subjects(kit, "a@b.example"))
}
