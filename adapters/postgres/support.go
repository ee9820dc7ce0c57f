package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// DepositByReference implements ports.SupportDeposits.
func (s *Store) DepositByReference(ctx context.Context, reference string) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, sets.SelectDeposit+` WHERE d.reference = $1`, reference), s.sealer)
}

// History implements ports.SupportDeposits.
func (s *Store) History(ctx context.Context, depositID id.ID) ([]deposit.Transition, error) {
	rows, err := s.db.Query(ctx, `SELECT deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id
		FROM deposit_transitions WHERE deposit_id = $1 ORDER BY version`, depositID)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deposit.Transition])
	return found, pg.Translate(err)
}

// DeliveriesOfDeposit implements ports.SupportDeposits.
func (s *Store) DeliveriesOfDeposit(ctx context.Context, depositID id.ID, limit int) ([]webhook.Delivery, error) {
	return s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM deliveries WHERE deposit_id = $1 ORDER BY id DESC LIMIT $2`, depositID, limit)
}

// deliveries gives the deliveries of a query over deliveryColumns, with their attempts.
func (s *Store) deliveries(ctx context.Context, sql string, args ...any) ([]webhook.Delivery, error) {
	rows, err := s.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sqlc.DeliveryByIDRow])
	if err != nil {
		return nil, pg.Translate(err)
	}
	return s.withAttempts(ctx, found)
}

const clientColumns = `id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at, erased_at`

// ClientByID implements ports.SupportPeople.
func (s *Store) ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error) {
	all, err := s.clients(ctx, `SELECT `+clientColumns+` FROM clients WHERE id = $1`, clientID)
	if err == nil && len(all) == 0 {
		err = tenant.ErrNotFound
	}
	if err != nil {
		return tenant.Client{}, err
	}
	return all[0], nil
}

// ClientsByEmail implements ports.SupportPeople. The conditions are those of the index clients_of_email.
func (s *Store) ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error) {
	return s.clients(ctx, `SELECT `+clientColumns+` FROM clients
		WHERE lower(email COLLATE "C") = lower($1::text COLLATE "C") AND erased_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $2`, email, limit)
}

func (s *Store) clients(ctx context.Context, sql string, args ...any) ([]tenant.Client, error) {
	rows, err := s.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c tenant.Client, err error) {
		err = row.Scan(&c.ID, &c.AccountID, &c.PartnerID, &c.Email, &c.FirstName, &c.LastName, &c.Phone, &c.Locale, &c.CreatedAt, &c.ErasedAt)
		return c, err
	})
	return found, pg.Translate(err)
}

// AccountOfOperator implements ports.SupportPeople.
func (s *Store) AccountOfOperator(ctx context.Context, operatorID id.ID) (accountID id.ID, err error) {
	err = s.db.QueryRow(ctx, `SELECT id FROM accounts WHERE operator_id = $1`, operatorID).Scan(&accountID)
	return accountID, pg.OrNotFound(err, connect.ErrAccountNotFound)
}

// FindEvent implements ports.SupportEvents. The key of the table events begins with the partner, so each partner's events are
// asked for the id: a probe of an index for each partner, in the partition of the day that the id names. The id is looked for in the
// whole index of the outbox.
func (s *Store) FindEvent(ctx context.Context, eventID id.ID) (e ports.EventView, err error) {
	err = s.db.QueryRow(ctx, `
		SELECT event_id, partner_id, name, deposit_id, created_at, 'outbox', '' FROM outbox WHERE position >= 0 AND event_id = $1
		UNION ALL SELECT event_id, partner_id, name, deposit_id, created_at, 'set_aside', reason FROM outbox_set_aside WHERE event_id = $1
		UNION ALL SELECT e.id, e.partner_id, e.name, e.deposit_id, e.created_at, 'filed', ''
			FROM partners p CROSS JOIN LATERAL (SELECT * FROM events e WHERE e.partner_id = p.id AND e.id = $1 OFFSET 0) AS e
		LIMIT 1`, eventID).Scan(&e.ID, &e.PartnerID, &e.Name, &e.DepositID, &e.CreatedAt, &e.Place, &e.Reason)
	return e, pg.OrNotFound(err, webhook.ErrEventNotFound)
}

// maxRedeliveries bounds the redeliveries of an event that support is shown.
const maxRedeliveries = 1000

// DeliveriesOfEvent implements ports.SupportEvents. The id of an original follows from event and subscription, and the index
// of the deliveries of a deposit leads to the redeliveries.
func (s *Store) DeliveriesOfEvent(ctx context.Context, e ports.EventView) ([]webhook.Delivery, error) {
	rows, err := s.db.Query(ctx, `SELECT id FROM webhook_subscriptions WHERE partner_id = $1`, e.PartnerID)
	if err != nil {
		return nil, err
	}
	subscriptions, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, pg.Translate(err)
	}
	originals := each(subscriptions, func(subscriptionID id.ID) id.ID { return webhook.OriginalID(e.ID, subscriptionID) })
	found, err := s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM unnest($1::uuid[], $2::uuid[]) AS k(subscription, delivery)
		CROSS JOIN LATERAL (SELECT * FROM deliveries d WHERE d.subscription_id = k.subscription AND d.id = k.delivery OFFSET 0) AS d`, subscriptions, originals)
	if err != nil || e.DepositID.IsZero() {
		return found, err
	}
	again, err := s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM (SELECT * FROM deliveries WHERE deposit_id = $1 OFFSET 0) AS d
		WHERE event_id = $2 AND redelivery_of IS NOT NULL ORDER BY id LIMIT `+strconv.Itoa(maxRedeliveries), e.DepositID, e.ID)
	return append(found, again...), err
}

// FindDelivery implements ports.SupportEvents: a probe of the primary key for each subscription.
func (s *Store) FindDelivery(ctx context.Context, deliveryID id.ID) (webhook.Delivery, error) {
	found, err := s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM (SELECT id AS subscription FROM webhook_subscriptions) AS s
		CROSS JOIN LATERAL (SELECT * FROM deliveries d WHERE d.subscription_id = s.subscription AND d.id = $1 OFFSET 0) AS d LIMIT 1`, deliveryID)
	if err == nil && len(found) == 0 {
		err = webhook.ErrDeliveryNotFound
	}
	if err != nil {
		return webhook.Delivery{}, err
	}
	return found[0], nil
}

