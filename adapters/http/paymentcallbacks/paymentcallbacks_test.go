package paymentcallbacks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/paymentcallbacks"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const key = "whsec_test"

// signer verifies callbacks as Stripe's library does, and reads the ids from the body.
type signer struct{}

func (signer) CallbackRoute() paymentports.CallbackRoute {
	return paymentports.CallbackRoute{Path: "/webhooks/payments/any", Header: "Any-Signature"}
}

func (signer) VerifyCallback(body []byte, signature string, now time.Time) (n paymentports.Callback, err error) {
	var at int64
	var sum string
	if _, err := fmt.Sscanf(strings.Replace(signature, ",v1=", " ", 1), "t=%d %s", &at, &sum); err != nil {
		return n, paymentports.ErrCallbackRefused
	}
	if !hmac.Equal([]byte(sum), []byte(mac(body, at))) || now.Sub(time.Unix(at, 0)) > 300*time.Second {
		return n, paymentports.ErrCallbackRefused
	}
	var sent struct {
		Payment, Ref string
		Dispute      bool
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return n, nil
	}
	n.PaymentID, _ = id.Payment.Parse(sent.Payment)
	n.ProviderRef, n.Dispute = sent.Ref, sent.Dispute
	return n, nil
}

func mac(body []byte, at int64) string {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprintf(h, "%d.%s", at, body)
	return hex.EncodeToString(h.Sum(nil))
}

// provider has books and refuses to be asked while a callback is taken.
type provider struct {
	disputes []paymentports.Dispute
	payment  id.ID
	away     bool
	asked    int
	during   func() // runs while the provider is asked; nil: nothing
}

func (p *provider) BookEntries(context.Context, time.Time, time.Time) iter.Seq2[paymentports.BookEntry, error] {
	return func(func(paymentports.BookEntry, error) bool) {}
}

func (p *provider) Disputes(context.Context, id.ID) ([]paymentports.Dispute, error) {
	if p.asked++; p.away {
		return nil, errors.New("away")
	}
	if p.during != nil {
		p.during()
	}
	return p.disputes, nil
}

func (p *provider) PaymentIDOf(context.Context, string) (id.ID, error) { return p.payment, nil }

// counter counts what reaches Postgres and Redis.
type counter struct{ queries, commands atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.queries.Add(1)
	return ctx
}
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *counter) DialHook(next goredis.DialHook) goredis.DialHook                 { return next }
func (c *counter) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error { c.commands.Add(1); return next(ctx, cmd) }
}
func (c *counter) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error { c.commands.Add(1); return next(ctx, cmds) }
}

type world struct {
	*servicetest.Kit
	t        *testing.T
	clock    *servicetest.Clock
	counter  *counter
	provider *provider
	app      *fiber.App
	account  id.ID
}

func setup(t *testing.T) *world {
	t.Parallel()
	w := &world{t: t, clock: servicetest.NewClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)), counter: &counter{},
		provider: &provider{}}
	w.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock, s.Pool.Tracer = w.clock, w.counter
		away := goredis.NewClient(&goredis.Options{MaxRetries: -1, DialerRetries: 1,
			Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("away") }})
		away.AddHook(w.counter)
		s.Redis = away
		s.Parts = func(p *servicetest.Deps) { p.Callbacks, p.Books = signer{}, w.provider }
	})
	w.account = w.CreateAccount("Chalets").ID
	w.app = fiber.New(middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{
		Logger: slog.New(slog.DiscardHandler), IsPage: func(*fiber.Ctx) bool { return false },
	})}))
	w.app.Use(middleware.RequestID(), middleware.Recover(), middleware.LimitHandlerTime(time.Minute),
		middleware.RefuseSmuggling())
	paymentcallbacks.Mount(w.app, w.Callbacks)
	return w
}

// payment adds a payment of a new deposit.
func (w *world) payment(kind deposit.PaymentKind, status deposit.PaymentStatus) deposit.Payment {
	w.t.Helper()
	now := w.clock.Now()
	d, _ := w.CreateDeposit(deposit.Origin{AccountID: w.account},
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.AddDate(0, 0, 7)})
	p := deposit.Payment{ID: servicetest.NewID(), DepositID: d.ID, Kind: kind, Amount: 1_750, Status: status,
		CreatedAt: now, CheckAt: now.Add(5 * time.Minute)}
	if status != deposit.PaymentProcessing {
		p.SettledAt = now
	}
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Insert(ctx, p) })
	return p
}

