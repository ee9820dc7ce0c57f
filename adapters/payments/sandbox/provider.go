// Package sandbox is a payment provider for all environments except production, with its own data (table
// sandbox_payments) and payment page (docs/decisions/0003-payment-provider.md). Card data decides the outcome
// and is then discarded: never stored, logged or sent back.
package sandbox

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/site"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

const (
	refPrefix = "sbx_"
	// Number of random bytes in the reference of a payment, the secret that protects its page.
	refBytes = 18
)

const (
	columns   = `ref, amount_cents, description, return_url, status, failure, card, attempt, refusal, updated_at`
	find      = `SELECT ` + columns + ` FROM sandbox_payments WHERE `
	findByID  = find + `id = $1`
	findByRef = find + `ref = $1`

	end = `UPDATE sandbox_payments SET status = $2, failure = $3, card = $4,
		refusal = CASE WHEN $2 = 'failed' AND attempt > 0 THEN 'tenant' ELSE '' END, updated_at = $5 WHERE status = 'open'
		AND `
	endByID  = end + `id = $1`
	endByRef = end + `ref = $1`
)

type Provider struct {
	pool    *pgxpool.Pool
	baseURL string
	entropy ports.Entropy
	clock   ports.Clock
}

// New makes the sandbox's payment provider. baseURL is the origin of its pages, without a path.
func New(pool *pgxpool.Pool, baseURL string, entropy ports.Entropy, clock ports.Clock) *Provider {
	return &Provider{pool: pool, baseURL: strings.TrimSuffix(baseURL, "/"), entropy: entropy, clock: clock}
}

// errKeyReused is the error for a payment that was requested again with another amount.
var errKeyReused = errors.New("sandbox: idempotency key used with another amount")

// entry is a row of the table sandbox_payments.
type entry struct {
	ref         string
	amount      money.Cents
	description string
	returnURL   string
	status      paymentports.ProviderPaymentStatus
	failure     string
	card        string
	attempt     int
	refusal     paymentports.ChargeRefusalKind
	// When the payment last changed: when the tenant paid, if on the payment page.
	updatedAt time.Time
}

func (e entry) payment() paymentports.ProviderPayment {
	out := paymentports.ProviderPayment{Status: e.status, Ref: e.ref, Failure: e.failure, Refusal: e.refusal}
	if e.status == paymentports.ProviderPaymentSucceeded && e.attempt == 0 {
		out.PaidAt = e.updatedAt
	}
	return out
}

// OpenPage returns the payment page of a payment, or of a collection whose charge was refused.
func (p *Provider) OpenPage(ctx context.Context, r paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
	e, err := p.upsert(ctx, r.PaymentID, `
		INSERT INTO sandbox_payments (id, ref, amount_cents, description, return_url, status)
		VALUES ($1, $2, $3, $4, $5, 'open') ON CONFLICT (id)
		DO UPDATE SET status = 'open', return_url = $5, updated_at = now()
		WHERE sandbox_payments.status = 'failed' AND sandbox_payments.amount_cents = $3 AND $6`,
		p.newRef(), int64(r.Amount), r.Description, r.ReturnURL, r.Kind == deposit.PaymentKindCollection)
	if err != nil {
		return paymentports.HostedPage{}, err
	}
	if e.status != paymentports.ProviderPaymentOpen {
		return paymentports.HostedPage{Ref: e.ref, URL: r.ReturnURL}, nil
	}
	if e.amount != r.Amount {
		return paymentports.HostedPage{}, fault.ErrInternal.WithCause(errKeyReused)
	}
	return paymentports.HostedPage{Ref: e.ref, URL: p.pageURL(e.ref, r.Locale)}, nil
}

func (p *Provider) newRef() string {
	return refPrefix + base64.RawURLEncoding.EncodeToString(p.entropy.Bytes(refBytes))
}

func (p *Provider) pageURL(ref, locale string) string {
	u := site.PageURL(p.baseURL, site.FillPath(site.SandboxPaymentPath, ref))
	if language, _, _ := strings.Cut(locale, "-"); language != "" {
		u += "?" + url.Values{langParam: {language}}.Encode()
	}
	return u
}

func (p *Provider) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	e, err := p.byID(ctx, paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentUnknown}, nil
	}
	return e.payment(), err
}

// ClosePayment closes a payment so that it can no longer be paid. An unknown payment is stored as closed.
func (p *Provider) ClosePayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	e, err := p.upsert(ctx, paymentID, `
		INSERT INTO sandbox_payments AS s (id, ref, amount_cents, description, return_url, status)
		VALUES ($1, $2, 0, '', '', 'closed')
		ON CONFLICT (id) DO UPDATE SET status = 'closed', failure = '', refusal = '', updated_at = now()
		WHERE s.status = 'open' OR (s.status = 'failed' AND s.attempt > 0)`,
		p.newRef())
	return e.payment(), err
}

// upsert runs an INSERT … ON CONFLICT UPDATE and returns the row, even if the conflict changed nothing.
func (p *Provider) upsert(ctx context.Context, paymentID id.ID, query string, args ...any) (entry, error) {
	e, err := scan(p.pool.QueryRow(ctx, query+` RETURNING `+columns, append([]any{[16]byte(paymentID)}, args...)...))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return p.byID(ctx, paymentID)
	case err != nil:
		return e, unavailable(err)
	}
	return e, nil
}

// SimulatePayment ends an open payment as the tenant would: paid, or with a declined card.
func (p *Provider) SimulatePayment(ctx context.Context, paymentID id.ID, succeeds bool) error {
	result := verdict{status: paymentports.ProviderPaymentSucceeded}
	if !succeeds {
		result = verdict{status: paymentports.ProviderPaymentFailed, failure: failureDeclined}
	}
	return p.end(ctx, endByID, [16]byte(paymentID), result)
}

// end stores the outcome of a payment whose page is open.
func (p *Provider) end(ctx context.Context, query string, key any, v verdict) error {
	_, err := p.pool.Exec(ctx, query, key, string(v.status), v.failure, v.later, p.clock.Now())
	if err != nil {
		return unavailable(err)
	}
	return nil
}

func (p *Provider) byID(ctx context.Context, paymentID id.ID) (entry, error) {
	return p.find(ctx, findByID, [16]byte(paymentID))
}

func (p *Provider) byRef(ctx context.Context, ref string) (entry, error) {
	return p.find(ctx, findByRef, ref)
}

// find returns a payment by a query. pgx.ErrNoRows stays unchanged, to distinguish a missing payment from an
// outage.
func (p *Provider) find(ctx context.Context, query string, key any) (entry, error) {
	e, err := scan(p.pool.QueryRow(ctx, query, key))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return e, unavailable(err)
	}
	return e, err
}

func scan(row pgx.Row) (e entry, err error) {
	var outcome, refusal string
	err = row.Scan(&e.ref, (*int64)(&e.amount), &e.description, &e.returnURL, &outcome, &e.failure, &e.card, &e.attempt,
		&refusal, &e.updatedAt)
	e.status, e.refusal = paymentports.ProviderPaymentStatus(outcome), paymentports.ChargeRefusalKind(refusal)
	return e, err
}

func unavailable(err error) error { return fault.ErrUnavailable.WithCause(err) }
