package webhooks

import (
	"context"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/webhooks/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

func (r SetAsideEventStore) SetAsideEvents(ctx context.Context, limit int) ([]webhookports.SetAsideEventRecord, error) {
	rows, err := queries.SetAsideEvents(ctx, r.DB, limit)
	return pg.ConvertEach(rows, func(row sqlc.SetAsideEventsRow) webhookports.SetAsideEventRecord {
		return webhookports.SetAsideEventRecord(row)
	}), err
}

// Retry moves an event that could not be processed back to the outbox, with the time of its commit.
func (r SetAsideEventStore) Retry(ctx context.Context, eventID id.ID) (webhookports.SetAsideEventRecord, error) {
	pg.In(ctx).Appended = true
	row, err := queries.RetryEvent(ctx, pg.In(ctx), eventID)
	return webhookports.SetAsideEventRecord{
		ID: row.ID, PartnerID: row.PartnerID, Name: webhook.EventName(row.Name), DepositID: row.DepositID,
		CreatedAt: row.CreatedAt, At: row.At, Reason: row.Reason,
	}, pg.ReplaceErrNoRows(err, webhookports.ErrEventNotSetAside)
}

func (r SetAsideEventStore) Drop(ctx context.Context, eventID id.ID) (webhookports.SetAsideEventRecord, error) {
	row, err := queries.DropEvent(ctx, pg.In(ctx), eventID)
	return webhookports.SetAsideEventRecord(row), pg.ReplaceErrNoRows(err, webhookports.ErrEventNotSetAside)
}
