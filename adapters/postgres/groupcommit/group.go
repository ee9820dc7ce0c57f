package groupcommit

import (
	"context"
	"errors"

	"partnerdeposits/adapters/postgres/accounts"
	"partnerdeposits/adapters/postgres/deposits"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/partners"
	"partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

type shared struct {
	sealer     pg.TextCipher
	defaultMax money.Cents
	doorbell   ports.Doorbell
}

// group is a transaction that applies several changes (a group commit).
type group struct {
	shared
	tx      *pg.Tx
	changes []*pending
	// Whether the group commit waits for locked rows, instead of deferring the changes that need them.
	wait bool
}

// read locks and reads the idempotency keys and rows that a group's changes need, in a single round trip.
func (g *group) read(ctx context.Context) error {
	locking := sets.RowLockingSkip
	if g.wait {
		locking = sets.RowLockingWait
	}
	keys := g.queueKeys()
	g.queueLinks(locking)
	g.queueClients(locking)
	g.queueDeposits(locking)
	if err := g.tx.Flush(ctx); err != nil {
		return err
	}
	for p, key := range keys {
		stored, err := key.Result()
		if err == nil && stored == nil && p != key.first {
			err = ports.ErrIdempotencyKeyInUse
		}
		if p.found.Stored = stored; err != nil {
			p.end(err)
		}
	}
	return g.readMissingClients(ctx)
}

// claim is a locked idempotency key with the first change that uses it; only this change may take effect.
type claim struct {
	*platform.IdempotencyClaim
	first *pending
}

// queueKeys queues the statements that lock the changes' idempotency keys and read their stored responses.
func (g *group) queueKeys() map[*pending]claim {
	byChange := make(map[*pending]claim, len(g.changes))
	byScope := make(map[string]claim, len(g.changes))
	claims := make([]*platform.IdempotencyClaim, 0, len(g.changes))
	for _, p := range g.changes {
		if p.Needs.Key == nil {
			continue
		}
		scope := pg.IdempotencyKeyScope(*p.Needs.Key)
		c, known := byScope[scope]
		if !known {
			c = claim{&platform.IdempotencyClaim{Key: *p.Needs.Key, Since: p.Needs.Now.Add(-ports.IdempotencyWindow)}, p}
			byScope[scope] = c
			claims = append(claims, c.IdempotencyClaim)
		}
		byChange[p] = c
	}
	if len(claims) > 0 {
		platform.ClaimIdempotencyKeys(g.tx, g.sealer, claims)
	}
	return byChange
}

// queueDeposits queues the locks of the changes' deposits. Of several changes of a deposit, only the first gets
// the row.
func (g *group) queueDeposits(locking sets.RowLocking) {
	byID := make(map[id.ID]*pending, len(g.changes))
	for _, p := range g.changes {
		depositID := p.Needs.Deposit
		if depositID.IsZero() {
			continue
		}
		if byID[depositID] == nil {
			byID[depositID] = p
		}
	}
	if len(byID) > 0 {
		deposits.LockDeposits(g.tx, g.sealer, keysOf(byID), locking,
			func(d *deposit.Deposit) { byID[d.ID].found.Deposit = d })
	}
}

func (g *group) queueLinks(locking sets.RowLocking) {
	byPair := map[ports.LinkLookupKey][]*pending{}
	for _, p := range g.changes {
		if p.Needs.Link != (ports.LinkLookupKey{}) {
			byPair[p.Needs.Link] = append(byPair[p.Needs.Link], p)
		}
	}
	if len(byPair) == 0 {
		return
	}
	accounts.LockLinksShared(g.tx, keysOf(byPair), locking, g.defaultMax, func(l ports.LinkedAccount) {
		for _, p := range byPair[ports.LinkLookupKey{PartnerID: l.PartnerID, AccountID: l.AccountID}] {
			p.found.Link = &l
		}
	})
}

func (g *group) queueClients(locking sets.RowLocking) {
	byClient := map[ports.ClientLookupKey][]*pending{}
	for _, p := range g.changes {
		if p.Needs.Client != (ports.ClientLookupKey{}) {
			byClient[p.Needs.Client] = append(byClient[p.Needs.Client], p)
		}
	}
	if len(byClient) == 0 {
		return
	}
	partners.LockClientsShared(g.tx, keysOf(byClient), locking, func(c tenant.Client) {
		for _, p := range byClient[ports.ClientLookupKey{AccountID: c.AccountID, ClientID: c.ID}] {
			p.found.Client = &c
		}
	})
}

// readMissingClients reads a change's deposit again if its client is missing. A group of several changes defers
// it instead.
func (g *group) readMissingClients(ctx context.Context) (err error) {
	for _, p := range g.changes {
		d := p.found.Deposit
		switch {
		case d == nil || !deposits.IsClientMissing(d):
		case g.wait:
			if p.found.Deposit, err = deposits.ReloadMissingClient(ctx, g.tx, g.sealer, d); err != nil {
				return err
			}
		default:
			p.found.Deposit = nil
		}
	}
	return nil
}

// decide computes the writes of a change from its rows. A group of several changes defers a change that lacks a
// row or panics.
func (g *group) decide(p *pending) {
	if p.state != undecided {
		return
	}
	if !g.wait {
		if p.found.Stored == nil && p.missesRow() {
			p.state = deferred
			return
		}
		defer func() {
			if recover() != nil {
				p.state = deferred
			}
		}()
	}
	writes, err := p.Decide(p.found)
	switch {
	case err != nil:
	case p.ctx.Err() != nil:
		err = fault.ErrUnavailable.WithCause(p.ctx.Err())
	case writes.Insert != nil && !locked(p.found, writes.Insert.Deposit):
		err = errUnlocked
	}
	if err != nil || writes.IsEmpty() {
		p.end(err)
		return
	}
	p.state, p.writes = decided, writes
}

// errUnlocked is the error for inserting a deposit with a link or client that was not locked, which the
// database does not check (ADR 0012).
var errUnlocked = errors.New("groupcommit: the deposit refers to rows that its transaction has not locked")

// locked reports whether the transaction has locked all rows to which a deposit refers.
func locked(found ports.FoundRows, d *deposit.Deposit) bool {
	return found.Link != nil && found.Link.AccountID == d.AccountID && found.Link.PartnerID == d.PartnerID &&
		(d.ClientID.IsZero() || (found.Client != nil && found.Client.ID == d.ClientID))
}

// write sends the writes of all changes of a group commit, and COMMIT, in a single round trip.
func (g *group) write(ctx context.Context) error {
	var all rows
	for _, p := range g.changes {
		if p.state != decided {
			continue
		}
		if err := all.add(p, g.sealer); err != nil {
			p.end(err)
		}
	}
	if all.none() {
		return nil
	}
	if err := all.queue(g.tx, g.sealer); err != nil {
		return err
	}
	failpoint.Hit("store.writing")
	if err := g.tx.Commit(ctx); err != nil {
		return err
	}
	failpoint.Hit("store.committed")
	if len(all.events) > 0 {
		failpoint.Hit("outbox.committed")
		if g.doorbell != nil {
			g.doorbell.WakeRelays()
		}
	}
	return nil
}

// rows collects what a group commit writes, by kind of row.
type rows struct {
	inserts   []ports.NewDeposit
	moves     []ports.DepositTransition
	events    []ports.Event
	responses []platform.KeyedResponse
}

// add adds the rows that a change writes to those of the group; none on an error.
func (r *rows) add(p *pending, sealer pg.TextCipher) error {
	if p.writes.Response != nil {
		response := platform.KeyedResponse{Key: *p.Needs.Key, Response: *p.writes.Response}
		if err := response.Encrypt(sealer); err != nil {
			return err
		}
		r.responses = append(r.responses, response)
	}
	if p.writes.Insert != nil {
		r.inserts = append(r.inserts, *p.writes.Insert)
	}
	if p.writes.Transition != nil {
		r.moves = append(r.moves, *p.writes.Transition)
	}
	if p.writes.Event != nil {
		event := *p.writes.Event
		event.TraceParent, event.RequestID = pg.TraceParent(p.ctx), ports.RequestIDOf(p.ctx)
		r.events = append(r.events, event)
	}
	return nil
}

func (r *rows) none() bool {
	return len(r.inserts)+len(r.moves)+len(r.events)+len(r.responses) == 0
}

// queue queues one SQL statement for each kind of row that the group commit writes.
func (r *rows) queue(t *pg.Tx, sealer pg.TextCipher) error {
	if len(r.inserts) > 0 {
		if err := deposits.InsertDeposits(t, sealer, r.inserts); err != nil {
			return err
		}
	}
	if len(r.moves) > 0 {
		deposits.StoreTransitions(t, r.moves)
	}
	if len(r.events) > 0 {
		platform.AppendEvents(t, r.events)
	}
	if len(r.responses) > 0 {
		platform.StoreKeyedResponses(t, r.responses)
	}
	return nil
}

func keysOf[K comparable, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
