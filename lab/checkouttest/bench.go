// Package checkouttest sets up the checkout for tests, over a real database and the sandbox's payment provider,
// with clock and failures under the test's control.
package checkouttest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/servicetest"
	depositports "partnerdeposits/ports/deposits"
)

// DashboardURL is the dashboard's base URL in tests without a web server.
const DashboardURL = "http://dash.test"

const CompanyName = "Les Gîtes d’Ada"

// Fixture is the service for a test, with a linked partner. The test controls its clock, payment provider and
// scoring.
type Fixture struct {
	*servicetest.Kit
	Clock    *servicetest.Clock
	Sandbox  *sandbox.Provider
	Provider *Provider
	Scoring  *Scoring
	Metrics  *Metrics
	Log      *procs.OutputBuffer

	PartnerID id.ID
	AccountID id.ID
}

// New sets up a Fixture for a test. dashboardURL is the base URL of its pages; change edits its setup.
func New(t testing.TB, dashboardURL string, change ...func(*servicetest.Setup)) *Fixture {
	t.Helper()
	noon := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	b := &Fixture{Clock: servicetest.NewClock(noon), Provider: &Provider{}, Scoring: &Scoring{}, Metrics: &Metrics{},
		Log: &procs.OutputBuffer{}}
	b.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock, s.Config.DashboardBaseURL = b.Clock, dashboardURL
		s.Pool.MaxConns, s.Store.AcquireTimeout = 10, servicetest.MaxWait
		s.Parts = func(p *servicetest.Deps) {
			b.Sandbox, _ = p.Simulator.(*sandbox.Provider)
			b.Provider.PaymentProvider = b.Sandbox
			p.Provider, p.Simulator, p.Scoring, p.DepositMetrics = b.Provider, b.Sandbox, b.Scoring, b.Metrics
			p.Log = slog.New(slog.NewTextHandler(b.Log, nil))
		}
		for _, edit := range change {
			edit(s)
		}
	})
	b.PartnerID = b.CreatePartnerWithSecret("demo", "", func(p *partner.Partner) { p.Name = "Demo" }).ID
	b.AccountID = b.CreateAccount(CompanyName).ID
	b.LinkAccount(b.PartnerID, b.AccountID, "ext-1")
	return b
}

// CreateDeposit creates a deposit of 500 euros as the partner API does, and returns its checkout token. change
// edits the deposit before it is stored.
func (b *Fixture) CreateDeposit(t testing.TB, change ...func(*deposit.Deposit)) (*deposit.Deposit, secret.Text) {
	t.Helper()
	now := b.Clock.Now()
	return b.Kit.CreateDeposit(
		deposit.Origin{AccountID: b.AccountID, PartnerID: b.PartnerID, PartnerName: "Demo", ExternalID: "ext-1",
			ByPartnerAPI: true},
		deposit.Draft{
			Amount: 50_000, ContractStartAt: now.Add(24 * time.Hour), ContractEndAt: now.Add(8 * 24 * time.Hour),
			RentalContract: "B-1042", ReturnURL: "https://partner.test/back?booking=7", URLGeneration: true,
		}, change...)
}

// WithClient makes Fixture.CreateDeposit set the deposit's client, as the partner API does for a known tenant.
func WithClient(email, first, last string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) {
		d.ClientID = servicetest.NewID()
		d.Client = &deposit.ClientDetails{ID: d.ClientID, Email: email, FirstName: first, LastName: last}
	}
}

// CaptureDeposit captures the whole amount of a secured deposit, and returns the id of the collection payment. The
// card is not charged yet.
func (b *Fixture) CaptureDeposit(t testing.TB, depositID id.ID) id.ID {
	t.Helper()
	collection := deposit.Payment{
		ID: servicetest.NewID(), DepositID: depositID, Kind: deposit.PaymentKindCollection, Status: deposit.PaymentProcessing,
		CreatedAt: b.Clock.Now(), CheckAt: b.Clock.Now(),
	}
	b.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		d, err := r.Deposits.LockRow(ctx, depositID)
		require.NoError(t, err)
		step, err := d.Capture(nil, 0, deposit.DefaultTimerDurations(), b.Clock.Now())
		require.NoError(t, err)
		step.Actor, step.Detail = actor.Actor{Kind: actor.KindOperator},
			map[string]string{"reason": "damage", "description": "Broken coffee table"}
		if err := r.Deposits.StoreTransition(ctx, d, step); err != nil {
			return err
		}
		collection.Amount = d.CapturedAmount
		return r.Payments.Insert(ctx, collection)
	})
	return collection.ID
}

func (b *Fixture) LoadDeposit(t testing.TB, depositID id.ID) *deposit.Deposit {
	t.Helper()
	d, err := b.Postgres.Deposits.Deposit(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return d
}

// PaymentsOf returns a deposit's payments of a kind, oldest first.
func (b *Fixture) PaymentsOf(t testing.TB, depositID id.ID, kind deposit.PaymentKind) []deposit.Payment {
	t.Helper()
	all, err := b.Postgres.Payments.Payments(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(p deposit.Payment) bool { return p.Kind != kind })
}

// EventNames returns the event names of a deposit, oldest first. " of another version" marks an event whose
// version differs from its transition.
func (b *Fixture) EventNames(t testing.TB, depositID id.ID) []string {
	t.Helper()
	return b.strings(t, `SELECT o.name || CASE o.data::jsonb->'version' WHEN to_jsonb(t.version) THEN ''
			ELSE ' of another version' END
		FROM outbox o JOIN deposit_transitions t USING (deposit_id, event_id) WHERE deposit_id = $1 ORDER BY event_id`,
		depositID)
}

// AuditActions returns a deposit's actions in the audit log, oldest first.
func (b *Fixture) AuditActions(t testing.TB, depositID id.ID) []string {
	t.Helper()
	return b.strings(t, `SELECT action FROM audit_log WHERE subject = $1 ORDER BY id`, id.Deposit.Of(depositID))
}

func (b *Fixture) strings(t testing.TB, query string, arg any) []string {
	t.Helper()
	var out []string
	err := b.Pool.QueryRow(context.WithoutCancel(t.Context()),
		`SELECT coalesce(array_agg(x), '{}') FROM (`+query+`) AS s(x)`, arg).Scan(&out)
	require.NoError(t, err)
	return out
}

// Metrics is a fake that records the counted status transitions of deposits.
type Metrics struct {
	mu    sync.Mutex
	steps []string
}

func (m *Metrics) CountCreated(string) {}

func (m *Metrics) CountTransition(from, to deposit.Status, by actor.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, string(from)+">"+string(to)+" "+string(by))
}

// Transitions returns the recorded transitions, each as "from>to actor".
func (m *Metrics) Transitions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.steps...)
}

// Scoring is the sandbox's scoring of tenants. It counts assessments, and a test can make it fail.
type Scoring struct {
	scoring.SandboxScorer
	away  atomic.Pointer[error]
	asked atomic.Int64
}

// SetError makes every later assessment fail with err; nil ends the failures.
func (s *Scoring) SetError(err error) { s.away.Store(&err) }

// AssessmentCount counts the assessments of tenants, failed ones included.
func (s *Scoring) AssessmentCount() int { return int(s.asked.Load()) }

// Assess returns the sandbox's assessment of a tenant, or the error of SetError.
func (s *Scoring) Assess(ctx context.Context, a depositports.Applicant) (bool, error) {
	s.asked.Add(1)
	if away := s.away.Load(); away != nil && *away != nil {
		return false, *away
	}
	return s.SandboxScorer.Assess(ctx, a)
}
