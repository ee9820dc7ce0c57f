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

// MaxConns is the number of connections to Postgres that group commits use at once.
const MaxConns = 4

const (
	groupLimit = 128 // The most changes that one group commit applies in its transaction.
	// The number of waiting changes above which a second group commit starts.
	groupThreshold = 48
	// The longest pause after a group commit of several changes, in which more changes arrive for the next.
	groupRest      = 5 * time.Millisecond
	groupTimeout   = 5 * time.Second // The time limit of the transaction of a group commit.
	acquireTimeout = 3 * time.Second // The longest wait of a group commit for a connection.
)

// Options are the settings of group commits. A zero field means the default that its comment states.
type Options struct {
	// The pool of connections for group commits, with postgres.IndexPlanSettings and Conns connections. The default is the
	// pool of single changes.
	Groups *pgxpool.Pool
	// Doorbell wakes the dispatchers after a commit of events; by default none.
	Doorbell ports.Doorbell
	// The greatest amount of a deposit for accounts that have negotiated none. The default is
	// deposit.DefaultMaxAmount.
	DefaultMaxAmount money.Cents
}

// Committer applies changes that arrive at the same time in a single transaction (group commit).
type Committer struct {
	shared
	lone, groups pg.DB
	queue        batch.Queue[*pending]
}

var _ ports.ChangeApplier = (*Committer)(nil)

// New makes a Committer over pool. Changes that arrive together use o.Groups, where none waits for a row lock.
func New(pool *pgxpool.Pool, cipher pg.Cipher, o Options) *Committer {
	c := &Committer{
		lone: pg.DB{Pool: pool, Wait: acquireTimeout}, groups: pg.DB{Pool: pool, Wait: acquireTimeout},
		shared: shared{sealer: pg.TextCipher{Cipher: cipher}, defaultMax: deposit.DefaultMaxAmount, doorbell: o.Doorbell},
	}
	if o.Groups != nil {
		c.groups.Pool = o.Groups
	}
	if o.DefaultMaxAmount != 0 {
		c.defaultMax = o.DefaultMaxAmount
	}
	c.queue.Workers, c.queue.Limit, c.queue.Threshold = MaxConns, groupLimit, groupThreshold
	c.queue.Rest = groupRest
	c.queue.Run = c.applyGroup
	return c
}

// Apply applies a change, together with others of the same time, and waits until it is committed or has failed.
func (c *Committer) Apply(ctx context.Context, change ports.GroupCommitChange) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.WithCause(err)
	}
	ctx, end := pg.StartChildSpan(ctx, tracer, "change")
	defer end()
	p := &pending{GroupCommitChange: change, ctx: ctx}
	c.queue.AddAndWait(p)
	if p.state == deferred {
		return c.applyAlone(ctx, change)
	}
	return p.err
}

// applyGroup applies a batch of changes in a single transaction. Afterwards each has its result or is deferred, to
// be applied alone.
func (c *Committer) applyGroup(changes []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	ctx, end := pg.StartBatchSpan(ctx, tracer, "group commit", changes, func(p *pending) context.Context { return p.ctx })
	defer end()
	if err := c.transact(ctx, c.groups, changes, false); err != nil {
		settle(changes, err)
	}
}

// applyAlone applies a single change. It waits for row locks, and runs again after a deadlock.
func (c *Committer) applyAlone(ctx context.Context, change ports.GroupCommitChange) error {
	return pg.RetryTx(ctx, func() error {
		p := &pending{GroupCommitChange: change, ctx: ctx}
		if err := c.transact(ctx, c.lone, []*pending{p}, true); err != nil {
			return err
		}
		return p.err
	})
}

// transact reads, decides and writes all changes in a single transaction. A returned error concerns the whole group.
func (c *Committer) transact(ctx context.Context, db pg.DB, changes []*pending, wait bool) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	g := &group{shared: c.shared, tx: pg.Begin(conn), changes: changes, wait: wait}
	defer g.tx.RollbackIfOpen(ctx) // The deferred call ends the transaction even if a change panics.
	if err := g.read(ctx); err != nil {
		return err
	}
	for _, p := range changes {
		g.decide(p)
	}
	return g.write(ctx)
}

// settle sets the result of each unfinished change of a failed group. If the database refused a statement, each
// is deferred, to be applied alone.
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

// refused reports whether the database refused a statement, so that nothing was committed.
func refused(err error) bool {
	return errors.Is(err, ports.ErrStaleVersion) || errors.Is(err, ports.ErrReferenceTaken) || pg.NothingCommitted(err)
}
