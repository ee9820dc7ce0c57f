package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	paymentports "partnerdeposits/ports/payments"
)

const (
	goodCard = "4242 4242 4242 4242"
	badCard  = "4000-0000-0000-0002"
	backURL  = "https://pay.test/checkout/token/return"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

// clock shows noon until a test moves it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time {
	return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.ahead.Load()))
}

type bench struct {
	provider *sandbox.Provider
	app      *fiber.App
	pool     *pgxpool.Pool
	clock    *clock
	log      *bytes.Buffer
}

func setup(t *testing.T) bench {
	t.Helper()
	pool := pgtest.New(t)
	b := bench{pool: pool, clock: &clock{}, log: &bytes.Buffer{}}
	b.provider = sandbox.New(pool, "https://dash.test/", system.Entropy{}, b.clock)
	b.app = fiber.New(fiber.Config{
		Immutable: true, DisableStartupMessage: true,
		ErrorHandler: problem.Handler(problem.Config{Logger: slog.New(slog.NewTextHandler(b.log, nil))}),
	})
	sandbox.Mount(b.app, b.provider)
	return b
}

func (b bench) send(t *testing.T, method, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := b.app.Test(req, int(10*time.Second/time.Millisecond))
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

func (b bench) open(t *testing.T) (paymentID id.ID, path string) {
	t.Helper()
	paymentID = system.Entropy{}.NewID()
	page, err := b.provider.OpenPage(context.Background(), paymentports.HostedPageRequest{
		PaymentID: paymentID, Amount: 1_750, Description: "D-7K3M-9Q2X", Locale: "en-GB", ReturnURL: backURL,
	})
	require.NoError(t, err)
	path, ok := strings.CutPrefix(page.URL, "https://dash.test")
	require.True(t, ok, page.URL)
	return paymentID, path
}

func typed(number, expiry, cvc string) url.Values {
	return url.Values{"cardNumber": {number}, "cardExpiry": {expiry}, "cardCvc": {cvc}}
}

func TestProvider_KeepsThePort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	portstest.RequirePaymentProvider(t, func(*testing.T) portstest.ProviderUnderTest {
		return portstest.ProviderUnderTest{
			Provider: b.provider, Now: b.clock.Now, Pass: func(d time.Duration) { b.clock.ahead.Add(int64(d)) },
			Pay: func(t *testing.T, paymentID id.ID, card string) {
				t.Helper()
				known, err := b.provider.LookupPayment(context.Background(), paymentID)
				require.NoError(t, err)
				b.send(t, http.MethodPost, "/sandbox/pay/"+known.Ref, typed(card, "12/34", "123"))
			},
			Mend: func(t *testing.T, feePaymentID id.ID) {
				t.Helper()
				_, err := b.pool.Exec(context.Background(), `UPDATE sandbox_payments SET card = '' WHERE id = $1`, feePaymentID)
				require.NoError(t, err)
			},
		}
	})
}

func TestProvider_SimulatedPayment_EndsAsAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for succeeds, want := range map[bool]paymentports.ProviderPaymentStatus{true: paymentports.ProviderPaymentSucceeded,
		false: paymentports.ProviderPaymentFailed} {
		paymentID, _ := b.open(t)
		require.NoError(t, b.provider.SimulatePayment(context.Background(), paymentID, succeeds))
		require.NoError(t, b.provider.SimulatePayment(context.Background(), paymentID, !succeeds),
			"what is over stays as it is")
		got, err := b.provider.LookupPayment(context.Background(), paymentID)
		require.NoError(t, err)
		require.Equal(t, want, got.Status)
	}
}

func TestProvider_WithoutItsDatabase_IsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool.Close()
	_, err := b.provider.OpenPage(context.Background(), paymentports.HostedPageRequest{PaymentID: id.ID{1}})
	require.ErrorContains(t, err, "service_unavailable")
	_, err = b.provider.LookupPayment(context.Background(), id.ID{1})
	require.ErrorContains(t, err, "service_unavailable")
	_, err = b.provider.ClosePayment(context.Background(), id.ID{1})
	require.ErrorContains(t, err, "service_unavailable")
	_, err = b.provider.ChargeStoredCard(context.Background(), paymentports.CollectRequest{PaymentID: id.ID{1}})
	require.ErrorContains(t, err, "service_unavailable")
}

