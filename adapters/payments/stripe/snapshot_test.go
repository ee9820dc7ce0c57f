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
	"partnerdeposits/ports"
)

// beforeQuery is a tracer that runs a function before the first statement that reads the objects of a payment.
type beforeQuery struct {
	once sync.Once
	run  func()
}

func (q *beforeQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "SELECT") && strings.Contains(data.SQL, "stripe_objects") {
		q.once.Do(q.run)
	}
	return ctx
}

func (*beforeQuery) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// interrupted makes a provider of another process that is held up before it reads the objects of a payment.
func (b bench) interrupted(run func()) *stripe.Provider {
	b.Helper()
	config := b.pool.Config()
	config.ConnConfig.Tracer = &beforeQuery{run: run}
	pool, err := pgxpool.NewWithConfig(b.ctx(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	b.pool = pool
	return b.another()
}

func TestAnswers_WhileAnotherProcessRecordsThePaidFee_TellThatItIsPaid(t *testing.T) {
	t.Parallel()
	asked := map[string]func(*stripe.Provider, context.Context, id.ID) (ports.ProviderPayment, error){
		"lookup": (*stripe.Provider).Lookup, "close": (*stripe.Provider).Close,
	}
	for name, ask := range asked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := feeRequest()
			b.fake.Pay(t, b.open(r).URL, "4242424242424242")
			slow := b.interrupted(func() { require.Equal(t, ports.ProviderSucceeded, b.lookup(r.PaymentID).Status) })
			got, err := ask(slow, t.Context(), r.PaymentID)
			require.NoError(t, err)
			require.Equal(t, ports.ProviderSucceeded, got.Status)
			require.Equal(t, b.lookup(r.PaymentID), got)
			b.charged(r.PaymentID, 1)
		})
	}
}
