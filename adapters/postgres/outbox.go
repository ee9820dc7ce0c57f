package postgres

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/ports"
)

type outbox struct{ unit }

// Append implements ports.Outbox.
func (r outbox) Append(ctx context.Context, e ports.Event) error {
	e.TraceParent, e.RequestID = pg.TraceParent(ctx), ports.RequestIDOf(ctx)
	sets.AppendEvents(r.Tx, []ports.Event{e})
	return nil
}
