package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// A month of an account reads the collections of the month, and neither the fees nor the deposits of the account, of
// which there may be a million.
func TestStatements_OfAnAccountWithManyDeposits_ReadAMonthByItsIndexes(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	seen := &statements{}
	pool := storetest.Pool(t, url, postgres.PoolOptions{Tracer: seen, StatementTimeout: time.Minute})
	store := storetest.Over(t, pool, postgres.Options{})
	account := storetest.Origin(t, store).AccountID
	grow(t, pool, 20_000)
	exec(t, pool, `INSERT INTO payments (id, deposit_id, kind, amount_cents, status, created_at, check_at, settled_at)
		SELECT gen_random_uuid(), d.id, k.kind, 1000, 'succeeded', now(), now(), now() - n * interval '30 minutes'
		FROM (SELECT id, row_number() OVER () AS n FROM deposits) d, (VALUES ('fee', 1), ('collection', 20)) k(kind, every)
		WHERE d.n % k.every = 0`)
	exec(t, pool, `INSERT INTO collections (payment_id, deposit_id, state, captured_at, ended_at)
		SELECT id, deposit_id, 'paid', created_at, settled_at FROM payments WHERE kind = 'collection'`)
	exec(t, pool, `INSERT INTO refunds (id, payment_id, deposit_id, amount_cents, reason, status, actor, created_at,
			check_at, settled_at)
		SELECT gen_random_uuid(), id, deposit_id, 1, 'orphaned', 'succeeded', 'a', created_at, check_at, settled_at
		FROM payments`)
	exec(t, pool, `INSERT INTO disputes (ref, payment_id, deposit_id, amount_cents, reason, status, created_at, changed_at)
		SELECT id::text, id, deposit_id, 1, 'fraudulent', 'lost', settled_at, settled_at FROM payments`)
	exec(t, pool, `ANALYZE`)
	seen.take()

	month := ports.Span{From: time.Now().AddDate(0, -1, 0), To: time.Now().Add(time.Hour)}
	_, err := store.Books.DueTo(t.Context(), account, month)
	require.NoError(t, err)
	for _, after := range []ports.Cursor{{}, {At: time.Now(), ID: id.ID(portstest.NewID())}} {
		_, err := store.Books.Moved(t.Context(), account, month, ports.Page{Limit: 50, Cursor: after})
		require.NoError(t, err)
	}
	texts := seen.take()
	require.Len(t, texts, 3)
	for i, sql := range texts {
		want := []string{"deposits_pkey/1", "disputes_in_order/2", "payments_collected/2", "payments_pkey/1",
			"refunds_settled/2"}
		if i == 2 { // the page begins at its cursor
			want[2] = "payments_collected/3"
		}
		if i == 0 {
			want = append(want, "accounts_pkey/1")
		} else {
			want = append(want, "clients_pkey/1", "collections_pkey/1", "disputes_of_deposit/1", "refunds_of_payment/1")
		}
		require.ElementsMatch(t, want, accesses(t, pool, sql), sql)
	}
}
