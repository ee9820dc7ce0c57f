package platform

import (
	"context"
)

// UnitOfWork runs functions in transactions.
//
// The context of a transaction carries it: writes to tables, and reads that lock rows, take the transaction from their
// context, and panic without one. All other reads stay outside of the transaction. So a use case asks for the tables
// that it uses, and calls another module inside its transaction like anybody else.
type UnitOfWork interface {
	// WithinTx runs fn in a transaction, and commits if fn returns nil. After a serialization failure or a deadlock fn
	// runs again, so fn changes nothing but tables. fn calls neither HTTP nor Redis and sends no mail: events go to
	// Outbox and mails to Mails, and are sent after the commit. A commit that wrote to Outbox rings the doorbell.
	// Transactions do not nest.
	//
	// Returns the error of fn, or service_unavailable when the database cannot be reached in time.
	WithinTx(ctx context.Context, fn func(ctx context.Context) error) error
}
