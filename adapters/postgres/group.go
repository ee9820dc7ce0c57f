package postgres

import (
	"context"
	"errors"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// Group commit: transactions of callers that come at the same time become one. Under load a change costs a share of three
// round trips, one flush of the log and a handful of statements, where it would cost all of that for itself.
//
//	caller ─▶ gather ─▶ members ─▶ one transaction ─┬─▶ each member's fn runs until it asks or ends (member.go)
//	                                              ├─▶ what all of them ask goes out as one batch, one statement for each
//	                                              │   kind of question (group_statements.go); again until nobody asks
//	                                              └─▶ what all of them wrote, and COMMIT, as one batch (group_run.go)
//
// A member cannot tell: it reads what was committed before, its writes are done or undone with its own result, and what
// it locks no other member gets (who asks for it, too, is sent to a transaction of its own). Whatever cannot be shared,
// a statement that fails for one, a wait for a lock, ends the same way: the work runs again by itself, as WithinTx runs it.

const (
	groupsAtOnce = 4
	groupMost    = 128 // members
	groupCrowd   = 48  // waiting for the first group, before there is another
)

// errUnsettled: the leader panicked, and nobody knows what became of the group.
var errUnsettled = errors.New("postgres: a group came to no end")

// inGroup marks the context of a member's fn: what begins another transaction there cannot wait for this one's place.
type inGroup struct{}

// WithinGroup implements ports.UnitOfWork.
func (s *Store) WithinGroup(ctx context.Context, fn func(context.Context, ports.Repositories) error) error {
	if err := ctx.Err(); err != nil {
		return fault.ErrUnavailable.Because(err)
	}
	if ctx.Value(inGroup{}) != nil {
		return s.WithinTx(ctx, fn)
	}
	m := newMember(ctx, s.sealer, fn)
	s.groups.Do("", m)
	switch {
	case !m.settled:
		return fault.ErrUnavailable.Because(errUnsettled)
	case m.alone:
		return s.WithinTx(ctx, fn)
	default:
		return m.err
	}
}
