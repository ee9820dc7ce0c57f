package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
)

func TestList_FindingsOfSeveralLines_StayInTheirColumn(t *testing.T) {
	var out strings.Builder
	c := &call{streams: streams{stdout: &out}}
	down := errors.Join(errors.New("dial a: refused"), errors.New("dial b:\trefused"))
	require.NoError(t, c.list("checks", []fields{
		{{"check", "database"}, {"ok", false}, {"finding", "cannot be reached: " + down.Error()}, {"todo", "Check it.\n"}},
		{{"check", "redis"}, {"ok", true}, {"finding", "ok"}, {"todo", ""}},
	}))
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	require.Equal(t, []string{
		"CHECK     OK     FINDING                             TODO",
		"database  false  cannot be reached: dial a: refused  Check it.",
		"                 dial b: refused",
		"redis     true   ok",
	}, lines)
}

// The pages' words for operators say nothing to staff.
func TestExplained_SpeaksToStaff(t *testing.T) {
	const noPartner = "partner_not_found: There is no such partner. `admin partner list` lists them all."
	require.EqualError(t, explained(connect.ErrPartnerNotFound), noPartner)
	require.EqualError(t, explained(partner.ErrNotFound), noPartner)
	require.EqualError(t, explained(connect.ErrMissingConnectSecret),
		"missing_connect_secret: The partner has no connect secret. `admin connect-secret rotate` makes a new connect secret.")
}

func TestFlagged_NamesTheFlagOfAField(t *testing.T) {
	flags := map[string]string{"returnUrl": "return-url"}
	require.EqualError(t, explained(flagged(fault.ErrInvalidField.WithField("returnUrl", "is bad: really"), flags)), "invalid_field: return-url: is bad: really")
	require.EqualError(t, explained(flagged(fault.ErrInvalidField.WithField("email", "is bad"), flags)), "invalid_field: email: is bad")
	require.ErrorIs(t, flagged(deposit.ErrNotFound, flags), deposit.ErrNotFound)
	require.NoError(t, flagged(nil, flags))
}
