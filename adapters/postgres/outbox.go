package postgres

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/ports"
)

type outbox struct{ unit }

// Append implements ports.Outbox.
func (r outbox) Append(_ context.Context, e ports.Event) error {
	sets.AppendEvents(r.Tx, []ports.Event{e})
	return nil
}
