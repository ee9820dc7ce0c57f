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
	writes ports.ChangeWrites
	err    error

	state state
}

// state is how far a change has got in its group commit: waiting, decided, finished, or left to be applied alone.
type state int

const (
	undecided state = iota
	decided         // The writes of the change have been computed; its group commit has not written them yet.
	ended           // The change is finished: it is committed, or it has failed with the error err.
	// The change could not be applied in the group commit and will be applied alone afterwards.
	deferred
)

func (p *pending) missesRow() bool {
	return (!p.Needs.Deposit.IsZero() && p.found.Deposit == nil) ||
		(p.Needs.Link != (ports.LinkLookupKey{}) && p.found.Link == nil) ||
		(p.Needs.Client != (ports.ClientLookupKey{}) && p.found.Client == nil)
}

func (p *pending) end(err error) { p.state, p.err = ended, err }
