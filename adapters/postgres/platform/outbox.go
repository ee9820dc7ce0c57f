package platform

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/pg"
	ports "partnerdeposits/ports/platform"
)

func (r Outbox) Append(ctx context.Context, e ports.Event) error {
	e.TraceParent, e.RequestID = pg.TraceParent(ctx), ports.RequestIDOf(ctx)
	AppendEvents(pg.In(ctx), []ports.Event{e})
	return nil
}
