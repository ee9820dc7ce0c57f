package deposits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
)

func TestCoverRound_FromSixInTheMorning_InUTC(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("", 2*60*60)
	today := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for _, early := range []time.Time{today, today.Add(6*time.Hour - 1), today.Add(6*time.Hour - 1).In(paris)} {
		_, tells := coverRound(early, true)
		require.False(t, tells, early)
	}
	last := today.Add(24*time.Hour - 1)
	for _, at := range []time.Time{today.Add(6 * time.Hour), last, last.In(paris)} {
		round, tells := coverRound(at, true)
		require.True(t, tells, at)
		before := at.UTC().Add(7 * 24 * time.Hour)
		require.Equal(t, depositports.CoverRound{Now: at.UTC(), Before: before, Today: today, VerifyAddresses: true}, round)
	}
	round, _ := coverRound(today.Add(9*time.Hour), false)
	require.False(t, round.VerifyAddresses)
}

func TestDecideSecured_WhoIsTold(t *testing.T) {
	t.Parallel()
	const grace, sealed = "grace@example.com", "sealed@example.com"
	for name, c := range map[string]struct {
		words, address, sealed string
		verified, unchecked    bool
		tenant                 string
		operator               bool
	}{
		"both":                         {"I agree", grace, "", true, false, grace, true},
		"an address without a check":   {"I agree", grace, "", false, false, grace, false},
		"a service without checks":     {"I agree", grace, "", false, true, grace, true},
		"a tenant erased since":        {"I agree", "", sealed, true, false, sealed, true},
		"a tenant without any address": {"I agree", "", "", true, false, "", true},
		"the present address first":    {"I agree", grace, sealed, true, false, grace, true},
		"a simulated payment":          {"", grace, sealed, true, false, "", true},
		"nobody":                       {"", grace, "", false, false, "", false},
	} {
		about := depositports.SecuredSubject{Words: c.words, Verified: c.verified, Tenant: tenant.Contact{Email: c.address}}
		tenantMail, tellsOperator := decideSecured(about, c.sealed, !c.unchecked)
		require.Equal(t, []any{c.tenant, c.operator}, []any{tenantMail, tellsOperator}, name)
	}
}
