package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

var faultKinds = []stripetest.FaultKind{
	stripetest.FaultLostBeforeEffect, stripetest.FaultLostAfterEffect, stripetest.FaultLateEffect,
	stripetest.FaultDelayedResponse, stripetest.FaultErrorWithoutEffect,
	stripetest.FaultErrorAfterEffect, stripetest.FaultDuplicateRequest,
	stripetest.FaultTooManyRequests, stripetest.FaultUnavailable,
}

// dice is a source of chance that several goroutines share.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(n)
}

// TestProvider_UnderChance_NeverMakesADebtPayableTwice lets several processes open, collect, close and look up the same
// payments while requests go wrong in every way. The fake checks its rules at every step.
func TestProvider_UnderChance_NeverMakesADebtPayableTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			d := &dice{rand: rand.New(rand.NewPCG(seed, 1))}
			debts := make([]paymentports.CollectRequest, 6)
			for i := range debts {
				debts[i] = b.owing([]string{"4242424242424242", "4000000000000341", "4000002760003184"}[i%3])
				b.fake.SetOffSessionOutcomes(id.Deposit.Of(debts[i].DepositID), noFunds,
					stripetest.ChargeOutcome{DeclineCode: "lost_card"})
			}
			b.fake.SetFaultChooser(func(_, _ string) *stripetest.Fault {
				if d.below(3) > 0 {
					return nil
				}
				return &stripetest.Fault{Kind: faultKinds[d.below(len(faultKinds))],
					Delay: time.Duration(d.below(20)) * time.Millisecond}
			})
			for range 3 {
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { work(t, b, b.another(), d, debts) })
				}
				wg.Wait()
				require.Eventually(t, func() bool { return b.fake.LateRequestCount() == 0 }, 10*time.Second, time.Millisecond)
				b.fake.AdvanceClock(25 * time.Hour) // no request is under way for a day
			}
			b.fake.SetFaultChooser(nil)
			for _, r := range debts {
				b.settled(r)
			}
		})
	}
}

// work does 25 calls by chance, as a process that dies now and then.
func work(t *testing.T, b bench, p *stripe.Provider, d *dice, debts []paymentports.CollectRequest) {
	t.Helper()
	for range 25 {
		r := debts[d.below(len(debts))]
		r.Attempt = 1 + d.below(4)
		ctx, cancel := context.WithCancel(t.Context())
		if d.below(5) == 0 {
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(d.below(10))*time.Millisecond)
		}
		var err error
		switch d.below(12) {
		case 0, 1, 2, 3:
			_, err = p.ChargeStoredCard(ctx, r)
		case 4, 5, 6:
			_, err = p.OpenPage(ctx, pageOf(r))
		case 7, 8:
			_, err = p.LookupPayment(ctx, r.PaymentID)
		case 9:
			if d.below(4) == 0 {
				_, err = p.ClosePayment(ctx, r.PaymentID)
			}
		case 10:
			if page := b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)); page != "" && d.below(3) == 0 {
				b.fake.PayOnPaymentPage(t, page, "4242424242424242")
			}
		default:
			b.fake.AdvanceClock(time.Duration(d.below(60)) * time.Minute)
		}
		cancel()
		if err != nil && !errors.Is(err, fault.ErrUnavailable) {
			t.Errorf("an answer that is neither a state nor service_unavailable: %v", err)
		}
	}
}

// settled closes a debt, and compares the answer with the charges.
func (b bench) settled(r paymentports.CollectRequest) {
	b.Helper()
	require.Eventually(b, func() bool {
		_, err := b.provider.ClosePayment(b.ctx(), r.PaymentID)
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	got := b.close(r.PaymentID)
	book := b.fake.ChargeTotalsByPayment()[id.Payment.Of(r.PaymentID)]
	if got.Status == paymentports.ProviderPaymentSucceeded {
		require.Equal(b, []int{50_000, 1}, []int{book.Taken, book.Charges})
	} else {
		require.Equal(b, paymentports.ProviderPaymentClosed, got.Status)
		require.Zero(b, book.Charges)
	}
	require.Equal(b, got, b.lookup(r.PaymentID))
}

// hook is a transport that runs a function before the request that it waits for.
type hook struct {
	path string
	once sync.Once
	run  func()
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, h.path) {
		h.once.Do(h.run)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestClose_WhileACollectionIsPrepared_LetsNothingBeMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := feeRequest()
	// nobody has looked: the card is asked for during Collect
	b.fake.PayOnPaymentPage(t, b.open(fee).URL, "4242424242424242")
	r := paymentports.CollectRequest{PaymentID: newID(), FeePaymentID: fee.PaymentID, DepositID: fee.DepositID,
		Amount: 50_000, Description: "D", Attempt: 1}
	slow := b.with(
		&hook{path: sessions, run: func() {
			require.Equal(t, paymentports.ProviderPaymentClosed,
				b.close(r.PaymentID).Status)
		}})
	got, err := slow.ChargeStoredCard(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderPaymentClosed, got.Status)
	require.Empty(t, b.sent("POST", intents))
	b.charged(r.PaymentID, 0)
}

func TestClose_WhileAPageIsMade_LeavesNoPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	slow := b.with(
		&hook{path: sessions, run: func() {
			require.Equal(t, paymentports.ProviderPaymentClosed,
				b.close(r.PaymentID).Status)
		}})
	page, err := slow.OpenPage(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, backURL, page.URL)
	b.fake.PayOnPaymentPage(t, b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)), "4242424242424242")
	b.charged(r.PaymentID, 0)
}

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
		"lookup": (*stripe.Provider).LookupPayment, "close": (*stripe.Provider).ClosePayment,
	}
	for name, ask := range asked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := feeRequest()
			b.fake.PayOnPaymentPage(t, b.open(r).URL, "4242424242424242")
			slow := b.anotherAfter(func() {
				require.Equal(t, paymentports.ProviderPaymentSucceeded,
					b.lookup(r.PaymentID).Status)
			})
			got, err := ask(slow, t.Context(), r.PaymentID)
			require.NoError(t, err)
			require.Equal(t, paymentports.ProviderPaymentSucceeded, got.Status)
			require.Equal(t, b.lookup(r.PaymentID), got)
			b.charged(r.PaymentID, 1)
		})
	}
}
