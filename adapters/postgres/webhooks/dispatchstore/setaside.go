package dispatchstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// SetEventAside moves an event that cannot be processed from the outbox to another table. One statement does
// it, so the event is always in exactly one of them.
func (s *Store) SetEventAside(ctx context.Context, eventID id.ID, reason string) (moved bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tag, err := s.pool.Exec(ctx, `
		WITH refused AS (DELETE FROM outbox WHERE ctid = (
			SELECT ctid FROM outbox WHERE position >= $3 AND event_id = $1 ORDER BY position, event_id LIMIT 1) RETURNING *)
		INSERT INTO outbox_set_aside (event_id, partner_id, name, deposit_id, data, created_at, committed_at, reason)
		SELECT event_id, partner_id, name, deposit_id, data, created_at, committed_at, $2 FROM refused`, eventID,
		storable(reason), s.outbox.lowest())
	return tag.RowsAffected() > 0, pg.Translate(err)
}

// storable replaces the bytes that a text column of Postgres refuses.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

// planPanicError is the error for a panic while deliveries were planned.
type planPanicError struct{ panicked any }

func (e planPanicError) Error() string {
	return fmt.Sprint("planning deliveries panicked: ", e.panicked)
}

// planSafely calls plan and turns its panic into an error, since one event must not stop the others
// (delivery.md, point 10).
func planSafely(plan webhookports.PlanDeliveriesFunc, events []ports.Event,
	subscriptions []webhookports.Subscription) (planned []webhookports.Delivery, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = planPanicError{p}
		}
	}()
	return plan(events, subscriptions), nil
}

// refusedEvents returns err as *webhookports.RefusedEventsError if an event's data caused it; other errors are
// tried again.
func refusedEvents(err error, events []ports.Event) error {
	reason := blamesRow(err)
	if reason == "" || len(events) == 0 {
		return err
	}
	return &webhookports.RefusedEventsError{Events: events, Reason: reason, Err: err}
}

// blamesRow returns the reason of an error that a row's data caused, without that data; "" for others.
func blamesRow(err error) string {
	var panicked planPanicError
	if errors.As(err, &panicked) {
		return panicked.Error()
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return ""
	}
	switch refused.Code[:2] {
	// Classes of SQLSTATE for errors that a row's data caused: data exceptions, integrity constraints, limits of the
	// server, exceptions of functions.
	case "22", "23", "54", "P0":
		return fmt.Sprintf("%s (SQLSTATE %s)", refused.Message, refused.Code)
	}
	return ""
}
