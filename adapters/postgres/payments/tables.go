// Package payments reads and writes the Postgres tables of payments: fees, collections, refunds, disputes, pending
// queries to the provider, and the comparison of these records with the provider's.
package payments

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	paymentports "partnerdeposits/ports/payments"
)

var queries = sqlc.New()

// Tables holds the stores of all tables of payments.
type Tables struct {
	Payments      Payments
	Collections   Collections
	Refunds       Refunds
	TenantNotices TenantNotices
	Disputes      Disputes
	Questions     Questions
	Erasures      Erasures
	Books         Books
}

// Stores of the tables of payments. Each implements the interface of its name in package ports/payments.
type (
	Payments      struct{ pg.Base }
	Collections   struct{ pg.Base }
	Refunds       struct{ pg.Base }
	TenantNotices struct{ pg.Base }
	Disputes      struct{ pg.Base }
	Questions     struct{ pg.Base }
	Erasures      struct{ pg.Base }
	Books         struct{ pg.Base }
)

var (
	_ paymentports.Payments         = Payments{}
	_ paymentports.Collections      = Collections{}
	_ paymentports.Refunds          = Refunds{}
	_ paymentports.TenantNotices    = TenantNotices{}
	_ paymentports.Disputes         = Disputes{}
	_ paymentports.PaymentQuestions = Questions{}
	_ paymentports.PaymentErasures  = Erasures{}
	_ paymentports.OwnBooks         = Books{}
	_ paymentports.Statements       = Books{}
)

func New(b pg.Base) Tables {
	return Tables{
		Payments{b}, Collections{b}, Refunds{b}, TenantNotices{b}, Disputes{b}, Questions{b}, Erasures{b}, Books{b},
	}
}
