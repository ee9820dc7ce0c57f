package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
)

// resealPage is the number of rows encrypted again in a single transaction, so few that their locks last
// milliseconds.
const resealPage = 500

// SecretReencrypter encrypts stored secrets again with the primary key of the keyset. It leaves out stored responses,
// which expire after a day.
type SecretReencrypter struct {
	store  *Store
	prefix []byte // The bytes with which every ciphertext of the keyset's primary key begins.
}

// NewSecretReencrypter makes a SecretReencrypter. prefix is the beginning of every ciphertext of the primary
// key only.
func NewSecretReencrypter(store *Store, prefix []byte) *SecretReencrypter {
	return &SecretReencrypter{store, prefix}
}

type SecretColumn struct {
	Name               string
	table, key, column string
	aad                func(id.ID) []byte
}

func (k SecretColumn) FirstPage() SecretRowsPage { return SecretRowsPage{kind: k} }

// SecretRowsPage is a page of rows with secrets in one column, after an id.
type SecretRowsPage struct {
	kind  SecretColumn
	after id.ID
}

// ReencryptedPage holds how many rows of a page were read and changed. Next is the page that follows, unless
// Done.
type ReencryptedPage struct {
	Read, Changed int
	Next          SecretRowsPage
	Done          bool
}

func (r *SecretReencrypter) SecretColumns() []SecretColumn {
	return []SecretColumn{
		{"connect secrets", "partners", "id", "connect_secret", pg.ConnectSecretAAD},
		{"webhook secrets", "webhook_subscriptions", "id", "secret", pg.SigningSecretAAD},
		{"checkout tokens", "deposits", "id", "checkout_token", pg.CheckoutTokenAAD},
		{"sealed addresses", "sealed_addresses", "client_id", "address", pg.ClientAddressAAD},
		{"file keys", "file_contents", "file_id", "key", pg.FileKeyAAD},
		{"origins of agreements", "deposit_agreements", "id", "origin", pg.AgreementAAD},
		{"two-factor secrets", "second_factors", "operator_id", "secret", pg.TwoFactorSecretAAD},
	}
}

// lookPage is the number of rows that CheckPage reads at once, without locks.
const lookPage = 2000

// CheckPage calls see with each ciphertext of a page of rows and whether it can be decrypted. done reports that
// no page follows.
func (r *SecretReencrypter) CheckPage(ctx context.Context, p SecretRowsPage,
	see func(sealed []byte, opens bool)) (next SecretRowsPage, done bool, err error) {
	k := p.kind
	rows, err := r.store.base.DB.Query(ctx, fmt.Sprintf(`SELECT %[3]s, %[2]s FROM %[1]s
		WHERE %[3]s > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid) ORDER BY %[3]s LIMIT %[4]d`,
		k.table, k.column, k.key, lookPage), p.after)
	if err != nil {
		return p, false, err
	}
	read, next := 0, p
	var sealed []byte
	_, err = pgx.ForEachRow(rows, []any{&next.after, &sealed}, func() error {
		if read++; sealed != nil {
			_, err := r.store.base.Sealer.Decrypt(sealed, k.aad(next.after))
			see(sealed, err == nil)
		}
		return nil
	})
	return next, read < lookPage, pg.Translate(err)
}

func (r *SecretReencrypter) EstimateRows(ctx context.Context) (n int64, err error) {
	var tables []string
	for _, k := range r.SecretColumns() {
		tables = append(tables, k.table)
	}
	err = r.store.base.DB.QueryRow(ctx,
		`SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class
			WHERE oid = ANY (SELECT unnest($1::text[])::regclass)`,
		tables).Scan(&n)
	return n, pg.Translate(err)
}

// ReencryptPage encrypts a page of rows with the primary key. A secret that another transaction changes
// meanwhile stays.
func (r *SecretReencrypter) ReencryptPage(ctx context.Context, p SecretRowsPage) (out ReencryptedPage, err error) {
	err = pg.RetryTx(ctx, func() error {
		out, err = r.page(ctx, p)
		return err
	})
	return out, err
}

func (r *SecretReencrypter) page(ctx context.Context, p SecretRowsPage) (ReencryptedPage, error) {
	k := p.kind
	rows, err := r.store.base.DB.Query(ctx,
		fmt.Sprintf(`SELECT %[4]s, CASE WHEN substring(%[2]s FROM 1 FOR length($2::bytea)) <> $2::bytea THEN %[2]s END
		FROM %[1]s WHERE %[4]s > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid) ORDER BY %[4]s LIMIT %[3]d`,
			k.table, k.column, resealPage, k.key), p.after, r.prefix)
	if err != nil {
		return ReencryptedPage{}, err
	}
	type row struct {
		ID id.ID
		// The encrypted secret; nil if there is none, or if the primary key encrypted it already.
		Sealed []byte
	}
	read, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return ReencryptedPage{}, pg.Translate(err)
	}
	out := ReencryptedPage{Read: len(read), Done: len(read) < resealPage}
	var ids []id.ID
	var before, after [][]byte
	for _, each := range read {
		out.Next = SecretRowsPage{kind: k, after: each.ID}
		if each.Sealed == nil {
			continue
		}
		plain, err := r.store.base.Sealer.Decrypt(each.Sealed, k.aad(each.ID))
		if err != nil {
			return ReencryptedPage{}, fmt.Errorf("%s of row %s: %w", k.Name, each.ID, err)
		}
		sealed, err := r.store.base.Sealer.Encrypt(plain, k.aad(each.ID))
		if err != nil {
			return ReencryptedPage{}, err
		}
		ids, before, after = append(ids, each.ID), append(before, each.Sealed), append(after, sealed)
	}
	if len(ids) == 0 {
		return out, nil
	}
	tag, err := r.store.base.DB.Exec(ctx, fmt.Sprintf(`UPDATE %[1]s AS t SET %[2]s = n.after
		FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS n(id, before, after) WHERE t.%[3]s = n.id
		AND t.%[2]s = n.before`,
		k.table, k.column, k.key), ids, before, after)
	out.Changed = int(tag.RowsAffected())
	return out, pg.Translate(err)
}
