// Package checkouttest sets up the checkout of deposits for tests: the use cases over a real database and the
// sandbox's payment provider. Tests move the clock, and make the provider and the scoring fail.
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

// DashboardURL is the base URL of the dashboard's pages in tests that run no web server.
const DashboardURL = "http://dash.test"

// CompanyName is the name of the operator's company in tests of the checkout.
const CompanyName = "Les Gîtes d’Ada"

// Fixture is a test kit of services with a partner linked to an account. Its clock, payment provider, scoring,
// metrics and log can be controlled or read by the test.
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

// New sets up a Fixture (services over a database, with a controllable payment provider) for a test. dashboardURL
// is the base URL of its pages; the functions in change edit the rest of its setup.
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

// CreateDeposit creates a deposit of 500 euros as the partner API does, and returns it with its checkout token. The
// functions in change edit the deposit before it is stored.
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

// WithClient returns a function that makes Fixture.Deposit set the deposit's client, as the partner API does for
// a known tenant.
func WithClient(email, first, last string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) {
		d.ClientID = servicetest.NewID()
		d.Client = &deposit.ClientDetails{ID: d.ClientID, Email: email, FirstName: first, LastName: last}
	}
}

// CaptureDeposit captures the whole amount of a secured deposit, for damage, and returns the id of its collection
// payment. The card is not charged yet.
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

// LoadDeposit returns a deposit as the database stores it now.
func (b *Fixture) LoadDeposit(t testing.TB, depositID id.ID) *deposit.Deposit {
	t.Helper()
	d, err := b.Postgres.Deposits.Deposit(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return d
}

// PaymentsOf returns the payments of a deposit that are of the given kind, oldest first.
func (b *Fixture) PaymentsOf(t testing.TB, depositID id.ID, kind deposit.PaymentKind) []deposit.Payment {
	t.Helper()
	all, err := b.Postgres.Payments.Payments(context.WithoutCancel(t.Context()), depositID)
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(p deposit.Payment) bool { return p.Kind != kind })
}

// EventNames returns the names of the events of a deposit, oldest first. " of another version" follows a name whose
// event has another version than its transition.
func (b *Fixture) EventNames(t testing.TB, depositID id.ID) []string {
	t.Helper()
	return b.strings(t, `SELECT o.name || CASE o.data::jsonb->'version' WHEN to_jsonb(t.version) THEN ''
			ELSE ' of another version' END
		FROM outbox o JOIN deposit_transitions t USING (deposit_id, event_id) WHERE deposit_id = $1 ORDER BY event_id`,
		depositID)
}

// AuditActions returns the actions that the audit log has about a deposit, oldest first.
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

// Metrics is a fake of the service's metrics that records the counted status transitions of deposits.
type Metrics struct {
	mu    sync.Mutex
	steps []string
}

func (m *Metrics) CountCreated(string) {}

// CountTransition records a status transition of a deposit and the kind of actor that caused it.
func (m *Metrics) CountTransition(from, to deposit.Status, by actor.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, string(from)+">"+string(to)+" "+string(by))
}

// Transitions returns the recorded transitions of deposits, each as "from>to actor".
func (m *Metrics) Transitions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.steps...)
}

// Scoring is the sandbox's scoring of tenants, which a test can make fail. It counts the assessments.
type Scoring struct {
	scoring.SandboxScorer
	away  atomic.Pointer[error]
	asked atomic.Int64
}

// SetError makes every later assessment of a tenant fail with err; nil ends the failures.
func (s *Scoring) SetError(err error) { s.away.Store(&err) }

// AssessmentCount returns the number of assessments of tenants so far, failed ones included.
func (s *Scoring) AssessmentCount() int { return int(s.asked.Load()) }

// Assess counts an assessment of a tenant, and returns the sandbox's answer, or the error that SetError has set.
func (s *Scoring) Assess(ctx context.Context, a depositports.Applicant) (bool, error) {
	s.asked.Add(1)
	if away := s.away.Load(); away != nil && *away != nil {
		return false, *away
	}
	return s.SandboxScorer.Assess(ctx, a)
}
