package postgres

import (
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// question is what a member waits for.
type question interface {
	// put adds it to those of its kind, unless the group itself has the answer.
	put(all *questions, g *group, m *member)
}

// asker is the member behind a question. One that has no answer after its round goes on alone.
type asker struct {
	m        *member
	answered bool
}

type askLink struct {
	asker
	partnerID, accountID id.ID
	link                 ports.LinkedAccount
}

type askClient struct {
	asker
	accountID, clientID id.ID
	client              tenant.Client
}

type askDeposit struct {
	asker
	id      id.ID
	deposit *deposit.Deposit
	err     error
}

type askInsert struct {
	asker
	deposit *deposit.Deposit
	token   secret.Text
	sealed  []byte
	err     error
}

type askKey struct {
	asker
	key    ports.IdempotencyKey
	since  time.Time
	stored *ports.StoredResponse
	err    error
}

// questions are those of one round, by kind.
type questions struct {
	askers   []*asker
	links    []*askLink
	clients  []*askClient
	deposits []*askDeposit
	inserts  []*askInsert
	keys     []*askKey
}

func (all *questions) asks(a *asker, m *member) {
	a.m = m
	all.askers = append(all.askers, a)
}

func (q *askLink) put(all *questions, _ *group, m *member) {
	all.asks(&q.asker, m)
	all.links = append(all.links, q)
}

func (q *askClient) put(all *questions, _ *group, m *member) {
	all.asks(&q.asker, m)
	all.clients = append(all.clients, q)
}

func (q *askDeposit) put(all *questions, g *group, m *member) {
	all.asks(&q.asker, m)
	if g.take(q.id, m) {
		all.deposits = append(all.deposits, q)
	}
}

func (q *askInsert) put(all *questions, g *group, m *member) {
	all.asks(&q.asker, m)
	q.answered = true
	if q.sealed, q.err = g.store.sealer.Seal(q.token, pg.CheckoutAAD(q.deposit.ID)); q.err == nil {
		q.err = ports.ErrReferenceTaken // until its id comes back
		all.inserts = append(all.inserts, q)
	}
}

func (q *askKey) put(all *questions, g *group, m *member) {
	all.asks(&q.asker, m)
	q.answered = true
	q.err = ports.ErrKeyInUse // until the lock is had
	if g.take(pg.KeyScope(q.key), m) {
		all.keys = append(all.keys, q)
	}
}

// queue makes one statement of each kind.
func (all *questions) queue(g *group) {
	if len(all.keys) > 0 {
		claimKeys(g, all.keys)
	}
	if len(all.links) > 0 {
		shareLinks(g, all.links)
	}
	if len(all.clients) > 0 {
		shareClients(g, all.clients)
	}
	if len(all.deposits) > 0 {
		lockDeposits(g, all.deposits)
	}
	if len(all.inserts) > 0 {
		insertDeposits(g, all.inserts)
	}
}

// dismiss sends those away who got no answer.
func (all *questions) dismiss() {
	for _, a := range all.askers {
		if !a.answered {
			a.m.leave()
		}
	}
}
