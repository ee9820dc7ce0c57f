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

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/cmd/servicetest"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// DashboardURL is where the pages live unless a test says otherwise.
const DashboardURL = "http://dash.test"

// Company is the name of the operator's company.
const Company = "Les Gîtes d’Ada"

// Bench is a kit with a partner that is linked to an account, and parts that a test can watch and break.
type Bench struct {
	*servicetest.Kit
	Clock    *servicetest.Clock
	Sandbox  *sandbox.Provider
	Provider *Provider
	Scoring  *Scoring
	Metrics  *Metrics
	Log      *Log

	PartnerID id.ID
	AccountID id.ID
}

// New sets up a bench whose pages live at dashboardURL.
func New(t testing.TB, dashboardURL string) *Bench {
	t.Helper()
	noon := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	b := &Bench{Clock: servicetest.NewClock(noon), Provider: &Provider{}, Scoring: &Scoring{}, Metrics: &Metrics{}, Log: &Log{}}
	b.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock, s.Config.DashboardBaseURL = b.Clock, dashboardURL
		s.Pool.MaxConns, s.Store.AcquireTimeout = 10, servicetest.Patience
		s.Parts = func(p *servicetest.Parts) {
			b.Sandbox, _ = p.Simulator.(*sandbox.Provider)
			b.Provider.PaymentProvider = b.Sandbox
			p.Provider, p.Simulator, p.Scoring, p.DepositMetrics = b.Provider, b.Sandbox, b.Scoring, b.Metrics
			p.Log = slog.New(slog.NewTextHandler(b.Log, nil))
		}
	})
	b.PartnerID = b.PartnerWithSecret("demo", "", func(p *partner.Partner) { p.Name = "Demo" }).ID
	b.AccountID = b.Account(Company).ID
	b.Link(b.PartnerID, b.AccountID, "ext-1")
	return b
}

// Deposit makes a deposit of 500 euros as the partner API does; change edits it before it is stored.
func (b *Bench) Deposit(t testing.TB, change ...func(*deposit.Deposit)) (*deposit.Deposit, secret.Text) {
	t.Helper()
	now := b.Clock.Now()
	return b.Kit.Deposit(
		deposit.Origin{AccountID: b.AccountID, PartnerID: b.PartnerID, PartnerName: "Demo", ExternalID: "ext-1", ByPartnerAPI: true},
		deposit.Draft{
			Amount: 50_000, ContractStartAt: now.Add(24 * time.Hour), ContractEndAt: now.Add(8 * 24 * time.Hour),
			RentalContract: "B-1042", ReturnURL: "https://partner.test/back?booking=7", URLGeneration: true,
		}, change...)
}

// Client gives the deposit a client that the partner made.
func Client(email, first, last string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) {
		d.ClientID = servicetest.NewID()
		d.Client = &deposit.Client{ID: d.ClientID, Email: email, FirstName: first, LastName: last}
	}
}

// Load reads the deposit as it is now.
func (b *Bench) Load(t testing.TB, depositID id.ID) *deposit.Deposit {
	t.Helper()
	d, err := b.Postgres.Deposit(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return d
}

// PaymentsOf gives the deposit’s payments of a kind, oldest first.
func (b *Bench) PaymentsOf(t testing.TB, depositID id.ID, kind deposit.PaymentKind) []deposit.Payment {
	t.Helper()
	all, err := b.Postgres.Payments(context.WithoutCancel(t.Context()), depositID)
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