func (w *world) post(body, signature string) (status int, answer string) {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/webhooks/payments/any", strings.NewReader(body))
	if signature != "" {
		r.Header.Set("Any-Signature", signature)
	}
	res, err := w.app.Test(r, -1)
	require.NoError(w.t, err)
	return res.StatusCode, readAll(w.t, res)
}

func readAll(t *testing.T, res *http.Response) string {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(text)
}

func (w *world) signed(body string) int {
	w.t.Helper()
	at := w.clock.Now().Unix()
	status, answer := w.post(body, fmt.Sprintf("t=%d,v1=%s", at, mac([]byte(body), at)))
	require.Empty(w.t, answer)
	return status
}

func about(p deposit.Payment) string {
	return fmt.Sprintf(`{"payment":%q}`, id.Payment.Of(p.ID))
}

func TestCallback_UnsignedForgedOrOld_IsA400WithoutAQueryOrACommand(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindFee, deposit.PaymentProcessing)
	body, now := about(p), w.clock.Now().Unix()
	queries, commands := w.counter.queries.Load(), w.counter.commands.Load()
	require.Positive(t, queries, "the counter counts")
	for name, signature := range map[string]string{
		"unsigned": "", "nonsense": "v1=x", "forged": fmt.Sprintf("t=%d,v1=%s", now, mac([]byte(body+" "), now)),
		"old":          fmt.Sprintf("t=%d,v1=%s", now-301, mac([]byte(body), now-301)),
		"another time": fmt.Sprintf("t=%d,v1=%s", now+1, mac([]byte(body), now)),
	} {
		status, answer := w.post(body, signature)
		require.Equal(t, http.StatusBadRequest, status, name)
		require.Contains(t, answer, `{"error":{"code":"notice_refused","message":`, name)
		require.NotContains(t, answer, body, name)
	}
	status, _ := w.post(strings.Repeat("x", 64<<10+1), "")
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	require.Equal(t, queries, w.counter.queries.Load())
	require.Equal(t, commands, w.counter.commands.Load())
}

func TestCallback_PaymentInProcessing_IsDueAtOnceAndNothingIsBelieved(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindFee, deposit.PaymentProcessing)
	commands := w.counter.commands.Load()
	for range 3 { // repeats
		require.Equal(t, http.StatusNoContent, w.signed(about(p)))
	}
	all, err := w.Postgres.Payments.Payments(t.Context(), p.DepositID)
	require.NoError(t, err)
	require.Equal(t, deposit.PaymentProcessing, all[0].Status)
	require.Equal(t, w.clock.Now(), all[0].CheckAt)
	require.Zero(t, w.Count("payment_questions", ""))
	require.Zero(t, w.provider.asked)
	require.Equal(t, commands, w.counter.commands.Load())
	w.clock.Add(-time.Minute)
	require.Equal(t, http.StatusNoContent, w.signed(about(p)), "from a clock behind")
}

func TestCallback_UnknownTypeOrPayment_ChangesNothing(t *testing.T) {
	w := setup(t)
	queries := w.counter.queries.Load()
	for _, body := range []string{`{}`, `[`, `{"ref":"pi_1"}`} {
		require.Equal(t, http.StatusNoContent, w.signed(body))
	}
	require.Equal(t, queries, w.counter.queries.Load(), "a callback that names nothing costs no query")
	require.Equal(t, http.StatusNoContent, w.signed(about(deposit.Payment{ID: servicetest.NewID()})))
	require.Equal(t, http.StatusNoContent, w.signed(about(w.payment(deposit.PaymentKindFee, deposit.PaymentSucceeded))))
	require.Zero(t, w.Count("payment_questions", ""))
}

func TestCallback_PaymentThatEndedUnpaid_IsLookedUpOnce(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindFee, deposit.PaymentVoided)
	require.Equal(t, http.StatusNoContent, w.signed(about(p)))
	require.Equal(t, http.StatusNoContent, w.signed(about(p)))
	require.Equal(t, 1, w.Count("payment_questions", "told = 2 AND NOT dispute"))
	answered, err := w.Callbacks.RunDueQueries(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, answered)
	require.Zero(t, w.Count("payment_questions", ""))
}

func (w *world) disputed(p deposit.Payment, status string) paymentports.Dispute {
	return paymentports.Dispute{Ref: "dp_1", PaymentID: p.ID, Amount: p.Amount, Reason: "fraudulent", Status: status,
		EvidenceDueBy: w.clock.Now().Add(time.Hour), CreatedAt: w.clock.Now()}
}

