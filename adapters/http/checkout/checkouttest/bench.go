// Package checkouttest sets up checkout for tests: the real use cases over a real database and the sandbox provider,
// with a clock to move and a provider to break.
package checkouttest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/checkout"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/timers"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// DashboardURL is where the pages live unless a test says otherwise.
const DashboardURL = "http://dash.test"

// patience is how long a test waits for the database.
const patience = time.Minute

// Company is the name of the operator's company.
const Company = "Les Gîtes d’Ada"

// Bench holds the services of a checkout over a database of its own.
type Bench struct {
	Pool     *pgxpool.Pool
	Cipher   postgres.Cipher
	Store    *postgres.Store
	Clock    *Clock
	Sandbox  *sandbox.Provider
	Provider *Provider
	Scoring  *Scoring
	Metrics  *Metrics
	Log      *Log

	Checkout     *checkout.Service
	Payments     *payments.Service
	Timers       *timers.Service
	PaymentsDeps payments.Deps
	TimersDeps   timers.Deps

	PartnerID id.ID
	AccountID id.ID
}

// New sets up a bench whose pages live at dashboardURL.
func New(t testing.TB, dashboardURL string) *Bench {
	t.Helper()
	// A busy machine is not what these tests are about.
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.PoolOptions{MaxConns: 10, StatementTimeout: patience, LockTimeout: patience})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	b := &Bench{
		Pool: pool, Cipher: cipher, Store: postgres.NewStore(pool, cipher, postgres.Options{AcquireTimeout: patience}), Clock: NewClock(), Metrics: &Metrics{}, Log: &Log{},
		Scoring: &Scoring{}, PartnerID: newID(), AccountID: newID(),
	}
	b.Sandbox = sandbox.New(pool, dashboardURL, system.Entropy{}, b.Clock)
	b.Provider = &Provider{PaymentProvider: b.Sandbox}
	log := slog.New(slog.NewTextHandler(b.Log, nil))
	b.PaymentsDeps = payments.Deps{
		UnitOfWork: b.Store, Deposits: b.Store, Payments: b.Store, Provider: b.Provider, Simulator: b.Sandbox, Clock: b.Clock,
		Entropy: system.Entropy{}, Metrics: b.Metrics, Log: log, Timers: deposit.DefaultTimers(), DashboardURL: dashboardURL,
	}
	b.Payments = payments.New(b.PaymentsDeps)
	b.TimersDeps = timers.Deps{
		UnitOfWork: b.Store, Due: b.Store, Payments: b.Payments, Clock: b.Clock, Entropy: system.Entropy{}, Metrics: b.Metrics, Log: log,
		Timers: deposit.DefaultTimers(),
	}
	b.Timers = timers.New(b.TimersDeps)
	b.Checkout = checkout.New(checkout.Deps{
		UnitOfWork: b.Store, Deposits: b.Store, Accounts: b.Store, Payments: b.Payments, Scoring: b.Scoring, Clock: b.Clock, Entropy: system.Entropy{},
	})
	b.seed(t)
	return b
}

func newID() id.ID { return system.Entropy{}.NewID() }

func (b *Bench) seed(t testing.TB) {
	t.Helper()
	now, operatorID := b.Clock.Now(), newID()
	b.Write(t, func(ctx context.Context, r ports.Repositories) error {
		if err := r.Partners.Insert(ctx, partner.Partner{ID: b.PartnerID, Slug: "demo", Name: "Demo", CreatedAt: now}, ""); err != nil {
			return err
		}
		operator := connect.Operator{ID: operatorID, Email: "ada@gites.example", PasswordHash: "x", CreatedAt: now}
		account := connect.Account{ID: b.AccountID, OperatorID: operatorID, CompanyName: Company, CreatedAt: now}
		if err := r.Operators.Insert(ctx, operator, account); err != nil {
			return err
		}
		return r.Links.Insert(ctx, connect.Link{ID: newID(), PartnerID: b.PartnerID, AccountID: b.AccountID, ExternalID: "ext-1", LinkedAt: now})
	})
}

// Write runs fn in a transaction.
func (b *Bench) Write(t testing.TB, fn func(context.Context, ports.Repositories) error) {
	t.Helper()
	require.NoError(t, b.Store.WithinTx(context.WithoutCancel(t.Context()), fn))
}

