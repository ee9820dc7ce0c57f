//go:build !unit

package clients_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/services"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// fixture is a partner with an account and a client.
type fixture struct {
	*servicetest.Kit
	t       *testing.T
	by      partner.Caller
	account id.ID
	client  tenant.Client

	deciding func() // runs once, between the reads and the writes of the next change
	scoring  func() // runs while a tenant is scored
}

const email = "ada@personal.example"

func setup(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := &fixture{t: t}
	f.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Redis = redistest.NewClientAsCloser(t)
		s.Parts = func(p *servicetest.Deps) { p.Changes, p.Scoring = hooked{p.Changes, f}, f }
	})
	f.by, _ = f.CreateCaller("acme")
	f.account = f.CreateAccount("Hotel").ID
	f.LinkAccount(f.by.Partner.ID, f.account, "h")
	f.client = tenant.Client{ID: servicetest.NewID(), AccountID: f.account, PartnerID: f.by.Partner.ID,
		CreatedAt: f.Clock.Now(),
		Person:    tenant.Person{Email: email, FirstName: "Ada", LastName: "Love", Phone: "+33612345678", Locale: "fr"}}
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Clients.Insert(ctx, f.client)
	})
	return f
}

// hooked calls deciding after a change has read its rows.
type hooked struct {
	ports.ChangeApplier
	f *fixture
}

func (h hooked) Apply(ctx context.Context, change ports.GroupCommitChange) error {
	decide := change.Decide
	change.Decide = func(found ports.FoundRows) (ports.RowsToWrite, error) {
		if hook := h.f.deciding; hook != nil {
			h.f.deciding = nil
			hook()
		}
		return decide(found)
	}
	return h.ChangeApplier.Apply(ctx, change)
}

// Assess implements depositports.Scoring: everybody is accepted.
func (f *fixture) Assess(context.Context, depositports.Applicant) (bool, error) {
	if f.scoring != nil {
		f.scoring()
	}
	return true, nil
}

func (f *fixture) deposit(change ...func(*deposit.Deposit)) id.ID {
	f.t.Helper()
	now := f.Clock.Now()
	d, _ := f.CreateDeposit(deposit.Origin{AccountID: f.account, PartnerID: f.by.Partner.ID, PartnerName: "Partner acme",
		ExternalID: "h", ByPartnerAPI: true},
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(time.Hour)}, change...)
	_, err := f.Pool.Exec(f.t.Context(), `UPDATE deposits SET client_id = $1 WHERE id = $2`, f.client.ID, d.ID)
	require.NoError(f.t, err)
	return d.ID
}

func (f *fixture) erase() { require.NoError(f.t, f.Clients.Erase(f.t.Context(), f.by, f.client.ID)) }

// eraseBehind begins an erasure and returns once it waits for the lock of the client. done ends with the erasure.
func (f *fixture) eraseBehind() (done <-chan error) {
	ended := make(chan error, 1)
	go func() { ended <- f.Clients.Erase(context.WithoutCancel(f.t.Context()), f.by, f.client.ID) }()
	require.Eventually(f.t, func() bool {
		return f.Count("pg_stat_activity",
			`datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%LockClient%'`) == 1
	}, servicetest.MaxWait, time.Millisecond, "the erasure waits")
	return ended
}

// personal counts the rows that tell of the person, by table.
func (f *fixture) personal() map[string]int {
	found := map[string]int{}
	for _, table := range []string{"clients", "outbox", "events", "deposits", "deposit_transitions", "audit_log", "mails",
		"deliveries"} {
		if n := f.Count(table, table+"::text LIKE '%"+email+"%'"); n > 0 {
			found[table] = n
		}
	}
	return found
}

func (f *fixture) cancel(depositID id.ID) (tells string) {
	f.t.Helper()
	key := &ports.IdempotencyKey{Owner: f.by.Partner.ID, Route: "cancel", Key: [16]byte(servicetest.NewID())}
	response, err := f.Deposits.Cancel(f.t.Context(), f.by, deposits.Cancellation{DepositID: depositID},
		idempotent.KeyAndEncoder[deposits.PartnerView]{
			Key: key, Encode: func(v deposits.PartnerView) (idempotent.Response, error) {
				body := "nobody"
				if v.Client != nil {
					body = v.Client.Email
				}
				return idempotent.Response{Code: 200, Body: []byte(body)}, nil
			},
		})
	require.NoError(f.t, err)
	return string(response.Body)
}

