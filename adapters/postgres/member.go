package postgres

import (
	"context"
	"iter"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// leaving is the panic that ends a fn which goes on alone: it is to see no error that it would not meet there.
type leaving struct{}

// member is one caller's work in a group. Its fn runs as a coroutine of the leader: no two run at once, and there is no
// goroutine to wake until the group is through.
type member struct {
	ctx context.Context

	step func() (question, bool) // runs fn until it asks (true) or has ended
	stop func()                  // ends a fn that asked

	asked    question // waits for its answer
	wrote    writes
	inserted bool // a deposit: that is written at once, to see whether its reference is free

	alone   bool  // run again by itself
	ended   bool  // fn has returned, with err
	err     error // fn's, or why the group failed
	settled bool  // the group has come to its end, so that all this counts
}

func newMember(ctx context.Context, seal pg.Sealer, fn func(context.Context, ports.Repositories) error) *member {
	m := &member{ctx: ctx}
	m.step, m.stop = iter.Pull(func(yield func(question) bool) {
		defer func() {
			m.ended = true
			if recover() != nil {
				m.alone = true // a panic of its own happens again there, with the stack of its caller
			}
		}()
		m.err = fn(context.WithValue(ctx, inGroup{}, true), m.repositories(seal, yield))
	})
	return m
}

// advance runs fn until it asks or ends.
func (m *member) advance() {
	m.asked, _ = m.step()
}

// leave ends fn, whose work runs again by itself.
func (m *member) leave() {
	m.alone = true
	m.stop()
}

// repositories gives what a group can share. Everything else is made of a transaction that takes no
// statement: the member leaves.
func (m *member) repositories(seal pg.Sealer, yield func(question) bool) ports.Repositories {
	refusing := unit{Tx: pg.Refusing(func() { panic(leaving{}) })}
	ask := func(q question) {
		if !m.wrote.empty() || !yield(q) {
			panic(leaving{})
		}
	}
	return ports.Repositories{
		Partners:      partners{refusing},
		Operators:     operators{refusing},
		Links:         memberLinks{LinkRepository: links{unit: refusing}, ask: ask},
		Clients:       memberClients{ClientRepository: clients{refusing}, ask: ask},
		Deposits:      memberDeposits{DepositRepository: deposits{refusing}, m: m, ask: ask},
		Payments:      payments{refusing},
		Subscriptions: subscriptions{refusing},
		Deliveries:    deliveries{refusing},
		Replays:       replays{refusing},
		Outbox:        memberOutbox{m},
		Idempotency:   memberKeys{IdempotencyRepository: idempotency{refusing}, m: m, ask: ask, sealer: seal},
		Mails:         mails{refusing},
		Audit:         audit{refusing},
	}
}

type asking func(question)

type memberLinks struct {
	ports.LinkRepository
	ask asking
}

func (r memberLinks) OfPartner(_ context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error) {
	q := &askLink{partnerID: partnerID, accountID: accountID}
	r.ask(q)
	return q.link, nil
}

type memberClients struct {
	ports.ClientRepository
	ask asking
}

func (r memberClients) OfAccount(_ context.Context, accountID, clientID id.ID) (tenant.Client, error) {
	q := &askClient{accountID: accountID, clientID: clientID}
	r.ask(q)
	return q.client, nil
}

type memberDeposits struct {
	ports.DepositRepository
	m   *member
	ask asking
}

func (r memberDeposits) ForUpdate(_ context.Context, depositID id.ID) (*deposit.Deposit, error) {
	q := &askDeposit{id: depositID}
	r.ask(q)
	return q.deposit, q.err
}

func (r memberDeposits) Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error {
	if d.Status != deposit.Pending || d.Version != 1 || !d.CheckoutStartedAt.IsZero() {
		return r.DepositRepository.Insert(ctx, d, checkoutToken)
	}
	q := &askInsert{deposit: d, token: checkoutToken, err: ports.ErrReferenceTaken}
	r.ask(q)
	return q.err
}

func (r memberDeposits) Transition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error {
	if step.To == deposit.Active { // sets a timer as well; comes from checkout, one at a time
		return r.DepositRepository.Transition(ctx, d, step)
	}
	r.m.wrote.transitions = append(r.m.wrote.transitions, transitionParams(d, step))
	return nil
}

type memberOutbox struct{ m *member }

func (r memberOutbox) Append(_ context.Context, e ports.Event) error {
	r.m.wrote.events = append(r.m.wrote.events, eventParams(e))
	return nil
}

type memberKeys struct {
	ports.IdempotencyRepository
	m      *member
	ask    asking
	sealer pg.Sealer
}

func (r memberKeys) Claim(_ context.Context, k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	q := &askKey{key: k, since: now.Add(-ports.IdempotencyWindow)}
	r.ask(q)
	return q.stored, q.err
}

func (r memberKeys) Store(_ context.Context, k ports.IdempotencyKey, response ports.StoredResponse) error {
	params, err := responseParams(r.sealer, k, response)
	if err == nil {
		r.m.wrote.responses = append(r.m.wrote.responses, params)
	}
	return err
}
