// Package webhooks reads and writes the Postgres tables of webhooks: subscriptions, deliveries, replays, events,
// and notices about endpoints. Package dispatchstore has the statements of the dispatcher.
package webhooks

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

var queries = sqlc.New()

// Tables holds the stores of all tables of webhooks.
type Tables struct {
	Subscriptions Subscriptions
	Deliveries    Deliveries
	Replays       Replays
	Events        Events
	SetAside      SetAside
	Notices       Notices
	Retention     Retention
}

// Stores of the tables of webhooks. Each implements the interface of its name in package ports/webhooks.
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
	_ webhookports.Subscriptions = Subscriptions{}
	_ webhookports.Prober        = Subscriptions{}
	_ ports.SigningSecrets       = Subscriptions{}
	_ webhookports.Deliveries    = Deliveries{}
	_ webhookports.Replays       = Replays{}
	_ webhookports.Events        = Events{}
	_ webhookports.SetAside      = SetAside{}
	_ webhookports.Notices       = Notices{}
	_ webhookports.Retention     = Retention{}
)

func New(b pg.Base) Tables {
	return Tables{Subscriptions{b}, Deliveries{b}, Replays{b}, Events{b}, SetAside{b}, Notices{b}, Retention{b}}
}