func TestErase_WhileAChangeDecides_LeavesTheChangeWithoutAClient(t *testing.T) {
	f := setup(t)
	d := f.deposit()
	f.deciding = f.erase
	require.Equal(t, "nobody", f.cancel(d), "the stored response is made anew, too")
	require.Empty(t, f.personal())
	require.Equal(t, 1, f.Count("outbox", `name = 'deposit.cancelled' AND data::jsonb->'client' = 'null'`))
}

func TestErase_WhileATransactionMovesTheDeposit_LetsOneOfBothGoFirst(t *testing.T) {
	f := setup(t)
	d := f.deposit()
	move := func(between func(locked *deposit.Deposit), after func()) {
		f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
			locked, err := repos.Deposits.LockRow(ctx, d)
			require.NoError(t, err)
			between(locked)
			step, err := locked.ApplyTrigger(deposit.TriggerCancelledByPartner, deposit.DefaultTimerDurations(), f.Clock.Now())
			require.NoError(t, err)
			if err := repos.Deposits.StoreTransition(ctx, locked, step); err != nil {
				return err
			}
			if err := repos.Outbox.Append(ctx,
				ports.Event{ID: servicetest.NewID(), PartnerID: f.by.Partner.ID, Name: "deposit.cancelled", DepositID: d,
					Data: locked.EventData(step), CreatedAt: step.At}); err != nil {
				return err
			}
			if _, err := repos.Deposits.LockRow(ctx, d); err != nil { // sends what is queued
				return err
			}
			after()
			return nil
		})
	}
	var ended <-chan error
	move(func(locked *deposit.Deposit) { require.Equal(t, email, locked.Client.Email) },
		func() { ended = f.eraseBehind() })
	require.NoError(t, <-ended)
	require.Equal(t, map[string]int{"outbox": 1}, f.personal(), "the event had committed")
}

func TestErase_AfterATransactionReadTheClient_MakesItRunAgain(t *testing.T) {
	f := setup(t)
	// the cancellation of a begun checkout is a transaction
	d := f.deposit(func(d *deposit.Deposit) { d.CheckoutStartedAt = f.Clock.Now() })
	var once sync.Once
	f.Services = f.BuildServices(func(p *servicetest.Deps) {
		p.AroundPayments = func(all services.PaymentService) services.PaymentService {
			return reading{all, func() { once.Do(f.erase) }}
		}
	})
	require.Equal(t, "nobody", f.cancel(d))
	require.Empty(t, f.personal())
}

// reading calls then after each Processing, which a cancellation calls between its reads and its writes.
type reading struct {
	services.PaymentService
	then func()
}

func (p reading) LockFeeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error) {
	found, err := p.PaymentService.LockFeeInFlight(ctx, depositID)
	p.then()
	return found, err
}

func TestErase_WhileADepositIsCreated_WaitsForIt(t *testing.T) {
	f := setup(t)
	var ended <-chan error
	f.deciding = func() { ended = f.eraseBehind() }
	create := func() error {
		now := f.Clock.Now()
		_, err := f.Deposits.Create(t.Context(), f.by, deposits.NewDeposit{AccountID: f.account, ClientID: &f.client.ID,
			Draft: deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(time.Hour)}},
			idempotent.KeyAndEncoder[deposits.PartnerView]{
				Encode: func(deposits.PartnerView) (idempotent.Response, error) { return idempotent.Response{Code: 201}, nil },
			})
		return err
	}
	require.NoError(t, create())
	require.NoError(t, <-ended)
	require.Empty(t, f.personal())
	require.Equal(t, 1, f.Count("deposits", "client_id = $1", f.client.ID))
	require.Equal(t, 1, f.Count("sealed_addresses", ""), "the erasure saw the new deposit, which has not ended")
	require.ErrorIs(t, create(), deposit.ErrInvalidClient)
}

func TestErase_WhileCheckoutSubmits_KeepsNothingOfTheForm(t *testing.T) {
	for name, typed := range map[string]tenant.Person{
		"the same details":  {Email: email, FirstName: "Ada", LastName: "Love"},
		"corrected details": {Email: email, FirstName: "Ada", LastName: "Lovelace"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			d := f.deposit()
			tokens, err := f.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{d})
			require.NoError(t, err)
			f.scoring = f.erase
			next, err := f.Checkout.Submit(t.Context(), tokens[d], typed, agreement.SubmittedForm{Agreed: true})
			require.NoError(t, err)
			require.Equal(t, []any{"", true, tenant.Person{}}, []any{next.PageURL, next.View.Open, next.View.Person},
				"the form again, empty")
			require.Empty(t, f.personal())
			require.Zero(t, f.Count("payments", ""))

			f.scoring = nil
			next, err = f.Checkout.Submit(t.Context(), tokens[d], typed, agreement.SubmittedForm{Agreed: true})
			require.NoError(t, err)
			require.NotEmpty(t, next.PageURL, "a tenant who types the details after the erasure becomes a new client")
			require.Equal(t, 1, f.Count("clients", "email = $1", email))
			require.Equal(t, 1, f.Count("clients", "erased_at IS NOT NULL"))
		})
	}
}

