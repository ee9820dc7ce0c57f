package postgres

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// The statements of a group, each over a set of rows, written by hand because their plans matter. None of them waits for
// a row: what somebody else holds is passed over, and whoever asked for it goes on alone, as if it were not there.

// lockDeposits is deposits.ForUpdate.
func lockDeposits(g *group, asked []*askDeposit) {
	byID := make(map[id.ID]*askDeposit, len(asked))
	for _, q := range asked {
		byID[q.id] = q
	}
	g.query(selectDeposit+` WHERE d.id = ANY ($1) FOR UPDATE OF d SKIP LOCKED`, []any{each(asked, func(q *askDeposit) id.ID { return q.id })},
		func(row pgx.Rows) error {
			var s depositScan
			if err := row.Scan(s.targets()...); err != nil {
				return err
			}
			if q := byID[s.ID]; !s.ClientID.IsZero() && !s.known {
				return nil // see deposits.locked; one alone reads it again
			} else if q != nil {
				q.deposit, q.err = s.deposit(g.store.sealer)
				q.answered = true
			}
			return nil
		})
}

// shareLinks is links.OfPartner.
func shareLinks(g *group, asked []*askLink) {
	type pair struct{ partner, account id.ID }
	byPair := map[pair][]*askLink{}
	var partners, accounts []id.ID
	for _, q := range asked {
		p := pair{q.partnerID, q.accountID}
		if byPair[p] == nil {
			partners, accounts = append(partners, p.partner), append(accounts, p.account)
		}
		byPair[p] = append(byPair[p], q)
	}
	g.query(`SELECT l.id, l.partner_id, l.account_id, l.external_id, l.linked_at, l.revoked_at, coalesce(a.max_amount_cents, 0)::bigint
		FROM unnest($1::uuid[], $2::uuid[]) AS k(partner_id, account_id)
		CROSS JOIN LATERAL (SELECT n.id FROM account_links n WHERE n.partner_id = k.partner_id AND n.account_id = k.account_id
			ORDER BY n.linked_at DESC, n.id DESC LIMIT 1) newest
		JOIN account_links l ON l.id = newest.id JOIN accounts a ON a.id = l.account_id FOR SHARE OF l SKIP LOCKED`, []any{partners, accounts},
		func(row pgx.Rows) error {
			var r sqlc.NewestLinkRow
			if err := row.Scan(&r.ID, &r.PartnerID, &r.AccountID, &r.ExternalID, &r.LinkedAt, &r.RevokedAt, &r.MaxAmountCents); err != nil {
				return err
			}
			for _, q := range byPair[pair{r.PartnerID, r.AccountID}] {
				q.link, q.answered = toLinked(r, g.store.defaultMax), true
			}
			return nil
		})
}

// shareClients is clients.OfAccount.
func shareClients(g *group, asked []*askClient) {
	byID := map[id.ID][]*askClient{}
	for _, q := range asked {
		byID[q.clientID] = append(byID[q.clientID], q)
	}
	g.query(`SELECT id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at, erased_at
		FROM clients WHERE id = ANY ($1) AND erased_at IS NULL FOR SHARE SKIP LOCKED`, []any{each(asked, func(q *askClient) id.ID { return q.clientID })},
		func(row pgx.Rows) error {
			c, err := pgx.RowToStructByPos[sqlc.Client](row)
			if err != nil {
				return err
			}
			for _, q := range byID[c.ID] {
				if q.accountID == c.AccountID {
					q.client, q.answered = toClient(c), true
				}
			}
			return nil
		})
}

// insertDeposits is deposits.Insert for those that were just made: pending, in their first version.
func insertDeposits(g *group, asked []*askInsert) {
	byID := make(map[id.ID]*askInsert, len(asked))
	for _, q := range asked {
		byID[q.deposit.ID] = q
	}
	g.query(`WITH made AS (
			INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api, external_id, client_id,
				amount_cents, contract_start_at, contract_end_at, rental_contract, return_url, url_generation, metadata, locale,
				checkout_token_hash, checkout_token, checkout_expires_at, created_at, updated_at)
			SELECT n.id, n.reference, 'pending', 1, n.account, n.partner, n.by_api, n.external, n.client, n.amount, n.starts, n.ends, n.contract, n.return_url,
				n.url_generation, n.metadata::jsonb, n.locale, n.hash, n.token, n.expires, n.created, n.created
			FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::bool[], $6::text[], $7::uuid[], $8::bigint[], $9::timestamptz[], $10::timestamptz[],
				$11::text[], $12::text[], $13::bool[], $14::text[], $15::text[], $16::bytea[], $17::bytea[], $18::timestamptz[], $19::timestamptz[])
				AS n(id, reference, account, partner, by_api, external, client, amount, starts, ends, contract, return_url, url_generation, metadata, locale,
					hash, token, expires, created)
			ON CONFLICT (reference) DO NOTHING RETURNING id, checkout_expires_at),
		timed AS (INSERT INTO deposit_timers (kind, due_at, deposit_id) SELECT 'checkout', made.checkout_expires_at, made.id FROM made)
		SELECT id FROM made`, newDepositColumns(asked),
		func(row pgx.Rows) error {
			var made id.ID
			if err := row.Scan(&made); err != nil {
				return err
			}
			if q := byID[made]; q != nil {
				q.err, q.m.inserted = nil, true
			}
			return nil
		})
}

