package postgres

import (
	"context"
	"sync"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// Group commit: transactions of callers that come at the same time become one. Under load a change costs a share of three
// round trips, one flush of the log and a handful of statements, where it would cost all of that for itself. Nobody waits
// for company: a caller who finds a place free goes at once, alone; company gathers while all places are taken.
//
//	caller ─▶ join ─▶ members ─▶ one transaction ─┬─▶ each member's fn runs until it asks or ends (member.go)
//	                                              ├─▶ what all of them ask goes out as one batch, one statement for each
//	                                              │   kind of question (group_statements.go); again until nobody asks
//	                                              └─▶ what all of them wrote, and COMMIT, as one batch (group_run.go)
//
// A member cannot tell: it reads what was committed before, its writes are done or undone with its own result, and what
// it locks no other member gets (who asks for it, too, is sent to a transaction of its own). Whatever cannot be shared,
// a statement that fails for one, a wait for a lock, ends the same way: the work runs again by itself, as WithinTx runs it.

const (
	groupsAtOnce = 2
	groupMost    = 128 // members
)

// groups gathers members.
type groups struct {
	run func([]*member)

	mu      sync.Mutex
	waiting []*member
	running int
}

// join returns when m has come through a group. Whoever finds a place free leads a group of those that wait; who has led
// hands the place on.
func (g *groups) join(m *member) {
	g.mu.Lock()
	if g.running == groupsAtOnce {
		g.waiting = append(g.waiting, m)
		g.mu.Unlock()
		if crew := <-m.turn; crew != nil {
			g.lead(crew)
		}
		return
	}
	g.running++
	g.mu.Unlock()
	g.lead([]*member{m})
}

// lead runs a group, its first member being the caller.
func (g *groups) lead(crew []*member) {
	defer func() {
		g.pass()
		for _, m := range crew[1:] {
			m.turn <- nil
		}
	}()
	g.run(crew)
}

// pass gives the place to the first of those that wait, and all others to be led by it.
func (g *groups) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.running--
		return
	}
	n := min(len(g.waiting), groupMost)
	crew := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	crew[0].turn <- crew
}

// WithinGroup implements ports.UnitOfWork.
func (s *Store) WithinGroup(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.Because(err)
	}
	m := newMember(ctx, s.sealer, fn)
	s.groups.join(m)
	if m.alone {
		return s.WithinTx(ctx, fn)
	}
	return m.err
}