func TestDispute_ToldByACallback_IsAskedAuditedShownAndMailed(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindCollection, deposit.PaymentSucceeded)
	_, o, err := w.Postgres.Operators.AccountByID(t.Context(), w.account)
	require.NoError(t, err)
	w.provider.payment, w.provider.disputes = p.ID, []paymentports.Dispute{w.disputed(p, "needs_response")}
	tell := func() {
		t.Helper()
		require.Equal(t, http.StatusNoContent, w.signed(`{"ref":"pi_1","dispute":true}`))
		require.Zero(t, w.Count("disputes", "status = 'lost'"), "the callback itself is no answer")
		_, err := w.Callbacks.RunDueQueries(t.Context())
		require.NoError(t, err)
		require.Zero(t, w.Count("payment_questions", ""))
	}
	tell()
	tell()
	require.Equal(t, 1, w.Count("audit_log", "action = 'payment.dispute'"), "the same state is no change")
	require.Len(t, w.ListMails(o.Email), 1)
	require.Contains(t, w.ListMails(o.Email)[0].Subject, "disputed")

	w.provider.disputes = []paymentports.Dispute{w.disputed(p, "lost")}
	w.provider.disputes[0].CreatedAt = w.clock.Now()
	tell()
	require.Equal(t, 2, w.Count("audit_log", "action = 'payment.dispute'"))
	require.Len(t, w.ListMails(o.Email), 2)
	v, err := w.Desk.FindDeposit(t.Context(), connect.Account{ID: w.account}, p.DepositID)
	require.NoError(t, err)
	require.Len(t, v.Disputes, 1)
	require.Equal(t, "lost", v.Disputes[0].Status)
	all, err := w.Postgres.Payments.Payments(t.Context(), p.DepositID)
	require.NoError(t, err)
	require.Equal(t, deposit.PaymentSucceeded, all[0].Status, "a dispute changes no payment")
}

func TestDispute_ProviderAway_IsAskedAMinuteLaterWithEachFailure(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindCollection, deposit.PaymentSucceeded)
	w.provider.payment, w.provider.away = p.ID, true
	require.Equal(t, http.StatusNoContent, w.signed(`{"ref":"pi_1","dispute":true}`))
	for tries, wait := range []time.Duration{0, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute} {
		if wait > 0 {
			w.clock.Add(wait - time.Second)
			_, err := w.Callbacks.RunDueQueries(t.Context())
			require.NoError(t, err, "not yet due")
			w.clock.Add(time.Second)
		}
		_, err := w.Callbacks.RunDueQueries(t.Context())
		require.Error(t, err)
		require.Equal(t, 1, w.Count("payment_questions", fmt.Sprintf("tries = %d", tries+1)))
	}
	_, err := w.Pool.Exec(t.Context(), `UPDATE payment_questions SET tries = 500, due_at = $1`, w.clock.Now())
	require.NoError(t, err)
	for range 2 {
		_, err = w.Callbacks.RunDueQueries(t.Context())
		require.Error(t, err)
		w.clock.Add(32*time.Minute - time.Second)
		_, err = w.Callbacks.RunDueQueries(t.Context())
		require.NoError(t, err, "the longest wait stands for all further tries")
		w.clock.Add(time.Second)
	}
	w.provider.away, w.provider.disputes = false, []paymentports.Dispute{w.disputed(p, "needs_response")}
	answered, err := w.Callbacks.RunDueQueries(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, answered)
	require.Equal(t, 1, w.Count("disputes", ""))
}

func TestDispute_OfAnUnknownPayment_IsLeftAlone(t *testing.T) {
	w := setup(t)
	require.Equal(t, http.StatusNoContent, w.signed(`{"ref":"pi_9","dispute":true}`))
	_, err := w.Callbacks.RunDueQueries(t.Context())
	require.NoError(t, err)
	require.Zero(t, w.Count("payment_questions", ""))
	require.Zero(t, w.Count("disputes", ""))
}

// What the provider answered may be older than a callback that arrives meanwhile.
func TestDispute_ToldAgainWhileTheProviderIsAsked_IsAskedOnceMore(t *testing.T) {
	w := setup(t)
	p := w.payment(deposit.PaymentKindCollection, deposit.PaymentSucceeded)
	w.provider.payment, w.provider.disputes = p.ID, []paymentports.Dispute{w.disputed(p, "needs_response")}
	const told = `{"ref":"pi_1","dispute":true}`
	require.Equal(t, http.StatusNoContent, w.signed(told))
	w.provider.during = func() {
		w.provider.during = nil
		require.Equal(t, http.StatusNoContent, w.signed(told))
	}
	_, err := w.Callbacks.RunDueQueries(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, w.Count("payment_questions", ""))
	_, err = w.Callbacks.RunDueQueries(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, w.provider.asked)
	require.Zero(t, w.Count("payment_questions", ""))
}
