package webhooks

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// listedSetAside is the largest number of set-aside events (those that the database refused to store for the
// partner) in a list. Staff work through the oldest first.
const listedSetAside = 1000

// ListSetAsideEvents returns the events that were set aside because the database refused them
// (delivery.md, point 10), oldest first, at most 1,000.
func (s *Service) ListSetAsideEvents(ctx context.Context) ([]webhookports.SetAsideEventRecord, error) {
	return s.deps.SetAside.SetAsideEvents(ctx, listedSetAside)
}

// RetrySetAsideEvent moves an event that was set aside back to the outbox, by its outside id. A dispatcher then
// makes its deliveries, or sets it aside again.
//
// Returns webhookports.ErrEventNotSetAside.
func (s *Service) RetrySetAsideEvent(ctx context.Context, eventID string) (webhookports.SetAsideEventRecord, error) {
	return s.endSetAside(ctx, eventID, audit.OutboxRetry, webhookports.SetAsideEventStore.Retry)
}

// DropSetAsideEvent deletes an event that was set aside, by its outside id: no subscription will receive the event.
//
// Returns webhookports.ErrEventNotSetAside.
func (s *Service) DropSetAsideEvent(ctx context.Context, eventID string) (webhookports.SetAsideEventRecord, error) {
	return s.endSetAside(ctx, eventID, audit.OutboxDrop, webhookports.SetAsideEventStore.Drop)
}

// endSetAside puts back or deletes an event that was set aside.
func (s *Service) endSetAside(
	ctx context.Context, eventID string, verb audit.Action,
	take func(webhookports.SetAsideEventStore, context.Context, id.ID) (webhookports.SetAsideEventRecord, error),
) (e webhookports.SetAsideEventRecord, err error) {
	parsed, ok := id.Event.Parse(eventID)
	if !ok {
		return e, webhookports.ErrEventNotSetAside
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if e, err = take(s.deps.SetAside, ctx, parsed); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		return s.deps.Audit.Append(ctx, audit.NewEntry(s.deps.Entropy, now, actor.Staff, verb, eventID, factsOf(e)))
	})
	return e, err
}

func factsOf(e webhookports.SetAsideEventRecord) map[string]string {
	facts := map[string]string{
		"partnerId": id.Partner.Of(e.PartnerID), "event": string(e.Name), "createdAt": deposit.FormatTimestamp(e.CreatedAt),
		"setAsideAt": deposit.FormatTimestamp(e.At), "reason": e.Reason,
	}
	if !e.DepositID.IsZero() {
		facts["depositId"] = id.Deposit.Of(e.DepositID)
	}
	return facts
}