func TestErase_BehindASubmission_WaitsForItsClient(t *testing.T) {
	f := setup(t)
	d := f.deposit()
	tokens, err := f.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{d})
	require.NoError(t, err)
	var ended <-chan error
	var once sync.Once
	services := f.BuildServices(func(p *servicetest.Deps) {
		p.Clients = inserting{p.Clients, func() { once.Do(func() { ended = f.eraseBehind() }) }}
	})
	_, err = services.Checkout.Submit(t.Context(), tokens[d],
		tenant.Person{Email: "bob@other.example", FirstName: "Bob", LastName: "Other"}, agreement.SubmittedForm{Agreed: true})
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Empty(t, f.personal())
	require.Equal(t, 1, f.Count("clients", "email = 'bob@other.example' AND partner_id = $1", f.by.Partner.ID),
		"Bob is another person")
}

type allClients = partnerports.ClientStore

// inserting calls then before each INSERT of a client.
type inserting struct {
	allClients
	then func()
}

func (c inserting) Insert(ctx context.Context, client tenant.Client) error {
	c.then()
	return c.allClients.Insert(ctx, client)
}

// Who pays was accepted by scoring, unless the partner has changed the client's details since.
func TestSubmit_OfAClientThatThePartnerChanged_IsScoredAgain(t *testing.T) {
	f := setup(t)
	d := f.deposit()
	tokens, err := f.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{d})
	require.NoError(t, err)
	asked := 0
	f.scoring = func() { asked++ }
	submit := func(first string) {
		_, err := f.Checkout.Submit(t.Context(), tokens[d], tenant.Person{Email: email, FirstName: first, LastName: "Love"},
			agreement.SubmittedForm{Agreed: true})
		require.NoError(t, err)
	}
	submit("Ada")
	submit("Ada")
	require.Equal(t, 1, asked)
	eve := "Eve"
	_, err = f.Clients.Update(t.Context(), f.by, f.client.ID, tenant.PersonChange{FirstName: &eve},
		idempotent.KeyAndEncoder[tenant.Client]{
			Encode: func(tenant.Client) (idempotent.Response, error) { return idempotent.Response{Code: 200}, nil },
		})
	require.NoError(t, err)
	submit("Eve")
	require.Equal(t, 2, asked)
}

func TestErase_RemovesTheWaitingMailsToThePerson_AndNoOthers(t *testing.T) {
	f := setup(t)
	d := f.deposit()
	other, draft := f.CreatePartner("other").ID,
		deposit.Draft{Amount: 50_000, ContractStartAt: f.Clock.Now(), ContractEndAt: f.Clock.Now()}
	elsewhere, _ := f.CreateDeposit(deposit.Origin{AccountID: f.CreateAccount("Chalet").ID, PartnerID: other}, draft)
	formerly, _ := f.CreateDeposit(deposit.Origin{AccountID: f.account, PartnerID: other}, draft)
	mail := func(subject, to string, about id.ID, sent bool) {
		_, err := f.Pool.Exec(t.Context(),
			`INSERT INTO mails (id, recipient, subject, body, link_of, created_at, due_at, sent_at)
			VALUES (gen_random_uuid(), $1, $2, 'b', $3, now(), now(), CASE WHEN $4 THEN now() END)`, to, subject, about, sent)
		require.NoError(t, err)
	}
	mail("theirs", email, d, false)
	mail("theirs in capitals", "ADA@personal.example", d, false)
	mail("sent", email, d, true)
	mail("to the operator of the same address", email, id.ID{}, false)
	mail("to another person", "bob@other.example", d, false)
	mail("of another partner", email, elsewhere.ID, false)
	mail("of a former partner of the account", email, formerly.ID, false)
	f.erase()
	require.Equal(t, 5, f.Count("mails", ""))
	require.Zero(t, f.Count("mails", "subject LIKE 'theirs%'"))
}

func TestErasedClient_IsNeverFilledAgain(t *testing.T) {
	f := setup(t)
	f.erase()
	_, err := f.Pool.Exec(t.Context(), `UPDATE clients SET erased_at = NULL, email = 'x' WHERE id = $1`, f.client.ID)
	require.ErrorContains(t, err, "stays erased")
}
