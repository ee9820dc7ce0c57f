package groupcommit

import (
	"context"

	ports "partnerdeposits/ports/platform"
)

// pending is a change of a group commit, with its rows, writes and result.
type pending struct {
	ports.Change
	ctx context.Context

	found  ports.Found
	writes ports.Writes
	err    error

	state state
}

// state is the progress of a change in its group commit.
type state int

const (
	undecided state = iota
	decided         // The writes of the change have been computed; its group commit has not written them yet.
	ended           // The change is finished: it is committed, or it has failed with the error err.
	deferred        // The change is to be applied alone, after the group commit.
)

func (p *pending) missesRow() bool {
	return (!p.Needs.Deposit.IsZero() && p.found.Deposit == nil) ||
		(p.Needs.Link != (ports.AccountLink{}) && p.found.Link == nil) ||
		(p.Needs.Client != (ports.AccountClient{}) && p.found.Client == nil)
}

func (p *pending) end(err error) { p.state, p.err = ended, err }
