package accounts

import (
	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// LockLinksShared queues a statement that locks the newest link of each pair against revocation. defaultMax
// applies to accounts without a negotiated amount.
func LockLinksShared(t *pg.Tx, pairs []ports.LinkLookupKey, locking sets.RowLocking, defaultMax money.Cents,
	found func(ports.LinkedAccount)) {
	t.QueueRows(
		`SELECT l.id, l.partner_id, l.account_id, l.external_id, l.linked_at, l.revoked_at, coalesce(a.max_amount_cents,
			$3)::bigint
		FROM unnest($1::uuid[], $2::uuid[]) AS k(partner_id, account_id)
		CROSS JOIN LATERAL (SELECT n.id FROM account_links n WHERE n.partner_id = k.partner_id AND n.account_id = k.account_id
			ORDER BY n.linked_at DESC, n.id DESC LIMIT 1) newest
		JOIN account_links l ON l.id = newest.id JOIN accounts a ON a.id = l.account_id FOR SHARE OF l`+string(locking),
		[]any{
			pg.ConvertEach(pairs, func(p ports.LinkLookupKey) id.ID { return p.PartnerID }),
			pg.ConvertEach(pairs, func(p ports.LinkLookupKey) id.ID { return p.AccountID }), int64(defaultMax),
		},
		func(row pgx.Rows) error {
			var l ports.LinkedAccount
			if err := row.Scan(&l.ID, &l.PartnerID, &l.AccountID, &l.ExternalID, &l.LinkedAt, &l.RevokedAt,
				&l.MaxAmountCents); err != nil {
				return err
			}
			found(l)
			return nil
		})
}