func TestPage_TakesTheCardsOfTheSandbox(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name, number, expiry, cvc string
		want                      paymentports.ProviderPaymentStatus // open: the tenant corrects the mistake
		says                      string
	}{
		{"good", goodCard, "12/34", "123", paymentports.ProviderPaymentSucceeded, ""},
		{"good without blanks", "4242424242424242", "6/26", "1234", paymentports.ProviderPaymentSucceeded, ""},
		{"long year", goodCard, " 06 / 2026 ", " 123 ", paymentports.ProviderPaymentSucceeded, ""},
		{"bad", badCard, "12/34", "123", paymentports.ProviderPaymentFailed, ""},
		{"some other card", "5555 5555 5555 4444", "12/34", "123", paymentports.ProviderPaymentFailed, ""},
		{"not a number", "4242 4242 4242 424x", "12/34", "123", paymentports.ProviderPaymentOpen, "card number is not valid"},
		{"Luhn", "4242 4242 4242 4241", "12/34", "123", paymentports.ProviderPaymentOpen, "card number is not valid"},
		{"too short", "42", "12/34", "123", paymentports.ProviderPaymentOpen, "card number is not valid"},
		{"nothing", "", "", "", paymentports.ProviderPaymentOpen, "card number is not valid"},
		{"no expiry", goodCard, "", "123", paymentports.ProviderPaymentOpen, "Enter the expiry"},
		{"month 13", goodCard, "13/34", "123", paymentports.ProviderPaymentOpen, "Enter the expiry"},
		{"expired last month", goodCard, "05/26", "123", paymentports.ProviderPaymentOpen, "has expired"},
		{"cvc", goodCard, "12/34", "12", paymentports.ProviderPaymentOpen, "3 or 4 digits"},
		{"cvc in letters", goodCard, "12/34", "abc", paymentports.ProviderPaymentOpen, "3 or 4 digits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			paymentID, path := b.open(t)
			res, body := b.send(t, http.MethodPost, path, typed(c.number, c.expiry, c.cvc))
			if c.want == paymentports.ProviderPaymentOpen {
				require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
				require.Contains(t, body, c.says)
			} else {
				require.Equal(t, http.StatusSeeOther, res.StatusCode)
				require.Equal(t, backURL, res.Header.Get("Location"))
			}
			got, err := b.provider.LookupPayment(context.Background(), paymentID)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Status)
		})
	}
}

func TestPage_NeverKeepsLogsOrShowsACard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, path := b.open(t)
	for _, form := range []url.Values{
		typed("5105 1051 0510 5101", "11/39", "987"), // the last digit is wrong
		typed("5105 1051 0510 5100", "11/39", "987"),
	} {
		_, body := b.send(t, http.MethodPost, path, form)
		for _, kept := range []string{"5105", "11/39", "987"} {
			require.NotContains(t, strings.ReplaceAll(body, "/sandbox/assets/", ""), kept)
		}
	}
	var row string
	require.NoError(t, b.pool.QueryRow(context.Background(),
		`SELECT row_to_json(s)::text FROM sandbox_payments s WHERE status = 'failed'`).Scan(&row))
	require.NotContains(t, row, "51051051")
	require.NotContains(t, row, "11/39")
	b.pool.Close()
	b.send(t, http.MethodPost, path, typed("5105 1051 0510 5100", "11/39", "987"))
	require.NotContains(t, b.log.String(), "5105")
	require.NotEmpty(t, b.log.String())
}

func TestPage_CancelAndReturn_LeavesThePaymentOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paymentID, path := b.open(t)
	res, _ := b.send(t, http.MethodPost, path, url.Values{"intent": {"cancel"}})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	require.Equal(t, backURL, res.Header.Get("Location"))
	got, err := b.provider.LookupPayment(context.Background(), paymentID)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderPaymentOpen, got.Status)
}

func TestPage_OfAPaymentThatIsOver_LeadsBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paymentID, path := b.open(t)
	_, err := b.provider.ClosePayment(context.Background(), paymentID)
	require.NoError(t, err)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		res, _ := b.send(t, method, path, typed(goodCard, "12/34", "123"))
		require.Equal(t, http.StatusSeeOther, res.StatusCode)
		require.Equal(t, backURL, res.Header.Get("Location"))
	}
}

func TestPage_Unknown_IsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unheard := system.Entropy{}.NewID()
	tombstone, err := b.provider.ClosePayment(context.Background(), unheard)
	require.NoError(t, err)
	for _, ref := range []string{"sbx_nothing", "x", "sbx_%00", "sbx_%ff", "sbx_\xff", "sbx_\xc3(", "sbx_\xed\xa0\x80",
		tombstone.Ref} {
		res, _ := b.send(t, http.MethodGet, "/sandbox/pay/"+ref, nil)
		require.Equal(t, http.StatusNotFound, res.StatusCode, ref)
	}
}

func TestPage_IsSafeAndInTheLanguageItWasOpenedIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, path := b.open(t)
	res, body := b.send(t, http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Contains(t, body, "€17.50")
	require.Contains(t, body, "D-7K3M-9Q2X")
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Equal(t, "no-referrer", res.Header.Get("Referrer-Policy"))
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	require.NotContains(t, res.Header.Get("Content-Security-Policy"), "unsafe")

	bare, _, _ := strings.Cut(path, "?")
	_, body = b.send(t, http.MethodGet, bare+"?lang=fr", nil)
	require.Contains(t, body, "17,50\u00a0€")
	require.Contains(t, body, `lang="fr"`)
}
