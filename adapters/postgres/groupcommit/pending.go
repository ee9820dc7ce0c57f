package groupcommit

import (
	"context"

	ports "partnerdeposits/ports/platform"
)

// pending is a change on its way through a group.
type pending struct {
	ports.Change
	ctx context.Context

	found  ports.Found
	writes ports.Writes
	err    error

	state state
}

// state is the progress of a change in its group.
type state int

const (
	undecided state = iota
	decided         // writes is set
	ended           // err is the result
	deferred        // to be applied alone, after the group
)

func (p *pending) missesRow() bool {
	return (!p.Needs.Deposit.IsZero() && p.found.Deposit == nil) ||
		(p.Needs.Link != (ports.AccountLink{}) && p.found.Link == nil) ||
		(p.Needs.Client != (ports.AccountClient{}) && p.found.Client == nil)
}

func (p *pending) end(err error) { p.state, p.err = ended, err }
