package checkouttest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
	"partnerdeposits/ports"
)

// Capture captures a secured deposit whole, for damage, and gives the id of its collection. Nothing is charged yet.
func (b *Bench) Capture(t testing.TB, depositID id.ID) id.ID {
	t.Helper()
	collection := deposit.Payment{
		ID: servicetest.NewID(), DepositID: depositID, Kind: deposit.Collection, Status: deposit.PaymentProcessing, CreatedAt: b.Clock.Now(), CheckAt: b.Clock.Now(),
	}
	b.Write(func(ctx context.Context, r ports.Repositories) error {
		d, err := r.Deposits.ForUpdate(ctx, depositID)
		require.NoError(t, err)
		step, err := d.Capture(nil, deposit.DefaultTimers(), b.Clock.Now())
		require.NoError(t, err)
		step.Actor, step.Detail = "operator", map[string]string{"reason": "damage", "description": "Broken coffee table"}
		if err := r.Deposits.Transition(ctx, d, step); err != nil {
			return err
		}
		collection.Amount = d.CapturedAmount
		return r.Payments.Insert(ctx, collection)
	})
	return collection.ID
}
