package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// maxRead bounds the rows that a statement of a list reads: 2,000 rows, and the deposits, partners and clients of a
// page.
const maxRead = 2000 + 4*101

// queries notes the statements of a pool with their arguments.
type queries struct{ asked []pgx.TraceQueryStartData }

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, asked pgx.TraceQueryStartData) context.Context {
	if planned.MatchString(withoutComments(asked.SQL)) {
		q.asked = append(q.asked, asked)
	}
	return ctx
}
func (q *queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (q *queries) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (q *queries) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, asked pgx.TraceBatchQueryData) {
	q.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: asked.SQL, Args: asked.Args})
}
func (q *queries) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// fullStore is a store over many deposits of a partner with a single account, and many deliveries of its subscription.
type fullStore struct {
	*postgres.Store
	stock.Owner
	asked *queries
	pool  *pgxpool.Pool
}

func newFullStore(t *testing.T, n stock.RowCounts) fullStore {
	t.Helper()
	url := pgtest.NewDatabaseURL(t)
	return fullStoreOf(t, url, filled(t, url, 1, n), nil)
}

// filled fills a database with rows of a partner, and gives its first account.
func filled(t *testing.T, url string, accounts int, n stock.RowCounts) stock.Owner {
	t.Helper()
	admin := storetest.NewPool(t, url, postgres.PoolOptions{StatementTimeout: time.Minute})
	owners, err := stock.CreateRowOwners(t.Context(), admin, 1, accounts)
	require.NoError(t, err)
	require.NoError(t, stock.FillDatabase(t.Context(), admin, owners, n))
	return owners[0]
}

// fullStoreOf is a store over a filled database. Its connections have the settings.
func fullStoreOf(t *testing.T, url string, owner stock.Owner, settings map[string]string) fullStore {
	t.Helper()
	asked := &queries{}
	pool := func(o postgres.PoolOptions) *pgxpool.Pool {
		o.Settings = settings
		return storetest.NewPool(t, url, o)
	}
	return fullStore{storetest.NewStoreOverPool(t, pool(postgres.PoolOptions{MaxConns: 1, Tracer: asked}),
		postgres.Options{}), owner,
		asked, pool(postgres.PoolOptions{StatementTimeout: time.Minute})}
}

// delivered is a store over many events and deliveries of them, about 100 deposits. The tests that only read them share
// the database.
func delivered(t *testing.T, settings map[string]string) fullStore {
	t.Helper()
	url := pgtest.SharedDatabaseURL(t, "delivered", func(url string) {
		deliveredOwner = filled(t, url, 1, stock.RowCounts{Deposits: 100, Deliveries: 30_000, Events: 30_000})
		// A deposit has a handful of events. With fifty, a scan of a partition of 700 rows costs as much as fifty probes of
		// its index, and the plan changes with the sample of ANALYZE.
		admin := storetest.NewPool(t, url, postgres.PoolOptions{})
		exec(t, admin, `INSERT INTO deposit_transitions
				(deposit_id, version, from_status, to_status, trigger, at, actor, event_id)
			SELECT deposit_id, 100 + row_number() OVER (ORDER BY id), 'pending', 'active', 't', now(), 'a', id FROM events
			WHERE deposit_id = (SELECT deposit_id FROM events ORDER BY id LIMIT 1) ORDER BY id LIMIT 8`)
		exec(t, admin, `VACUUM ANALYZE deposit_transitions`)
	})
	return fullStoreOf(t, url, deliveredOwner, settings)
}

var deliveredOwner stock.Owner

// value reads a value from the database.
func value[T any](t *testing.T, s fullStore, sql string, args ...any) (v T) {
	t.Helper()
	require.NoError(t, s.pool.QueryRow(t.Context(), sql, args...).Scan(&v), sql)
	return v
}

// filters are choices of a value for each filter of a list.
type filters[F any] [][]func(*F)

// each calls check with every filter and every pair of filters.
func (all filters[F]) each(check func(name string, f F)) {
	apply := func(name string, set ...func(*F)) {
		var f F
		for _, s := range set {
			s(&f)
		}
		check(fmt.Sprintf("%s: %+v", name, f), f)
	}
	apply("none")
	for i, one := range all {
		for _, a := range one {
			apply("one", a)
			for _, other := range all[i+1:] {
				for _, b := range other {
					apply("pair", a, b)
				}
			}
		}
	}
}

