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

// Stores holds the stores of all tables of webhooks.
type Stores struct {
	Subscriptions Subscriptions
	Deliveries    Deliveries
	Replays       Replays
	Events        Events
	SetAside      SetAsideEvents
	Notices       EndpointNotices
	Retention     Retention
}

// Stores of the tables of webhooks. Each implements the interface of its name in package ports/webhooks.
type (
	Subscriptions   struct{ pg.StoreBase }
	Deliveries      struct{ pg.StoreBase }
	Replays         struct{ pg.StoreBase }
	Events          struct{ pg.StoreBase }
	SetAsideEvents  struct{ pg.StoreBase }
	EndpointNotices struct{ pg.StoreBase }
	Retention       struct{ pg.StoreBase }
)

var (
	_ webhookports.Subscriptions      = Subscriptions{}
	_ webhookports.EndpointProber     = Subscriptions{}
	_ ports.SigningSecretReader       = Subscriptions{}
	_ webhookports.Deliveries         = Deliveries{}
	_ webhookports.Replays            = Replays{}
	_ webhookports.Events             = Events{}
	_ webhookports.SetAsideEventStore = SetAsideEvents{}
	_ webhookports.EndpointNotices    = EndpointNotices{}
	_ webhookports.RetentionStore     = Retention{}
)

func New(b pg.StoreBase) Stores {
	return Stores{Subscriptions{b}, Deliveries{b}, Replays{b}, Events{b}, SetAsideEvents{b}, EndpointNotices{b},
		Retention{b}}
}
