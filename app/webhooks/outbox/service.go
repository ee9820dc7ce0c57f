// Package outbox holds the operator's use cases about events that the relay could not file (delivery.md, point 10).
package outbox

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// Deps holds the capabilities of the use cases.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	SetAside   ports.SetAside
	Audit      ports.AuditLog
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// listed bounds a list. An operator works through the oldest events first.
const listed = 1000

// List gives the events that are set aside, oldest first, at most 1,000.
func (s *Service) List(ctx context.Context) ([]ports.SetAsideEvent, error) {
	return s.deps.SetAside.SetAsideEvents(ctx, listed)
}

// Retry puts an event back on the outbox, by its outside id. The relay files the event, or sets it aside again.
//
// Returns ports.ErrNotSetAside.
func (s *Service) Retry(ctx context.Context, eventID string) (ports.SetAsideEvent, error) {
	return s.end(ctx, eventID, audit.OutboxRetry, ports.SetAside.Retry)
}

// Drop deletes an event, by its outside id: no subscription will receive the event.
//
// Returns ports.ErrNotSetAside.
func (s *Service) Drop(ctx context.Context, eventID string) (ports.SetAsideEvent, error) {
	return s.end(ctx, eventID, audit.OutboxDrop, ports.SetAside.Drop)
}

// end takes an event out of the events that are set aside. The audit entry keeps the facts of the event, without its
// data.
func (s *Service) end(
	ctx context.Context, eventID string, verb audit.Verb,
	take func(ports.SetAside, context.Context, id.ID) (ports.SetAsideEvent, error),
) (e ports.SetAsideEvent, err error) {
	parsed, ok := id.Event.Parse(eventID)
	if !ok {
		return e, ports.ErrNotSetAside
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if e, err = take(s.deps.SetAside, ctx, parsed); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		return s.deps.Audit.Append(ctx, audit.Entry(s.deps.Entropy, now, actor.Staff, verb, eventID, factsOf(e)))
	})
	return e, err
}

// factsOf are the facts of an event that outlive the event, without its data.
func factsOf(e ports.SetAsideEvent) map[string]string {
	facts := map[string]string{
		"partnerId": id.Partner.Of(e.PartnerID), "event": string(e.Name), "createdAt": deposit.Timestamp(e.CreatedAt),
		"setAsideAt": deposit.Timestamp(e.At), "reason": e.Reason,
	}
	if !e.DepositID.IsZero() {
		facts["depositId"] = id.Deposit.Of(e.DepositID)
	}
	return facts
}
