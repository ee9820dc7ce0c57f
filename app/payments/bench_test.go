//go:build !unit

package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
)

// BenchmarkSecure takes a deposit from its creation to its cover: the payment, the transition with history and event,
// and the notice to the operator.
func BenchmarkSecure(b *testing.B) {
	kit := servicetest.New(b)
	p, a := kit.Partner("acme"), kit.Account("Chalets")
	kit.Link(p.ID, a.ID, "op")
	now := time.Now()
	draft := deposit.Draft{Amount: 30_000, ContractStartAt: now.Add(24 * time.Hour),
		ContractEndAt: now.Add(72 * time.Hour)}
	ids := make([]id.ID, b.N)
	for i := range ids {
		d, _ := kit.Deposit(deposit.Origin{AccountID: a.ID, PartnerID: p.ID, PartnerName: "Acme", ByPartnerAPI: true}, draft)
		ids[i] = d.ID
	}
	b.ResetTimer()
	for _, depositID := range ids {
		_, err := kit.Payments.Simulate(b.Context(), p.ID, depositID, payments.SimulateActivate)
		require.NoError(b, err)
	}
}
