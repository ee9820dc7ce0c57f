package groupcommit

import (
	"context"

	ports "partnerdeposits/ports/platform"
)

// pending is a change that waits for its group commit or is part of it, with its rows, writes and result.
type pending struct {
	ports.GroupCommitChange
	ctx context.Context

	found  ports.FoundRows
	writes ports.RowsToWrite
	err    error

	state state
}

// state is how far a change has got in its group commit.
type state int

const (
	undecided state = iota
	decided         // The writes of the change have been computed, but not written yet.
	ended           // The change is finished: it is committed, or it has failed with the error err.
	deferred
)

func (p *pending) missesRow() bool {
	return (!p.Needs.Deposit.IsZero() && p.found.Deposit == nil) ||
		(p.Needs.Link != (ports.LinkLookupKey{}) && p.found.Link == nil) ||
		(p.Needs.Client != (ports.ClientLookupKey{}) && p.found.Client == nil)
}

func (p *pending) end(err error) { p.state, p.err = ended, err }
