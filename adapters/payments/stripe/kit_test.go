package stripe_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

const (
	backURL = "https://pay.test/checkout/token/return"
	email   = "ada.lovelace@example.com"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

// clockOf is a clock that moves with the fake's.
type clockOf struct{ fake *stripetest.Fake }

func (c clockOf) Now() time.Time { return c.fake.Now().UTC().Truncate(time.Microsecond) }

// bench is a provider on a fake of Stripe.
type bench struct {
	*testing.T
	provider *stripe.Provider
	fake     *stripetest.Fake
	pool     *pgxpool.Pool
	log      *logged
}

// logged is a log that several goroutines write.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func setup(t *testing.T) bench {
	t.Helper()
	return on(t, stripetest.Start(t, stripetest.Options{}))
}

func on(t *testing.T, fake *stripetest.Fake) bench {
	t.Helper()
	b := bench{T: t, fake: fake, pool: pgtest.New(t), log: &logged{}}
	b.provider = b.another()
	return b
}

// another makes a provider of another process on the same database. Each request has a connection of its own: net/http
// repeats a request with an Idempotency-Key when a reused connection dies, which would hide lost answers from the
// tests.
func (b bench) another() *stripe.Provider {
	return b.with(&http.Transport{DisableKeepAlives: true})
}

func (b bench) with(transport http.RoundTripper) *stripe.Provider {
	return stripe.New(stripe.Options{
		Transport: transport,
		Pool:      b.pool, Clock: clockOf{b.fake}, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		SecretKey: stripetest.SecretKey, WebhookSecret: stripetest.WebhookSecret, BaseURL: b.fake.URL(),
	})
}

func newID() id.ID { return system.Entropy{}.NewID() }

func feeRequest() paymentports.HostedPageRequest {
	return paymentports.HostedPageRequest{
		PaymentID: newID(), DepositID: newID(), Kind: deposit.PaymentKindFee, Amount: 1_750, Description: "D-7K3M-9Q2X",
		Email: email, Locale: "fr-BE", ReturnURL: backURL,
	}
}

func (b bench) ctx() context.Context { return b.Context() }

func (b bench) open(r paymentports.HostedPageRequest) paymentports.HostedPage {
	b.Helper()
	page, err := b.provider.OpenPage(b.ctx(), r)
	require.NoError(b, err)
	return page
}

func (b bench) lookup(paymentID id.ID) paymentports.ProviderPayment {
	b.Helper()
	got, err := b.provider.LookupPayment(b.ctx(), paymentID)
	require.NoError(b, err)
	return got
}

func (b bench) collect(r paymentports.CollectRequest) paymentports.ProviderPayment {
	b.Helper()
	got, err := b.provider.ChargeStoredCard(b.ctx(), r)
	require.NoError(b, err)
	return got
}

func (b bench) close(paymentID id.ID) paymentports.ProviderPayment {
	b.Helper()
	got, err := b.provider.ClosePayment(b.ctx(), paymentID)
	require.NoError(b, err)
	return got
}

// owing makes a fee paid with a card, and a request to collect.
func (b bench) owing(card string) paymentports.CollectRequest {
	b.Helper()
	r := feeRequest()
	b.fake.PayOnPaymentPage(b, b.open(r).URL, card)
	require.Equal(b, paymentports.ProviderPaymentSucceeded, b.lookup(r.PaymentID).Status)
	return paymentports.CollectRequest{
		PaymentID: newID(), FeePaymentID: r.PaymentID, DepositID: r.DepositID, Amount: 50_000, Description: r.Description,
		Attempt: 1,
	}
}

func pageOf(r paymentports.CollectRequest) paymentports.HostedPageRequest {
	return paymentports.HostedPageRequest{
		PaymentID: r.PaymentID, DepositID: r.DepositID, Kind: deposit.PaymentKindCollection, Amount: r.Amount,
		Description: r.Description,
		Email:       email, Locale: "en", ReturnURL: backURL,
	}
}

// charged requires the number of charges of a payment that succeeded.
func (b bench) charged(paymentID id.ID, want int) {
	b.Helper()
	require.Equal(b, want, b.fake.ChargeTotalsByPayment()[id.Payment.Of(paymentID)].Charges)
}

// sent gives the requests to a path so far.
func (b bench) sent(method, path string) (found []stripetest.Request) {
	for _, r := range b.fake.Requests() {
		if r.Method == method && r.Path == path {
			found = append(found, r)
		}
	}
	return found
}

func TestProvider_KeepsThePort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	portstest.RequirePaymentProvider(t, func(*testing.T) portstest.ProviderUnderTest {
		return portstest.ProviderUnderTest{
			Provider: b.provider, RefusedStaysOpen: true, Now: b.fake.Now, Pass: b.fake.AdvanceClock,
			Pay: func(t *testing.T, paymentID id.ID, card string) {
				t.Helper()
				if page := b.fake.PaymentPageURL(id.Payment.Of(paymentID)); page != "" {
					b.fake.PayOnPaymentPage(t, page, card)
				}
			},
			Mend: func(_ *testing.T, feePaymentID id.ID) { b.fake.RepairSavedCards(id.Payment.Of(feePaymentID)) },
		}
	})
}
