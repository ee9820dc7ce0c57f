package admin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/money"
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

func TestPrintJSON_OfAnyText_CommandsNoTerminal(t *testing.T) {
	var out strings.Builder
	text := "a\u009b2J\u007f\u202e\U000e0001\x1bé"
	require.NoError(t, printJSON(&out, fields{{"answer", text}}))
	require.Equal(t, `{"answer":"a\u009b2J\u007f\u202e\udb40\udc01\u001bé"}`+"\n", out.String())
	var read struct{ Answer string }
	require.NoError(t, json.Unmarshal([]byte(out.String()), &read))
	require.Equal(t, text, read.Answer)
}

func TestTypedEuros_TakesNoExponent(t *testing.T) {
	for text, want := range map[string]money.Cents{"12.5": 1_250, "4000.00": 400_000, "0": 0} {
		got, err := typedEuros(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"1e2", "1E2", "12,50", "", "0.001"} {
		_, err := typedEuros(text)
		require.Error(t, err, text)
	}
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
	require.EqualError(t, explained(flagged(fault.ErrInvalidField.WithField("returnUrl", "is bad: really"), flags)),
		"invalid_field: return-url: is bad: really")
	require.EqualError(t, explained(flagged(fault.ErrInvalidField.WithField("email", "is bad"), flags)),
		"invalid_field: email: is bad")
	require.ErrorIs(t, flagged(deposit.ErrNotFound, flags), deposit.ErrNotFound)
	require.NoError(t, flagged(nil, flags))
}
