package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Support helps an operator who has lost the password, the device or the mailbox.
func TestAdmin_HelpsAnOperatorWhoLostEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.link(t, "villa-77")
	db := w.database(t)
	var email string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT email FROM operators`).Scan(&email))
	count := func(sql string, args ...any) (n int) {
		require.NoError(t, db.QueryRow(t.Context(), sql, args...).Scan(&n))
		return n
	}
	var shown struct {
		OperatorID, Email, VerifiedAt, AccountID, CompanyName string
		Sessions                                              []struct{ Browser, CreatedAt, LastSeenAt, ExpiresAt string }
	}
	w.admin(t, &shown, "operator", "show", email)
	require.Equal(t, email, shown.Email)
	require.Empty(t, shown.VerifiedAt)
	require.Len(t, shown.Sessions, 1)
	byID := shown
	w.admin(t, &byID, "operator", "show", shown.OperatorID)
	require.Equal(t, shown, byID)
	w.admin(t, &byID, "operator", "show", "--email", email)
	require.Equal(t, shown, byID)

	var ended struct {
		OperatorID string
		Ended      int
	}
	for _, want := range []int{1, 0} {
		w.admin(t, &ended, "operator", "end-sessions", "--email", email)
		require.Equal(t, want, ended.Ended)
	}
	require.Zero(t, count(`SELECT count(*) FROM sessions`))

	var reset struct{ OperatorID, MailedTo string }
	w.admin(t, &reset, "operator", "reset", shown.OperatorID)
	require.Equal(t, email, reset.MailedTo)
	require.Equal(t, 1,
		count(`SELECT count(*) FROM operator_tokens WHERE kind = 'reset' AND email = $1 AND used_at IS NULL`, email))
	w.admin(t, &reset, "operator", "reset", email, "--new-email", "new@villa.example", "--yes")
	require.Equal(t, "new@villa.example", reset.MailedTo)
	require.Equal(t, 1, count(`SELECT count(*) FROM operator_tokens WHERE kind = 'reset' AND used_at IS NULL`),
		"the link to the lost mailbox is void")
	require.Equal(t, 1, count(`SELECT count(*) FROM operators WHERE email = 'new@villa.example' AND verified_at IS NULL`))
	require.Equal(t, 1, count(`SELECT count(*) FROM mails WHERE recipient = $1 AND subject LIKE '%was changed%'`, email),
		"the old address is told")

	var audit struct {
		Entries []struct{ Actor, Action string }
	}
	w.admin(t, &audit, "audit", "show", shown.OperatorID)
	actions := map[string]int{}
	for _, e := range audit.Entries {
		if e.Actor == "admin" {
			actions[e.Action]++
		}
	}
	require.Equal(t, map[string]int{"operator.end_sessions": 2, "operator.reset": 2}, actions)

	for _, c := range []struct {
		want string
		args []string
	}{
		{"account_not_found", []string{"operator", "reset", "nobody@villa.example"}},
		{"account_not_found", []string{"operator", "show", "opr_01jzzzzzzzzzzzzzzzzzzzzzzz"}},
		{"invalid_email", []string{"operator", "reset", shown.OperatorID, "--new-email", "x"}},
		{"totp_off", []string{"operator", "reset", shown.OperatorID, "--totp"}},
		{"wrong_usage", []string{"operator", "show"}},
		{"wrong_usage", []string{"operator", "show", shown.OperatorID, "--email", email}},
	} {
		code, stdout, stderr := run(t, w.environ, "admin", append(c.args, "--json")...)
		require.NotZero(t, code)
		require.Empty(t, stdout)
		require.Contains(t, refusal(t, stderr), c.want+": ", c.args)
	}
}
