// Package payments reads and writes the Postgres tables of payments: fees, collections, refunds, disputes, pending
// queries to the provider, and the comparison of these records with the provider's.
package payments

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	paymentports "partnerdeposits/ports/payments"
)

var queries = sqlc.New()

// Stores holds the stores of all tables of payments.
type Stores struct {
	Payments      Payments
	Collections   Collections
	Refunds       Refunds
	TenantNotices TenantNotices
	Disputes      Disputes
	Questions     PaymentLookups
	Erasures      PaymentErasures
	Books         Books
}

// Stores of the tables of payments. Each implements the interface of its name in package ports/payments.
type (
	Payments        struct{ pg.StoreBase }
	Collections     struct{ pg.StoreBase }
	Refunds         struct{ pg.StoreBase }
	TenantNotices   struct{ pg.StoreBase }
	Disputes        struct{ pg.StoreBase }
	PaymentLookups  struct{ pg.StoreBase }
	PaymentErasures struct{ pg.StoreBase }
	Books           struct{ pg.StoreBase }
)

var (
	_ paymentports.Payments           = Payments{}
	_ paymentports.Collections        = Collections{}
	_ paymentports.Refunds            = Refunds{}
	_ paymentports.TenantNotices      = TenantNotices{}
	_ paymentports.Disputes           = Disputes{}
	_ paymentports.ProviderQueryStore = PaymentLookups{}
	_ paymentports.ProviderErasures   = PaymentErasures{}
	_ paymentports.OwnBooks           = Books{}
	_ paymentports.StatementReader    = Books{}
)

func New(b pg.StoreBase) Stores {
	return Stores{
		Payments{b}, Collections{b}, Refunds{b}, TenantNotices{b}, Disputes{b}, PaymentLookups{b}, PaymentErasures{b},
		Books{b},
	}
}
