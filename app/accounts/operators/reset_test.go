//go:build !unit

package operators_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/lab/servicetest"
)

// forgot asks for a password and lets the dispatcher answer.
func forgot(t *testing.T, s *operators.Service, email string) {
	t.Helper()
	require.NoError(t, s.RequestPasswordReset(t.Context(), email, "fr"))
	more, err := s.MailPasswordResets(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}

func resets(kit *servicetest.Kit, to string) (n int) {
	for _, m := range kit.ListMails(to) {
		if strings.Contains(m.Body, "/password/reset?") {
			n++
		}
	}
	return n
}

// A log-in whose password was right when it was checked, and wrong when the session begins, begins none.
func TestLogIn_DuringAReset_LeavesNoSessionOfTheOldPassword(t *testing.T) {
	t.Parallel()
	s, _, kit := mailing(t)
	signedUp(t, s, "a@b.example")
	for range 10 {
		forgot(t, s, "a@b.example")
		_, err := kit.Pool.Exec(t.Context(), `UPDATE operator_tokens SET created_at = created_at - interval '1 day'`)
		require.NoError(t, err)
		o := operatorOf(t, kit, "a@b.example")
		old := strings.TrimPrefix(o.PasswordHash, "plain:")
		token, fresh := mailed(t, kit, "a@b.example"), old+"!"
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { _, _ = s.LogIn(t.Context(), "a@b.example", old, operators.Browser{}) })
		}
		require.NoError(t, s.ResetPassword(t.Context(), token, fresh, operators.Browser{}))
		wg.Wait()
		require.Zero(t, kit.Count("sessions", ""))
	}
}

// By construction: the answer to a request comes from one INSERT, whoever is asked about. The look-up follows in the
// dispatcher.
func TestForgotPassword_DoesTheSameForEveryAddress(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	signedUp(t, s, "a@b.example")
	tokens, mails := kit.Count("operator_tokens", ""), kit.Count("mails", "")
	for i, email := range []string{"a@b.example", "nobody@b.example"} {
		require.NoError(t, s.RequestPasswordReset(t.Context(), email, "en"))
		require.Equal(t, i+1, kit.Count("password_requests", ""))
		require.Equal(t, tokens, kit.Count("operator_tokens", ""))
		require.Equal(t, mails, kit.Count("mails", ""))
	}
	for _, bad := range []string{"", "x", "a@b.example\x00", "a@b.example\nBcc: x@y.example"} {
		require.ErrorIs(t, s.RequestPasswordReset(t.Context(), bad, "en"), connect.ErrInvalidEmail)
	}
	_, err := s.MailPasswordResets(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, resets(kit, "a@b.example"))
	require.Empty(t, kit.ListMails("nobody@b.example"))
	require.Zero(t, kit.Count("password_requests", ""))

	require.NoError(t, s.RequestPasswordReset(t.Context(), "a@b.example", "en"))
	clock.Add(31 * time.Minute)
	_, err = s.MailPasswordResets(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, resets(kit, "a@b.example"), "nobody expects the mail any more")
}

// Whoever asks for links in the name of another leaves the other without a link at no time.
func TestMailResets_FloodsNoMailbox_AndLeavesTheOwnerALink(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	signedUp(t, s, "a@b.example")
	for range 45 {
		require.NoError(t, s.RequestPasswordReset(t.Context(), "a@b.example", "en"))
	}
	for _, want := range []bool{true, true, false} {
		more, err := s.MailPasswordResets(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, more)
	}
	require.Equal(t, 5, resets(kit, "a@b.example"))
	last := mailed(t, kit, "a@b.example")
	clock.Add(30*time.Minute - time.Second)
	forgot(t, s, "a@b.example")
	require.Equal(t, 5, resets(kit, "a@b.example"), "five links still work")
	_, err := s.FindMailToken(t.Context(), last, connect.TokenResetPassword)
	require.NoError(t, err)
	clock.Add(time.Second)
	forgot(t, s, "a@b.example")
	require.Equal(t, 6, resets(kit, "a@b.example"), "they have expired")
	require.NoError(t,
		s.ResetPassword(t.Context(), mailed(t, kit, "a@b.example"), "another password", operators.Browser{}))
	forgot(t, s, "a@b.example")
	require.Equal(t, 7, resets(kit, "a@b.example"), "a used link is none that works")
}

func TestMailResets_EarlierLinksLiveOn_UntilOneIsUsedOrThePasswordChanges(t *testing.T) {
	t.Parallel()
	s, clock, kit := mailing(t)
	in := signedUp(t, s, "a@b.example")
	ask := func() string {
		clock.Add(time.Second)
		forgot(t, s, "a@b.example")
		return mailed(t, kit, "a@b.example")
	}
	first, second := ask(), ask()
	require.NotEqual(t, first, second)
	require.NoError(t, s.ResetPassword(t.Context(), first, "another password", operators.Browser{}),
		"a later mail does not end it")
	require.ErrorIs(t, s.ResetPassword(t.Context(), second, "a third password", operators.Browser{}), connect.ErrTokenVoid,
		"a used link ends all")

	third := ask()
	_, err := s.ChangePassword(t.Context(), in.Operator, "another password", "a third password", operators.Browser{})
	require.NoError(t, err)
	require.ErrorIs(t, s.ResetPassword(t.Context(), third, "mine", operators.Browser{}), connect.ErrTokenVoid,
		"a change of the password ends all")

	fourth := ask()
	_, err = s.ChangeEmail(t.Context(), in.Operator, "new@b.example", "a third password", "", operators.Browser{})
	require.NoError(t, err)
	_, err = s.VerifyEmail(t.Context(), mailed(t, kit, "new@b.example"), "a third password", operators.Browser{})
	require.NoError(t, err)
	require.ErrorIs(t, s.ResetPassword(t.Context(), fourth, "a fourth password", operators.Browser{}),
		connect.ErrTokenVoid, "a change of the address ends all")
}