func TestDeposits_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{Deposits: 30_000})
	middle := time.Now().Add(-180 * 24 * time.Hour)
	contract := value[string](t, s,
		`SELECT rental_contract FROM deposits WHERE created_at < $1 AND rental_contract <> '' ORDER BY created_at DESC
			LIMIT 1`,
		middle)
	client := value[id.ID](t, s,
		`SELECT client_id FROM deposits WHERE created_at < $1 AND client_id IS NOT NULL ORDER BY created_at DESC LIMIT 1`,
		middle)
	type filter = depositports.DepositFilter
	status := func(all ...deposit.Status) func(*filter) { return func(f *filter) { f.Statuses = all } }
	count := 0
	filters[filter]{
		{func(f *filter) { f.AccountID = s.Owner.Account }, func(f *filter) { f.AccountID = portstest.NewID() }},
		{func(f *filter) { f.ExternalID = "operator-1" }, func(f *filter) { f.ExternalID = "none" }},
		{status(deposit.Closed), status(deposit.Captured, deposit.Cancelled), status(deposit.PaymentIssue)},
		{func(f *filter) { f.RentalContract = contract }, func(f *filter) { f.RentalContract = "none" }},
		{func(f *filter) { f.ClientID = client }, func(f *filter) { f.ClientID = portstest.NewID() }},
		{
			func(f *filter) { f.Created = ports.TimeSpan{From: middle.Add(-24 * time.Hour), To: middle} },
			func(f *filter) { f.Created.To = middle }, func(f *filter) { f.Created.To = middle.Add(-1000 * 24 * time.Hour) },
		},
	}.each(func(name string, f filter) {
		count++
		f.PartnerID = s.Owner.Partner
		require.LessOrEqual(t, s.rowsRead(t, func() error {
			_, err := s.Deposits.Deposits(t.Context(), f, ports.Page{Limit: 100})
			return err
		}), maxRead, name)
	})
	require.Equal(t, 96, count)
}

func TestDeliveries_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := delivered(t, nil)
	middle := time.Now().Add(-15 * 24 * time.Hour)
	told := value[id.ID](t, s, `SELECT deposit_id FROM deliveries ORDER BY id LIMIT 1`)
	type filter = webhookports.DeliveryFilter
	status := func(s webhook.DeliveryStatus) func(*filter) { return func(f *filter) { f.Status = s } }
	event := func(e webhook.EventName) func(*filter) { return func(f *filter) { f.Event = e } }
	filters[filter]{
		{status(webhook.StatusPending), status(webhook.StatusRetrying), status(webhook.StatusSucceeded),
			status(webhook.StatusFailed)},
		{event(webhook.EventDepositActivated), event(webhook.EventDepositStatusChanged), event(webhook.EventOperatorLinked)},
		{func(f *filter) { f.DepositID = told }, func(f *filter) { f.DepositID = portstest.NewID() }},
		{
			func(f *filter) { f.Created = ports.TimeSpan{From: middle.Add(-24 * time.Hour), To: middle} },
			func(f *filter) { f.Created.To = middle }, func(f *filter) { f.Created.To = middle.Add(-1000 * 24 * time.Hour) },
		},
	}.each(func(name string, f filter) {
		require.LessOrEqual(t, s.rowsRead(t, func() error {
			_, err := s.Deliveries.Deliveries(t.Context(), s.Owner.Subscription, f, ports.Page{Limit: 100})
			return err
		}), maxRead, name)
	})
}

