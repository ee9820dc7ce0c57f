//go:build !unit

package payments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
)

// forgetting is a provider that deletes customers.
type forgetting struct {
	away      bool
	forgotten []id.ID
}

func (f *forgetting) Forget(_ context.Context, feePaymentID id.ID) error {
	if f.away {
		return errors.New("away")
	}
	f.forgotten = append(f.forgotten, feePaymentID)
	return nil
}

func forget(b checkouttest.Steps, provider *forgetting) error {
	jobs := payments.Upkeep{
		Callbacks: b.Callbacks, Audit: b.Postgres.Audit, Erasures: b.Postgres.Erasures, Eraser: provider,
		UnitOfWork: b.Postgres, Clock: b.Clock, Entropy: entropy{},
	}.Jobs(time.Second)
	job := jobs[len(jobs)-1]
	require.Equal(b.T, "payment erasures", job.Name)
	_, err := job.Run(b.Ctx())
	return err
}

func TestForget_ErasedClient_OnceNothingIsOwed(t *testing.T) {
	b := checkouttest.Start(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	provider := &forgetting{}
	require.NoError(t, forget(b, provider))
	require.Empty(t, provider.forgotten, "the cover runs: the card may be charged")

	b.Clock.Set(d.ExpiresAt)
	b.RequireCount(1, b.Timers.CloseElapsed)
	provider.away = true
	require.Error(t, forget(b, provider))
	require.Equal(t, 1, b.Count("payment_erasures", ""))

	provider.away = false
	require.NoError(t, forget(b, provider), "the provider is not asked at once")
	require.Empty(t, provider.forgotten)
	b.Clock.Add(6 * time.Hour)
	require.NoError(t, forget(b, provider))
	require.Equal(t, []id.ID{b.Fee(d.ID).ID}, provider.forgotten)
	require.Zero(t, b.Count("payment_erasures", ""))
	require.Equal(t, 1, b.Count("audit_log", "action = 'client.forget_card' AND subject = $1", id.Client.Of(d.ClientID)))
	require.NoError(t, forget(b, provider))
	require.Len(t, provider.forgotten, 1)
}

func TestForget_CapturedAmountIsOwed_Waits(t *testing.T) {
	b := checkouttest.Start(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	_, err = b.Pool.Exec(b.Ctx(),
		`UPDATE deposits SET status = 'captured', status_reason = 'claim', captured_cents = 100, captured_at = now(),
			version = version + 1 WHERE id = $1`,
		d.ID)
	require.NoError(t, err)
	_, err = b.Pool.Exec(b.Ctx(),
		`INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at)
			VALUES ($1, $2, 'collection', 100, 'processing', now(), now())`,
		id.ID{1}, d.ID)
	require.NoError(t, err)
	provider := &forgetting{}
	require.NoError(t, forget(b, provider))
	require.Empty(t, provider.forgotten)

	_, err = b.Pool.Exec(b.Ctx(), `UPDATE payments SET status = $2, settled_at = now() WHERE id = $1`, id.ID{1},
		deposit.PaymentSucceeded)
	require.NoError(t, err)
	b.Clock.Add(6 * time.Hour)
	require.NoError(t, forget(b, provider))
	require.Len(t, provider.forgotten, 1)
}

func TestForget_ClientWithoutAPayment_IsNotQueued(t *testing.T) {
	b := checkouttest.Start(t)
	d, _ := b.Deposit(t, checkouttest.Client("tina@example.com", "Tina", "Tenant"))
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	require.Zero(t, b.Count("payment_erasures", ""))
}

func secured(b checkouttest.Steps) *deposit.Deposit {
	b.T.Helper()
	d, token := b.Deposit(b.T)
	b.Submit(token, checkouttest.Grace)
	b.Pay(d.ID, true)
	b.Return(token)
	return b.Load(b.T, d.ID)
}
