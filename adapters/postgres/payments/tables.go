// Package payments reads and writes the Postgres tables of payments: fees, collections, refunds, disputes, pending
// queries to the provider, and the comparison of these records with the provider's.
package payments

import (
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/payments/internal/sqlc"
	paymentports "partnerdeposits/ports/payments"
)

var queries = sqlc.New()

type Stores struct {
	Payments      PaymentStore
	Collections   CollectionStore
	Refunds       RefundStore
	TenantNotices TenantNoticeStore
	Disputes      DisputeStore
	Questions     PaymentLookupStore
	Erasures      PaymentErasureStore
	Books         BooksStore
}

type (
	PaymentStore        struct{ pg.StoreBase }
	CollectionStore     struct{ pg.StoreBase }
	RefundStore         struct{ pg.StoreBase }
	TenantNoticeStore   struct{ pg.StoreBase }
	DisputeStore        struct{ pg.StoreBase }
	PaymentLookupStore  struct{ pg.StoreBase }
	PaymentErasureStore struct{ pg.StoreBase }
	BooksStore          struct{ pg.StoreBase }
)

var (
	_ paymentports.PaymentStore         = PaymentStore{}
	_ paymentports.CollectionStore      = CollectionStore{}
	_ paymentports.RefundStore          = RefundStore{}
	_ paymentports.TenantNoticeStore    = TenantNoticeStore{}
	_ paymentports.DisputeStore         = DisputeStore{}
	_ paymentports.ProviderQueryStore   = PaymentLookupStore{}
	_ paymentports.ProviderErasureStore = PaymentErasureStore{}
	_ paymentports.OwnBookStore         = BooksStore{}
	_ paymentports.StatementReader      = BooksStore{}
)

func New(b pg.StoreBase) Stores {
	return Stores{
		PaymentStore{b}, CollectionStore{b}, RefundStore{b}, TenantNoticeStore{b}, DisputeStore{b}, PaymentLookupStore{b},
		PaymentErasureStore{b},
		BooksStore{b},
	}
}