func TestLinkedAccounts_EveryFilterAndPair_ReadsFewRows(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{})
	exec(t, s.pool,
		`INSERT INTO operators (id, email, email_key, password_hash, created_at)
			SELECT md5(i::text)::uuid, i::text, i::text, 'h', now() FROM generate_series(1, 20000) i`)
	exec(t, s.pool,
		`INSERT INTO accounts (id, operator_id, company_name, created_at) SELECT id, id, 'C', now() FROM operators
			WHERE email NOT LIKE '%@%'`)
	exec(t, s.pool, `INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at, revoked_at, revoked_by)
		SELECT md5('l' || i)::uuid, $1, md5(i::text)::uuid, 'many-' || i, now() - i * interval '1 minute', CASE
		WHEN i > 19990 THEN now() END, CASE WHEN i > 19990 THEN 'admin' END
		FROM generate_series(1, 20000) i`, s.Owner.Partner)
	exec(t, s.pool, `VACUUM ANALYZE account_links`)
	type filter = accountports.PartnerLinkFilter
	filters[filter]{
		{func(f *filter) { f.Status = connect.LinkActive }, func(f *filter) { f.Status = connect.LinkRevoked }},
		{func(f *filter) { f.ExternalID = "many-20" }, func(f *filter) { f.ExternalID = "many-19999" },
			func(f *filter) { f.ExternalID = "none" }},
	}.each(func(name string, f filter) {
		require.LessOrEqual(t, s.rowsRead(t, func() error {
			_, err := s.Links.LinkedAccounts(t.Context(), s.Owner.Partner, f, ports.Page{Limit: 100})
			return err
		}), maxRead, name)
	})
}

func TestKeys_OfAPartnerWithMany_ReadFewRows_AndTheLimitCountsLiveKeysOnly(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{})
	exec(t, s.pool, `INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at, revoked_at)
		SELECT md5('k' || i)::uuid, $1, 'k', 'svc_pk_test_', 'abcd', sha256(i::text::bytea),
		now() - i / 10 * interval '1 minute', CASE WHEN i > 10 THEN now() END
		FROM generate_series(1, 20000) i`, s.Owner.Partner)
	exec(t, s.pool, `VACUUM ANALYZE api_keys`)
	var next ports.Cursor
	for _, page := range []ports.Page{{Limit: 100},
		{Limit: 100, Cursor: ports.Cursor{At: time.Now().Add(-15 * time.Hour), ID: portstest.NewID()}}} {
		require.LessOrEqual(t, s.rowsRead(t, func() error {
			found, err := s.Keys.Keys(t.Context(), s.Owner.Partner, page)
			next = found.Next
			return err
		}), 101)
		require.False(t, next.IsZero())
	}
	require.LessOrEqual(t, s.rowsRead(t, func() error {
		err := s.WithinTx(t.Context(), func(ctx context.Context) error {
			k := partner.APIKey{ID: portstest.NewID(), PartnerID: s.Owner.Partner, CreatedAt: time.Now()}
			return errors.Join(errUndone, s.Keys.InsertKey(ctx, k, partner.HashAPIKey("new")))
		})
		require.ErrorIs(t, err, errUndone) // so that the insert can be explained
		return nil
	}), partner.MaxAPIKeys)
}

var errUndone = errors.New("undone")

// A page that reached its bound of rows ends early, and its cursor names the last row that was read. So following the
// cursors finds every deposit once.
func TestDeposits_OfARareStatus_AreAllFoundOverPartialPages(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{Deposits: 9_000})
	exec(t, s.pool,
		`UPDATE deposits SET status = 'payment_issue' WHERE id IN (SELECT id FROM deposits WHERE status = 'pending'
			ORDER BY created_at LIMIT 3)`)
	exec(t, s.pool,
		`UPDATE deposits SET created_at = created_at - interval '300 days' WHERE id IN (SELECT id FROM deposits
			WHERE status = 'payment_issue' ORDER BY created_at LIMIT 1)`)
	rows, err := s.pool.Query(t.Context(),
		`SELECT id FROM deposits WHERE status = 'payment_issue' ORDER BY created_at DESC, id DESC`)
	require.NoError(t, err)
	want, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	require.NoError(t, err)
	var got []id.ID
	pages := 0
	for page := (ports.Page{Limit: 100}); ; pages++ {
		found, err := s.Deposits.Deposits(t.Context(),
			depositports.DepositFilter{PartnerID: s.Owner.Partner, Statuses: []deposit.Status{deposit.PaymentIssue}}, page)
		require.NoError(t, err)
		for _, d := range found.Items {
			got = append(got, d.ID)
		}
		if page.Cursor = found.Next; found.Next.IsZero() {
			break
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, 4, pages, "9,000 rows are 5 pages of 2,000 rows")
}

