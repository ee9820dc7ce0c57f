package groupcommit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
)

// The database has no foreign key from deposits: a change may refer only to rows that it has locked.
func TestApply_ADepositOfRowsThatTheChangeDidNotNeed_IsRefused(t *testing.T) {
	b := setup(t)
	other := storetest.Origin(t, b.store)
	for name, refer := range map[string]func(*deposit.Deposit){
		"account": func(d *deposit.Deposit) { d.AccountID = other.AccountID },
		"partner": func(d *deposit.Deposit) { d.PartnerID = other.PartnerID },
		"none":    func(d *deposit.Deposit) { d.PartnerID = id.ID{} },
		"client":  func(d *deposit.Deposit) { d.ClientID = portstest.NewID() },
	} {
		t.Run(name, func(t *testing.T) {
			d := b.draft()
			change := insert(d)
			refer(d)
			require.ErrorContains(t, b.Apply(t.Context(), change), "has not locked")
		})
	}
	require.Zero(t, b.count(`SELECT count(*) FROM deposits`))
}