// Deposit makes a deposit of 500 euros as the partner API would; change may bend it.
func (b *Bench) Deposit(t testing.TB, change ...func(*deposit.Deposit)) (*deposit.Deposit, secret.Text) {
	t.Helper()
	now := b.Clock.Now()
	random := system.Entropy{}.Bytes(deposit.ReferenceBytes)
	d := deposit.New(newID(), deposit.Reference(random),
		deposit.Origin{AccountID: b.AccountID, PartnerID: b.PartnerID, PartnerName: "Demo", ExternalID: "ext-1", ByPartnerAPI: true},
		deposit.Draft{
			Amount: 50_000, ContractStartAt: now.Add(24 * time.Hour), ContractEndAt: now.Add(8 * 24 * time.Hour),
			RentalContract: "B-1042", ReturnURL: "https://partner.test/back?booking=7", URLGeneration: true,
		}, nil, now)
	for _, c := range change {
		c(d)
	}
	token := secret.FromRandom("", system.Entropy{}.Bytes(secret.Bytes))
	b.Write(t, func(ctx context.Context, r ports.Repositories) error {
		if d.Client != nil {
			c := tenant.Client{ID: d.ClientID, AccountID: d.AccountID, PartnerID: d.PartnerID, CreatedAt: now,
				Person: tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}}
			if err := r.Clients.Insert(ctx, c); err != nil {
				return err
			}
		}
		return r.Deposits.Insert(ctx, d, token)
	})
	return d, token
}

// Client gives the deposit a client that the partner made.
func Client(email, first, last string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) {
		d.ClientID = newID()
		d.Client = &deposit.Client{ID: d.ClientID, Email: email, FirstName: first, LastName: last}
	}
}

// Load reads the deposit as it is now.
func (b *Bench) Load(t testing.TB, depositID id.ID) *deposit.Deposit {
	t.Helper()
	d, err := b.Store.Deposit(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return d
}

// PaymentsOf gives the deposit’s payments of a kind, oldest first.
func (b *Bench) PaymentsOf(t testing.TB, depositID id.ID, kind deposit.PaymentKind) []deposit.Payment {
	t.Helper()
	all, err := b.Store.Payments(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	var out []deposit.Payment
	for _, p := range all {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// Events gives the names of the deposit's events, oldest first.
func (b *Bench) Events(t testing.TB, depositID id.ID) []string {
	t.Helper()
	return b.strings(t, `SELECT name FROM outbox WHERE deposit_id = $1 ORDER BY event_id`, depositID)
}

// Audit gives the actions in the audit log about the deposit.
func (b *Bench) Audit(t testing.TB, depositID id.ID) []string {
	t.Helper()
	return b.strings(t, `SELECT action FROM audit_log WHERE subject = $1 ORDER BY id`, id.Deposit.Of(depositID))
}

func (b *Bench) strings(t testing.TB, query string, arg any) []string {
	t.Helper()
	var out []string
	err := b.Pool.QueryRow(context.WithoutCancel(t.Context()), `SELECT coalesce(array_agg(x), '{}') FROM (`+query+`) AS s(x)`, arg).Scan(&out)
	require.NoError(t, err)
	return out
}

// Clock stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at noon of a day.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)} }

// Now implements ports.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Metrics remembers the steps that were counted.
type Metrics struct {
	mu    sync.Mutex
	steps []string
}

// Transitioned implements ports.DepositMetrics.
func (m *Metrics) Transitioned(from, to deposit.Status, by string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, string(from)+">"+string(to)+" "+by)
}

// Steps gives what was counted so far.
func (m *Metrics) Steps() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.steps...)
}

// Log is a buffer that many may write to.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives what was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Scoring is the sandbox's, and can be away.
type Scoring struct {
	scoring.Sandbox
	mu    sync.Mutex
	away  error
	asked int
}

// Break makes scoring answer err; nil mends it.
func (s *Scoring) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
}

// Asked counts the questions.
func (s *Scoring) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Assess implements ports.Scoring.
func (s *Scoring) Assess(ctx context.Context, a ports.Applicant) (bool, error) {
	s.mu.Lock()
	s.asked++
	away := s.away
	s.mu.Unlock()
	if away != nil {
		return false, away
	}
	return s.Sandbox.Assess(ctx, a)
}
