package platform

import (
	"context"
)

// UnitOfWork runs functions in database transactions. Writes to tables, and reads that lock rows, take the
// transaction from their context, and panic without one.
type UnitOfWork interface {
	// WithinTx runs fn in a database transaction, and commits if fn returns nil. After a serialization failure or a
	// deadlock fn runs again, so fn changes nothing but tables. fn calls neither HTTP nor Redis and sends no mail:
	// events are stored in Outbox and mails in Mails, and are sent after the commit. Returns the error of fn, or
	// service_unavailable when the database cannot be reached in time.
	WithinTx(ctx context.Context, fn func(ctx context.Context) error) error
}