func newDepositColumns(asked []*askInsert) []any {
	return []any{
		column(asked, func(d *deposit.Deposit) id.ID { return d.ID }),
		column(asked, func(d *deposit.Deposit) string { return d.Reference }),
		column(asked, func(d *deposit.Deposit) id.ID { return d.AccountID }),
		column(asked, func(d *deposit.Deposit) id.ID { return d.PartnerID }),
		column(asked, func(d *deposit.Deposit) bool { return d.ByPartnerAPI }),
		column(asked, func(d *deposit.Deposit) string { return d.ExternalID }),
		column(asked, func(d *deposit.Deposit) id.ID { return d.ClientID }),
		column(asked, func(d *deposit.Deposit) int64 { return int64(d.Amount) }),
		column(asked, func(d *deposit.Deposit) time.Time { return d.ContractStartAt }),
		column(asked, func(d *deposit.Deposit) time.Time { return d.ContractEndAt }),
		column(asked, func(d *deposit.Deposit) string { return d.RentalContract }),
		column(asked, func(d *deposit.Deposit) string { return d.ReturnURL }),
		column(asked, func(d *deposit.Deposit) bool { return d.URLGeneration }),
		column(asked, func(d *deposit.Deposit) string { return jsonText(orNoPairs(d.Metadata)) }),
		column(asked, func(d *deposit.Deposit) string { return d.Locale }),
		each(asked, func(q *askInsert) []byte { return tokenHash(q.token) }),
		each(asked, func(q *askInsert) []byte { return q.sealed }),
		column(asked, func(d *deposit.Deposit) time.Time { return d.CheckoutExpiresAt }),
		column(asked, func(d *deposit.Deposit) time.Time { return d.CreatedAt }),
	}
}

func column[T any](asked []*askInsert, value func(*deposit.Deposit) T) []T {
	return each(asked, func(q *askInsert) T { return value(q.deposit) })
}

// jsonText is a map as JSON; of strings, it always has a text.
func jsonText(m map[string]string) string {
	b, _ := json.Marshal(m)
	return string(b)
}

// claimKeys is idempotency.Claim. The rows are read by a statement of their own, after the locks': see there.
func claimKeys(g *group, asked []*askKey) {
	g.query(`SELECT k.place, pg_try_advisory_xact_lock(hashtextextended(k.scope, 0)) FROM unnest($1::text[]) WITH ORDINALITY AS k(scope, place)`,
		[]any{each(asked, func(q *askKey) string { return pg.KeyScope(q.key) })},
		func(row pgx.Rows) error {
			var place int
			var claimed bool
			if err := row.Scan(&place, &claimed); err != nil {
				return err
			}
			if claimed {
				asked[place-1].err = nil
			}
			return nil
		})
	g.query(`SELECT n.place, k.fingerprint, k.status, k.response, k.created_at
		FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::timestamptz[]) WITH ORDINALITY AS n(partner_id, route, key, since, place)
		JOIN idempotency_keys k ON k.partner_id = n.partner_id AND k.route = n.route AND k.key = n.key AND k.created_at > n.since`,
		[]any{
			each(asked, func(q *askKey) id.ID { return q.key.PartnerID }), each(asked, func(q *askKey) string { return q.key.Route }),
			each(asked, func(q *askKey) id.ID { return q.key.Key }), each(asked, func(q *askKey) time.Time { return q.since }),
		},
		func(row pgx.Rows) error {
			var place int
			var fingerprint, sealed []byte
			var stored ports.StoredResponse
			if err := row.Scan(&place, &fingerprint, &stored.Status, &sealed, &stored.CreatedAt); err != nil {
				return err
			}
			q := asked[place-1]
			if q.err != nil {
				return nil // somebody else has the key
			}
			body, err := g.store.sealer.Open(sealed, pg.ResponseAAD(q.key))
			if err != nil {
				q.err = err
				return nil
			}
			stored.Fingerprint, stored.Body = [32]byte(fingerprint), []byte(body.Reveal())
			q.stored = &stored
			return nil
		})
}

// query queues a statement; row is called for each row of its answer.
func (g *group) query(sql string, args []any, row func(pgx.Rows) error) {
	g.Tx.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := row(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
