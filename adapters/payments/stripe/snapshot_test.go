package stripe_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// beforeRead is a pgx tracer that calls run once, before the first SELECT from stripe_objects is sent.
type beforeRead struct {
	once sync.Once
	run  func()
}

func (r *beforeRead) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "SELECT") && strings.Contains(data.SQL, "stripe_objects") {
		r.once.Do(r.run)
	}
	return ctx
}

func (*beforeRead) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// anotherAfter makes a provider of another process on the same database. Its first read of stripe_objects waits until
// run has ended.
func (b bench) anotherAfter(run func()) *stripe.Provider {
	b.Helper()
	config := b.pool.Config()
	config.ConnConfig.Tracer = &beforeRead{run: run}
	pool, err := pgxpool.NewWithConfig(b.ctx(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	b.pool = pool
	return b.another()
}

func TestAnswers_WhileAnotherProcessRecordsThePaidFee_TellThatItIsPaid(t *testing.T) {
	t.Parallel()
	asked := map[string]func(*stripe.Provider, context.Context, id.ID) (paymentports.ProviderPayment, error){
		"lookup": (*stripe.Provider).Lookup, "close": (*stripe.Provider).Close,
	}
	for name, ask := range asked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := feeRequest()
			b.fake.Pay(t, b.open(r).URL, "4242424242424242")
			slow := b.anotherAfter(func() { require.Equal(t, paymentports.ProviderSucceeded, b.lookup(r.PaymentID).Status) })
			got, err := ask(slow, t.Context(), r.PaymentID)
			require.NoError(t, err)
			require.Equal(t, paymentports.ProviderSucceeded, got.Status)
			require.Equal(t, b.lookup(r.PaymentID), got)
			b.charged(r.PaymentID, 1)
		})
	}
}
