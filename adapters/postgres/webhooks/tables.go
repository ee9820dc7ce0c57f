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

type Stores struct {
	Subscriptions SubscriptionStore
	Deliveries    DeliveryStore
	Replays       ReplayStore
	Events        EventStore
	SetAside      SetAsideEventStore
	Notices       EndpointNoticeStore
	Retention     RetentionStore
}

type (
	SubscriptionStore   struct{ pg.StoreBase }
	DeliveryStore       struct{ pg.StoreBase }
	ReplayStore         struct{ pg.StoreBase }
	EventStore          struct{ pg.StoreBase }
	SetAsideEventStore  struct{ pg.StoreBase }
	EndpointNoticeStore struct{ pg.StoreBase }
	RetentionStore      struct{ pg.StoreBase }
)

var (
	_ webhookports.SubscriptionStore   = SubscriptionStore{}
	_ webhookports.EndpointProber      = SubscriptionStore{}
	_ ports.SigningSecretReader        = SubscriptionStore{}
	_ webhookports.DeliveryStore       = DeliveryStore{}
	_ webhookports.ReplayStore         = ReplayStore{}
	_ webhookports.EventStore          = EventStore{}
	_ webhookports.SetAsideEventStore  = SetAsideEventStore{}
	_ webhookports.EndpointNoticeStore = EndpointNoticeStore{}
	_ webhookports.RetentionStore      = RetentionStore{}
)

func New(b pg.StoreBase) Stores {
	return Stores{SubscriptionStore{b}, DeliveryStore{b}, ReplayStore{b}, EventStore{b}, SetAsideEventStore{b},
		EndpointNoticeStore{b},
		RetentionStore{b}}
}
