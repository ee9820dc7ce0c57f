package admin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
)

// Support helps an operator who has lost the password, the device or the mailbox.
func TestOperator_WhoLostEverything_IsHelped(t *testing.T) {
	s := newStaff(t)
	const email = "olga@villa.example"
	form := connect.SignUpForm{Email: email, Password: "correct-horse", CompanyName: "Villa"}
	_, err := s.Operators.SignUp(t.Context(), form, operators.Browser{Name: "Firefox, Linux"})
	require.NoError(t, err)
	type view struct {
		OperatorID, Email, VerifiedAt, AccountID, CompanyName string
		Sessions                                              []struct{ Browser, CreatedAt, LastSeenAt, ExpiresAt string }
	}
	var shown view
	s.must(&shown, "operator", "show", email)
	require.Equal(t, []string{email, "", "Villa"}, []string{shown.Email, shown.VerifiedAt, shown.CompanyName})
	require.Len(t, shown.Sessions, 1)
	require.Equal(t, "Firefox, Linux", shown.Sessions[0].Browser)
	for _, args := range [][]string{{shown.OperatorID}, {"--email", email}} {
		var same view
		s.must(&same, append([]string{"operator", "show"}, args...)...)
		require.Equal(t, shown, same)
	}
	for _, want := range []int{1, 0} {
		var ended struct{ Ended int }
		s.must(&ended, "operator", "end-sessions", "--email", email)
		require.Equal(t, want, ended.Ended)
	}
	require.Zero(t, s.Count("sessions", ""))

	_, err = s.Operators.LogIn(t.Context(), email, form.Password, operators.Browser{})
	require.NoError(t, err)
	var reset struct{ OperatorID, MailedTo string }
	s.must(&reset, "operator", "reset", shown.OperatorID)
	require.Equal(t, email, reset.MailedTo)
	require.Equal(t, 1, s.Count("sessions", ""), "a mail alone ends nothing")
	require.Equal(t, 1, s.Count("operator_tokens", "kind = 'reset' AND email = $1 AND used_at IS NULL", email))
	s.must(&reset, "operator", "reset", email, "--new-email", "new@villa.example", "--yes")
	require.Equal(t, "new@villa.example", reset.MailedTo)
	require.Zero(t, s.Count("sessions", ""), "who has the lost mailbox is out")
	require.Equal(t, 1, s.Count("operator_tokens", "kind = 'reset' AND used_at IS NULL"),
		"the link to the lost mailbox is void")
	require.Equal(t, 1, s.Count("operators", "email = 'new@villa.example' AND verified_at IS NULL"))
	require.Equal(t, 1, s.Count("mails", "recipient = $1 AND subject LIKE '%was changed%'", email), "the old address is told")
	require.Equal(t, map[string]int{"operator.end_sessions": 2, "operator.reset": 2}, s.actions(shown.OperatorID))

	s.refused("invalid_email: ", "operator", "reset", shown.OperatorID, "--new-email", "x")
	other := s.CreateAccount("Other").OperatorID.Encode() + "@example.com"
	s.refused("email_taken: ", "operator", "reset", shown.OperatorID, "--new-email", other)
	s.refused("totp_off: ", "operator", "reset", shown.OperatorID, "--totp")
	s.refused("wrong_usage: ", "operator", "show")
	s.refused("wrong_usage: ", "operator", "show", shown.OperatorID, "--email", email)
}
