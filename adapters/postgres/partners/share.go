package partners

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

// LockClientsShared locks clients in share mode against erasure and calls found for each that is not erased.
func LockClientsShared(t *pg.Tx, clients []ports.ClientLookupKey, locking sets.RowLocking, found func(tenant.Client)) {
	t.QueueRows(`SELECT id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at
		FROM clients WHERE id = ANY ($1) AND erased_at IS NULL FOR SHARE`+string(locking),
		[]any{pg.ConvertEach(clients, func(c ports.ClientLookupKey) id.ID { return c.ClientID })},
		func(row pgx.Rows) error {
			var c tenant.Client
			if err := row.Scan(&c.ID, &c.AccountID, &c.PartnerID, &c.Email, &c.FirstName, &c.LastName, &c.Phone, &c.Locale,
				&c.CreatedAt); err != nil {
				return err
			}
			found(c)
			return nil
		})
}

// LockClientsAgainstErasure locks clients until the transaction ends. If one was erased since it was read, the
// transaction fails with pg.ErrClientErased and runs again.
func LockClientsAgainstErasure(t *pg.Tx, ids []id.ID) {
	slices.SortFunc(ids, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return
	}
	t.Queue(
		`SELECT 1 / (count(*) = $2)::int FROM (SELECT FROM clients WHERE id = ANY ($1)
			AND erased_at IS NULL FOR KEY SHARE) AS held`,
		ids, len(ids)).QueryRow(func(row pgx.Row) error {
		var guard int
		return sets.TranslateMissingRows(row.Scan(&guard), pg.ErrClientErased)
	})
}
