package groupcommit

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/batch"
)

const tracer = "partnerdeposits/groupcommit"

// Conns is the number of connections that groups use at once.
const Conns = 4

const (
	groupLimit     = 128                  // changes in a group
	groupThreshold = 48                   // changes that wait before a second group starts; a large group costs less each
	groupRest      = 5 * time.Millisecond // bounds the wait of a group for company after a group that had company
	groupCompany   = 10                   // changes that wait no longer than that for company
	groupTimeout   = 5 * time.Second      // bounds a group, up to its commit
	acquireTimeout = 3 * time.Second      // bounds the wait for a connection
)

// Options of Changes; zero fields take the defaults named beside them.
type Options struct {
	// for groups, with postgres.IndexPlans and Conns connections; nil: the pool of lone changes
	Groups           *pgxpool.Pool
	Doorbell         ports.Doorbell // nil: no doorbell
	DefaultMaxAmount money.Cents    // the ceiling of an account without a ceiling of its own; deposit.DefaultMaxAmount
}

// Changes implements ports.Changes.
type Changes struct {
	shared
	lone, groups pg.DB
	queue        batch.Queue[*pending]
}

var _ ports.Changes = (*Changes)(nil)

// New applies changes over pool. A change that waits for a row lock occupies a connection of pool, never of o.Groups.
func New(pool *pgxpool.Pool, cipher pg.Cipher, o Options) *Changes {
	c := &Changes{
		lone: pg.DB{Pool: pool, Wait: acquireTimeout}, groups: pg.DB{Pool: pool, Wait: acquireTimeout},
		shared: shared{sealer: pg.Sealer{Cipher: cipher}, defaultMax: deposit.DefaultMaxAmount, doorbell: o.Doorbell},
	}
	if o.Groups != nil {
		c.groups.Pool = o.Groups
	}
	if o.DefaultMaxAmount != 0 {
		c.defaultMax = o.DefaultMaxAmount
	}
	c.queue.Workers, c.queue.Limit, c.queue.Threshold = Conns, groupLimit, groupThreshold
	c.queue.Rest, c.queue.MinBatch = groupRest, groupCompany
	c.queue.Run = c.applyGroup
	return c
}

// Apply implements ports.Changes.
func (c *Changes) Apply(ctx context.Context, change ports.Change) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.Because(err)
	}
	ctx, end := pg.ChildSpan(ctx, tracer, "change")
	defer end()
	p := &pending{Change: change, ctx: ctx}
	c.queue.Do("", p)
	if p.state == deferred {
		return c.applyAlone(ctx, change)
	}
	return p.err
}

// applyGroup applies a batch of changes in a transaction. Afterwards each change is ended or deferred.
func (c *Changes) applyGroup(changes []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	ctx, end := pg.StartSpan(ctx, tracer, "group commit", changes, func(p *pending) context.Context { return p.ctx })
	defer end()
	if err := c.transact(ctx, c.groups, changes, false); err != nil {
		settle(changes, err)
	}
}

// applyAlone applies a single change. The transaction waits for row locks, and runs again after a deadlock or a
// serialization failure.
func (c *Changes) applyAlone(ctx context.Context, change ports.Change) error {
	return pg.Retry(ctx, func() error {
		p := &pending{Change: change, ctx: ctx}
		if err := c.transact(ctx, c.lone, []*pending{p}, true); err != nil {
			return err
		}
		return p.err
	})
}

// transact reads, decides and writes in a transaction. An error concerns the whole group: either nothing was committed,
// or the connection broke during the commit.
func (c *Changes) transact(ctx context.Context, db pg.DB, changes []*pending, wait bool) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	g := &group{shared: c.shared, tx: pg.Begin(conn), changes: changes, wait: wait}
	defer g.tx.End(ctx) // even if a decision panics
	if err := g.read(ctx); err != nil {
		return err
	}
	for _, p := range changes {
		g.decide(p)
	}
	return g.write(ctx)
}

// settle ends the changes of a failed group that have no result yet. If the database refused a statement, nothing was
// committed and a single change may be at fault: each change is applied alone.
func settle(changes []*pending, err error) {
	again := refused(err)
	for _, p := range changes {
		switch {
		case p.state == ended || p.state == deferred:
		case again:
			p.state = deferred
		default:
			p.state, p.err = ended, err
		}
	}
}

// refused reports whether the database refused a statement. A failure of the connection or of the server is no refusal.
func refused(err error) bool {
	return errors.Is(err, ports.ErrStale) || errors.Is(err, ports.ErrReferenceTaken) || pg.Refused(err)
}
