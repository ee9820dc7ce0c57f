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

// IdempotencyClaim is an idempotency key that a transaction tries to lock. Once the queued statements are sent, it
// holds the result.
type IdempotencyClaim struct {
	Key ports.IdempotencyKey
	// Responses that were stored for the idempotency key before this time have expired and are ignored.
	Since time.Time

	// Whether this transaction holds the idempotency key until it ends (true) or another one holds it (false).
	Claimed bool
	// The stored response of an earlier request with the idempotency key; nil if there is none.
	Stored *ports.StoredResponse
	Err    error // The error for a stored response that cannot be decrypted; nil for none.
}

// Result returns the stored response of an idempotency key, or nil. A committed response does not change until it
// expires, so a request that repeats it needs no claim.
//
// Returns ports.ErrIdempotencyKeyInUse while another transaction holds the key and no response is stored.
func (k *IdempotencyClaim) Result() (*ports.StoredResponse, error) {
	if k.Err == nil && k.Stored == nil && !k.Claimed {
		return nil, ports.ErrIdempotencyKeyInUse
	}
	return k.Stored, k.Err
}

// ClaimIdempotencyKeys queues the statements that take the advisory locks of idempotency keys and read their stored
// responses. A second statement reads the rows, after the locks: an earlier holder of a lock has ended by then, so
// its row is visible. ClaimIdempotencyKeys does not wait for a key that another transaction holds.
//
// The join compares the primary key only, inside a subquery that the planner does not dissolve (OFFSET 0). A
// condition on the age would offer a second index, and on a table that was vacuumed while empty, each key would
// then read every key that has not expired.
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

// KeyedResponse is a response that is to be stored under an idempotency key which the transaction has locked.
type KeyedResponse struct {
	Key      ports.IdempotencyKey
	Response ports.StoredResponse
	sealed   []byte
}

// Encrypt encrypts the response that is to be stored under an idempotency key.
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

// statusOf returns the value of the column status of a stored response: its HTTP status, which is always a
// success; 200 for a response without one.
func statusOf(r ports.StoredResponse) int16 {
	const withoutCode = 200
	return int16(cmp.Or(r.Code, withoutCode))
}

// storeResponses is the SQL that stores responses under idempotency keys. The new response replaces an expired one
// that has not been deleted yet. A response that has not expired stays: the statement then divides by zero, and
// the error rolls back the transaction with its effect.
var storeResponses = `WITH stored AS (
		INSERT INTO idempotency_keys AS k (` + sets.ColumnNames(responseColumns) + `) SELECT ` + sets.SelectColumns(responseColumns) +
	` FROM ` + sets.FromClause(responseColumns) + `
		ON CONFLICT (partner_id, route, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response,
		created_at = excluded.created_at
		WHERE k.created_at <= excluded.created_at - ` + sets.ExtraParam(responseColumns, 1) + `::interval RETURNING 1)
	SELECT 1 / (count(*) = ` + sets.ExtraParam(responseColumns, 2) + `)::int FROM stored`

// StoreKeyedResponses queues the storing of encrypted responses of different idempotency keys. If one of the keys has a
// response that has not expired, the transaction fails with pg.ErrResponseAlreadyStored.
func StoreKeyedResponses(t *pg.Tx, responses []KeyedResponse) {
	t.Queue(storeResponses, sets.ArrayArguments(responseColumns, responses, ports.IdempotencyWindow, len(responses))...).
		QueryRow(func(row pgx.Row) error {
			var guard int
			return sets.TranslateMissingRows(row.Scan(&guard), pg.ErrResponseAlreadyStored)
		})
}
