// Package payments holds the tables of payments: fees, collections, refunds, disputes, questions to the provider, and
// the comparison of the books.
package payments

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	paymentports "partnerdeposits/ports/payments"
)

var queries = sqlc.New()

// Tables implement the ports of payments.
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

// Types of Tables, each for its port.
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

// New makes the tables.
func New(b pg.Base) Tables {
	return Tables{
		Payments{b}, Collections{b}, Refunds{b}, TenantNotices{b}, Disputes{b}, Questions{b}, Erasures{b}, Books{b},
	}
}
