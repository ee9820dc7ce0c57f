package postgres

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/ports"
)

type outbox struct{ unit }

// Append implements ports.Outbox.
func (r outbox) Append(ctx context.Context, e ports.Event) error {
	r.Appended = true
	return r.q.AppendEvent(ctx, r.Deferred(), eventParams(e))
}

func eventParams(e ports.Event) sqlc.AppendEventParams {
	return sqlc.AppendEventParams{
		ID: e.ID, PartnerID: e.PartnerID, Name: e.Name, DepositID: e.DepositID, Data: string(e.Data), CreatedAt: e.CreatedAt,
	}
}