// Postgres plans a statement with its values five times, and then keeps a plan without values if that costs no more.
// With the limit as a parameter it never did.
func TestLists_FirstPages_SettleOnAPlan(t *testing.T) {
	t.Parallel()
	s := newFullStore(t, stock.RowCounts{Deposits: 5_000, Deliveries: 5_000})
	conn := storetest.NewPool(t, s.pool.Config().ConnString(), postgres.PoolOptions{MaxConns: 1})
	store := storetest.NewStoreOverPool(t, conn, postgres.Options{})
	const times = 20
	for name, list := range map[string]func(ports.Page) error{
		"deposits": func(p ports.Page) error {
			_, err := store.Deposits.Deposits(t.Context(), depositports.DepositFilter{PartnerID: s.Owner.Partner}, p)
			return err
		},
		"deposits of a status": func(p ports.Page) error {
			_, err := store.Deposits.Deposits(t.Context(),
				depositports.DepositFilter{PartnerID: s.Owner.Partner, Statuses: []deposit.Status{deposit.Closed}}, p)
			return err
		},
		"deposits of an account": func(p ports.Page) error {
			_, err := store.Deposits.Deposits(t.Context(),
				depositports.DepositFilter{PartnerID: s.Owner.Partner, AccountID: s.Owner.Account}, p)
			return err
		},
		"delivery log": func(p ports.Page) error {
			_, err := store.Deliveries.Deliveries(t.Context(), s.Owner.Subscription, webhookports.DeliveryFilter{}, p)
			return err
		},
	} {
		exec(t, conn, `DEALLOCATE ALL`)
		conn.Reset()
		for range times {
			require.NoError(t, list(ports.Page{Limit: 100}))
		}
		var generic, custom int
		require.NoError(t,
			conn.QueryRow(t.Context(),
				`SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%LIMIT 101%'
					ORDER BY generic_plans + custom_plans DESC LIMIT 1`,
				pgx.QueryExecModeSimpleProtocol).Scan(&generic, &custom))
		require.Equal(t, []int{times - 5, 5}, []int{generic, custom}, name)
	}
}

// maxBlocks bounds the blocks that a statement of a list touches: for each row that is read a block of the table, an
// entry of its index, and the look-up of a link.
const maxBlocks = 5 * maxRead

// rowsRead runs the statements of list again and returns the rows that the costliest of them read from tables. No
// statement may touch more than maxBlocks blocks.
func (s fullStore) rowsRead(t *testing.T, list func() error) int {
	t.Helper()
	return s.rowsReadOf(t, maxBlocks, list)
}

// rowsReadOf is rowsRead with another bound of the blocks.
func (s fullStore) rowsReadOf(t *testing.T, blocks int, list func() error) (most int) {
	t.Helper()
	for _, p := range s.plans(t, list) {
		most = max(most, p.read())
		require.LessOrEqual(t, p.Hit+p.Read, blocks, "blocks")
	}
	return most
}

// plans calls list, repeats its statements under EXPLAIN ANALYZE, and returns their plans.
func (s fullStore) plans(t *testing.T, list func() error) (all []scan) {
	t.Helper()
	s.asked.asked = nil
	require.NoError(t, list())
	for _, asked := range s.asked.asked {
		args := asked.Args
		if len(args) > 0 {
			if _, mode := args[0].(pgx.QueryExecMode); mode {
				args = args[1:]
			}
		}
		var text string
		require.NoError(t,
			s.pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+asked.SQL, args...).Scan(&text))
		var plans []struct{ Plan scan }
		require.NoError(t, json.Unmarshal([]byte(text), &plans))
		all = append(all, plans[0].Plan)
	}
	require.NotEmpty(t, all)
	return all
}

// scan is a node of an executed plan.
type scan struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []scan
}

// read counts the rows that the node and those below read from tables.
func (s scan) read() int {
	n := 0
	if s.Relation != "" {
		n = int((s.Rows + s.Filtered) * s.Loops)
	}
	for _, child := range s.Plans {
		n += child.read()
	}
	return n
}
