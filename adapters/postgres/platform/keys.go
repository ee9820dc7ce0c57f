package platform

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// IdempotencyClaim is a transaction's try to lock an idempotency key, with the result once it is sent.
type IdempotencyClaim struct {
	Key ports.IdempotencyKey
	// Stored responses from before this time have expired.
	Since time.Time

	// Whether this transaction holds the idempotency key until it ends.
	Claimed bool
	// The stored response of the idempotency key; nil if there is none.
	Stored *ports.StoredResponse
	Err    error // The error for a stored response that cannot be decrypted; nil for none.
}

// Result returns the stored response of an idempotency key, or nil; without one, ports.ErrIdempotencyKeyInUse
// while another transaction holds the key.
func (k *IdempotencyClaim) Result() (*ports.StoredResponse, error) {
	if k.Err == nil && k.Stored == nil && !k.Claimed {
		return nil, ports.ErrIdempotencyKeyInUse
	}
	return k.Stored, k.Err
}

// ClaimIdempotencyKeys queues the statements that lock idempotency keys, without waiting, and then read their
// stored responses. OFFSET 0 and a join on the primary key only keep the planner from reading every unexpired
// key.
func ClaimIdempotencyKeys(t *pg.Tx, sealer pg.TextCipher, keys []*IdempotencyClaim) {
	t.QueueRows(
		`SELECT k.place, pg_try_advisory_xact_lock(hashtextextended(k.scope, 0))
			FROM unnest($1::text[]) WITH ORDINALITY AS k(scope, place)`,
		[]any{pg.ConvertEach(keys, func(k *IdempotencyClaim) string { return pg.IdempotencyKeyScope(k.Key) })},
		func(row pgx.Rows) error {
			var place int
			var claimed bool
			if err := row.Scan(&place, &claimed); err != nil {
				return err
			}
			keys[place-1].Claimed = claimed
			return nil
		})
	t.QueueRows(`SELECT n.place, k.fingerprint, k.status, k.response, k.created_at
		FROM unnest($1::uuid[], $2::text[], $3::uuid[]) WITH ORDINALITY AS n(partner_id, route, key, place)
		CROSS JOIN LATERAL (SELECT o.fingerprint, o.status, o.response, o.created_at FROM idempotency_keys o
			WHERE o.partner_id = n.partner_id AND o.route = n.route AND o.key = n.key OFFSET 0) k`,
		[]any{
			pg.ConvertEach(keys, func(k *IdempotencyClaim) id.ID { return k.Key.Owner }),
			pg.ConvertEach(keys, func(k *IdempotencyClaim) string { return k.Key.Route }),
			pg.ConvertEach(keys, func(k *IdempotencyClaim) id.ID { return k.Key.Key }),
		},
		func(row pgx.Rows) error {
			var place int
			var fingerprint, sealed []byte
			var stored ports.StoredResponse
			if err := row.Scan(&place, &fingerprint, &stored.Code, &sealed, &stored.CreatedAt); err != nil {
				return err
			}
			k := keys[place-1]
			if !stored.CreatedAt.After(k.Since) {
				return nil
			}
			body, err := sealer.Decrypt(sealed, pg.ResponseAAD(k.Key))
			if err != nil {
				k.Err = err
				return nil
			}
			stored.Fingerprint, stored.Body = [32]byte(fingerprint), []byte(body.Reveal())
			k.Stored = &stored
			return nil
		})
}

// KeyedResponse is a response to store under an idempotency key that the transaction has locked.
type KeyedResponse struct {
	Key      ports.IdempotencyKey
	Response ports.StoredResponse
	sealed   []byte
}

func (r *KeyedResponse) Encrypt(sealer pg.TextCipher) (err error) {
	r.sealed, err = sealer.Encrypt(secret.Text(r.Response.Body), pg.ResponseAAD(r.Key))
	return err
}

var responseColumns = []sets.Column[KeyedResponse]{
	{Name: "partner_id", Array: "uuid[]",
		Values: sets.ColumnValuesFunc(func(r KeyedResponse) id.ID { return r.Key.Owner })},
	{Name: "route", Array: "text[]", Values: sets.ColumnValuesFunc(func(r KeyedResponse) string { return r.Key.Route })},
	{Name: "key", Array: "uuid[]", Values: sets.ColumnValuesFunc(func(r KeyedResponse) id.ID { return r.Key.Key })},
	{Name: "fingerprint", Array: "bytea[]",
		Values: sets.ColumnValuesFunc(func(r KeyedResponse) []byte { return r.Response.Fingerprint[:] })},
	{Name: "status", Array: "smallint[]",
		Values: sets.ColumnValuesFunc(func(r KeyedResponse) int16 { return statusOf(r.Response) })},
	{Name: "response", Array: "bytea[]", Values: sets.ColumnValuesFunc(func(r KeyedResponse) []byte { return r.sealed })},
	{Name: "created_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(r KeyedResponse) time.Time { return r.Response.CreatedAt })},
}

// statusOf returns the HTTP status of a stored response, always a success; 200 for one without.
func statusOf(r ports.StoredResponse) int16 {
	const withoutCode = 200
	return int16(cmp.Or(r.Code, withoutCode))
}

// storeResponses is the SQL that stores responses under idempotency keys in place of expired ones. It divides
// by zero, and so rolls back, if one has not expired.
var storeResponses = `WITH stored AS (
		INSERT INTO idempotency_keys AS k (` + sets.ColumnNames(responseColumns) + `) SELECT ` + sets.SelectColumns(responseColumns) +
	` FROM ` + sets.FromClause(responseColumns) + `
		ON CONFLICT (partner_id, route, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response,
		created_at = excluded.created_at
		WHERE k.created_at <= excluded.created_at - ` + sets.ExtraParam(responseColumns, 1) + `::interval RETURNING 1)
	SELECT 1 / (count(*) = ` + sets.ExtraParam(responseColumns, 2) + `)::int FROM stored`

// StoreKeyedResponses queues the storing of encrypted responses. It fails with pg.ErrResponseAlreadyStored for
// a key with an unexpired one.
func StoreKeyedResponses(t *pg.Tx, responses []KeyedResponse) {
	t.Queue(storeResponses, sets.ArrayArguments(responseColumns, responses, ports.IdempotencyWindow, len(responses))...).
		QueryRow(func(row pgx.Row) error {
			var guard int
			return sets.TranslateMissingRows(row.Scan(&guard), pg.ErrResponseAlreadyStored)
		})
}