// FindSubscription implements ports.SupportEvents.
func (s *Store) FindSubscription(ctx context.Context, subscriptionID id.ID) (v ports.SubscriptionView, err error) {
	err = s.db.QueryRow(ctx, `SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, deleted_at, failures, failing_since, held_until, slow
		FROM webhook_subscriptions WHERE id = $1`, subscriptionID).Scan(&v.ID, &v.PartnerID, &v.URL, &v.Events, &v.Enabled, &v.DisabledReason,
		&v.CreatedAt, &v.DeletedAt, &v.Failures, &v.FailingSince, &v.HeldUntil, &v.Slow)
	return v, pg.OrNotFound(err, webhook.ErrNotFound)
}

// LastDeliveries implements ports.SupportEvents.
func (s *Store) LastDeliveries(ctx context.Context, subscriptionID id.ID, limit int) ([]webhook.Delivery, error) {
	return s.deliveries(ctx, `SELECT `+deliveryColumns+` FROM deliveries WHERE subscription_id = $1 ORDER BY id DESC LIMIT $2`, subscriptionID, limit)
}

// AuditEntries implements ports.AuditReader. Each condition has an index of its own, so each is asked alone.
func (s *Store) AuditEntries(ctx context.Context, f ports.AuditFilter, limit int) ([]ports.AuditEntry, error) {
	const read = `SELECT id, at, actor, action, subject, detail, coalesce(request_id, '') FROM audit_log WHERE `
	const newest = ` ORDER BY at DESC LIMIT $2`
	var all []ports.AuditEntry
	var failures []error
	ask := func(set bool, condition string, arg any) {
		if !set {
			return
		}
		rows, err := s.db.Query(ctx, read+condition+newest, arg, limit)
		if err == nil {
			var found []ports.AuditEntry
			found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ports.AuditEntry])
			all = append(all, found...)
		}
		failures = append(failures, pg.Translate(err))
	}
	ask(f.RequestID != "", "request_id = $1", f.RequestID)
	ask(f.Subject != "", "subject = $1", f.Subject)
	for _, a := range f.Actors {
		for _, text := range a.Texts() {
			ask(true, "actor = $1", text)
		}
	}
	slices.SortFunc(all, func(a, b ports.AuditEntry) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return slices.Compare(b.ID[:], a.ID[:])
	})
	all = slices.CompactFunc(all, func(a, b ports.AuditEntry) bool { return a.ID == b.ID })
	return all[:min(limit, len(all))], errors.Join(failures...)
}
