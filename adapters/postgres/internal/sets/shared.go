package sets

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// ShareLinks share-locks the newest link of each pair of partner and account, so that nobody revokes the link before the
// transaction ends. defaultMax is the ceiling of an account without a ceiling of its own.
func ShareLinks(t *pg.Tx, pairs []ports.AccountLink, locking Locking, defaultMax money.Cents, found func(ports.LinkedAccount)) {
	t.Rows(`SELECT l.id, l.partner_id, l.account_id, l.external_id, l.linked_at, l.revoked_at, coalesce(a.max_amount_cents, $3)::bigint
		FROM unnest($1::uuid[], $2::uuid[]) AS k(partner_id, account_id)
		CROSS JOIN LATERAL (SELECT n.id FROM account_links n WHERE n.partner_id = k.partner_id AND n.account_id = k.account_id
			ORDER BY n.linked_at DESC, n.id DESC LIMIT 1) newest
		JOIN account_links l ON l.id = newest.id JOIN accounts a ON a.id = l.account_id FOR SHARE OF l`+string(locking),
		[]any{
			each(pairs, func(p ports.AccountLink) id.ID { return p.PartnerID }), each(pairs, func(p ports.AccountLink) id.ID { return p.AccountID }),
			int64(defaultMax),
		},
		func(row pgx.Rows) error {
			var l ports.LinkedAccount
			if err := row.Scan(&l.ID, &l.PartnerID, &l.AccountID, &l.ExternalID, &l.LinkedAt, &l.RevokedAt, &l.MaxAmountCents); err != nil {
				return err
			}
			found(l)
			return nil
		})
}

// ShareClients share-locks clients, so that nobody erases them before the transaction ends. An erased client is not found.
func ShareClients(t *pg.Tx, clients []ports.AccountClient, locking Locking, found func(tenant.Client)) {
	t.Rows(`SELECT id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at
		FROM clients WHERE id = ANY ($1) AND erased_at IS NULL FOR SHARE`+string(locking),
		[]any{each(clients, func(c ports.AccountClient) id.ID { return c.ClientID })},
		func(row pgx.Rows) error {
			var c tenant.Client
			if err := row.Scan(&c.ID, &c.AccountID, &c.PartnerID, &c.Email, &c.FirstName, &c.LastName, &c.Phone, &c.Locale, &c.CreatedAt); err != nil {
				return err
			}
			found(c)
			return nil
		})
}

// HoldClients keeps clients from being erased before the transaction ends. If a client has been erased since the transaction read
// it, the transaction fails with pg.ErrClientErased, and runs again: what it is about to write holds personal data. The share lock
// of keys passes a change of the client's details.
func HoldClients(t *pg.Tx, ids []id.ID) {
	slices.SortFunc(ids, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return
	}
	t.Queue(`SELECT 1 / (count(*) = $2)::int FROM (SELECT FROM clients WHERE id = ANY ($1) AND erased_at IS NULL FOR KEY SHARE) AS held`,
		ids, len(ids)).QueryRow(func(row pgx.Row) error {
		var guard int
		return unlessAll(row.Scan(&guard), pg.ErrClientErased)
	})
}
