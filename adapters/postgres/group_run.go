package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/fault"
	"partnerdeposits/ports/failpoint"
)

// GroupConns is how many connections WithinGroup uses at once.
const GroupConns = groupsAtOnce

// groupPatience bounds a group up to its commit; no member's own deadline does, as it is everybody's.
const groupPatience = 5 * time.Second

// errUndone: one member failed after its deposit was inserted, so that all is undone.
var errUndone = errors.New("postgres: a member of the group failed after it wrote")

// group is one transaction of several members.
type group struct {
	*pg.Tx
	store *Store
	crew  []*member
	held  map[any]*member // what only one may hold: ids of deposits, scopes of keys
}

// take reports whether m may hold what.
func (g *group) take(what any, m *member) bool {
	if holder, taken := g.held[what]; taken {
		return holder == m
	}
	g.held[what] = m
	return true
}

// runGroup takes a crew through one transaction. Afterwards every member has its result, or is alone.
func (s *Store) runGroup(crew []*member) {
	ctx, cancel := context.WithTimeout(context.Background(), groupPatience)
	defer cancel()
	defer func() {
		for _, m := range crew {
			m.stop() // of those that were never asked
		}
	}()
	if err := s.tryGroup(ctx, crew); err != nil {
		settle(crew, err)
	}
	for _, m := range crew {
		m.settled = true
	}
}

func (s *Store) tryGroup(ctx context.Context, crew []*member) error {
	conn, err := s.groupDB.Acquire(ctx)
	if err != nil {
		return err
	}
	g := &group{Tx: pg.Begin(conn), store: s, crew: crew, held: map[any]*member{}}
	defer g.End(ctx)
	if err := g.gather(ctx); err != nil {
		return err
	}
	return g.commit(ctx)
}

// gather runs the members until none of them has a question.
func (g *group) gather(ctx context.Context) error {
	for {
		var all questions
		for _, m := range g.crew {
			if m.ended {
				continue
			}
			if m.advance(); m.asked != nil {
				m.asked.put(&all, g, m)
			}
		}
		if len(all.askers) == 0 {
			return nil
		}
		if all.queue(g); g.pending() {
			if err := g.Flush(ctx); err != nil {
				return err
			}
		}
		all.dismiss()
	}
}

// pending reports whether a statement waits to be sent, besides BEGIN.
func (g *group) pending() bool { return g.Tx.Pending() }

// commit writes what those members wrote that came through, and commits.
func (g *group) commit(ctx context.Context) error {
	var all writes
	inserted := false
	for _, m := range g.crew {
		if m.err == nil && m.ctx.Err() != nil {
			m.err = fault.ErrUnavailable.Because(m.ctx.Err())
		}
		if m.through() {
			all.add(m.wrote)
			inserted = inserted || m.inserted
		} else if m.inserted {
			return errUndone
		}
	}
	if all.empty() && !inserted {
		return nil
	}
	all.queue(g.Tx)
	failpoint.Hit("store.writing")
	if err := g.Tx.Commit(ctx); err != nil {
		return err
	}
	failpoint.Hit("store.committed")
	if len(all.events) > 0 {
		failpoint.Hit("outbox.committed")
		if g.store.doorbell != nil {
			g.store.doorbell.Ring()
		}
	}
	return nil
}

// through tells whether a member's fn succeeded.
func (m *member) through() bool {
	return m.ended && m.err == nil && !m.alone
}

// settle gives the failure of a group to those members who had no result of their own yet. What was surely undone, and
// might be another one's fault, is tried again by each alone.
func settle(crew []*member, err error) {
	again := undone(err)
	for _, m := range crew {
		if m.ended && !m.through() {
			continue
		}
		m.stop()
		m.alone, m.err = again, err
	}
}

// undone reports whether the server refused a statement: it, and not the way there, failed.
func undone(err error) bool {
	if errors.Is(err, errUndone) || errors.Is(err, pg.ErrRolledBack) {
		return true
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code[:2] {
	case "08", "53", "57", "58":
		return false
	}
	return true
}
