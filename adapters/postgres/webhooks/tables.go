// Package webhooks holds the tables of webhooks: subscriptions, deliveries, replays, events, and notices about
// endpoints. Package dispatchstore has the statements of the dispatcher.
package webhooks

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/ports"
)

var queries = sqlc.New()

// Tables implement the ports of webhooks.
type Tables struct {
	Subscriptions Subscriptions
	Deliveries    Deliveries
	Replays       Replays
	Events        Events
	SetAside      SetAside
	Notices       Notices
	Retention     Retention
}

// Types of Tables, each for its port.
type (
	Subscriptions struct{ pg.Base }
	Deliveries    struct{ pg.Base }
	Replays       struct{ pg.Base }
	Events        struct{ pg.Base }
	SetAside      struct{ pg.Base }
	Notices       struct{ pg.Base }
	Retention     struct{ pg.Base }
)

var (
	_ ports.Subscriptions = Subscriptions{}
	_ ports.Prober        = Subscriptions{}
	_ ports.Deliveries    = Deliveries{}
	_ ports.Replays       = Replays{}
	_ ports.Events        = Events{}
	_ ports.SetAside      = SetAside{}
	_ ports.Notices       = Notices{}
	_ ports.Retention     = Retention{}
)

// New makes the tables.
func New(b pg.Base) Tables {
	return Tables{Subscriptions{b}, Deliveries{b}, Replays{b}, Events{b}, SetAside{b}, Notices{b}, Retention{b}}
}
