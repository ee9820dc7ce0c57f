package platform

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/platform/internal/sqlc"
	ports "partnerdeposits/ports/platform"
)

const readAudit = `SELECT id, at, actor, action, subject, detail, coalesce(request_id, '') FROM audit_log WHERE `

// AuditEntries returns the newest audit entries that match one of the filter's conditions, by a query and an
// index for each.
func (r AuditLog) AuditEntries(ctx context.Context, f ports.AuditFilter, limit int) ([]ports.AuditEntry, error) {
	const newest = ` ORDER BY at DESC LIMIT $2`
	var all []ports.AuditEntry
	var failures []error
	ask := func(set bool, condition string, arg any) {
		if !set {
			return
		}
		rows, err := r.DB.Query(ctx, readAudit+condition+newest, arg, limit)
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
		for _, text := range a.StoredTexts() {
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

func (r AuditLog) AuditEntriesAfter(
	ctx context.Context, after ports.AuditLogPosition, end time.Time, limit int,
) ([]ports.AuditEntry, error) {
	// Pass the id as bytes: a zero id of type id.ID would become NULL in the query, and no row is greater than NULL.
	begin := [16]byte(after.ID)
	rows, err := r.DB.Query(ctx, readAudit+`(at, id) > (coalesce($1, '-infinity'::timestamptz), $2) AND at < $3
		ORDER BY at, id LIMIT $4`, after.At, begin, end, limit)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ports.AuditEntry])
	return found, pg.Translate(err)
}

func (r AuditLog) Append(ctx context.Context, e ports.AuditEntry) error {
	return queries.AppendAudit(ctx, pg.In(ctx).QueueingTx(), sqlc.AppendAuditParams{
		ID: e.ID, At: e.At, Actor: e.Actor.String(), Action: e.Action, Subject: e.Subject, Detail: pg.OrEmptyMap(e.Detail),
		RequestID: ports.RequestIDOf(ctx),
	})
}
