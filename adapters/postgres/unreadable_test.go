package postgres_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// told notes the rows that could not be read, as "table id".
type told map[string]int

func (t told) met(_ context.Context, table string, rowID id.ID, _ error) {
	t[table+" "+rowID.String()]++
}

// list reads a page, and gives the ids of its items.
type list func(ports.Page) (ids []id.ID, next ports.Cursor, err error)

func listOf[T any](read func(ports.Page) (ports.ListPage[T], error), of func(T) id.ID) list {
	return func(p ports.Page) (ids []id.ID, next ports.Cursor, err error) {
		found, err := read(p)
		for _, item := range found.Items {
			ids = append(ids, of(item))
		}
		return ids, found.Next, err
	}
}

// all follows a list to its end.
func (l list) all(t *testing.T, p ports.Page) (ids []id.ID) {
	t.Helper()
	for {
		page, next, err := l(p)
		require.NoError(t, err)
		ids = append(ids, page...)
		if p.Cursor = next; next.IsZero() {
			return ids
		}
	}
}

// everyList gives each list of an owner, by its table and the value that spoils a row.
func everyList(t *testing.T, s *postgres.Store, of stock.Owner) map[[2]string]list {
	ctx := t.Context()
	ofDeposit := func(d *deposit.Deposit) id.ID { return d.ID }
	deposits := listOf(func(p ports.Page) (ports.ListPage[*deposit.Deposit], error) {
		return s.Deposits.Deposits(ctx, depositports.DepositFilter{PartnerID: of.Partner}, p)
	}, ofDeposit)
	return map[[2]string]list{
		{"deposits", `metadata = '[1]'`}:                  deposits,
		{"deposits", `metadata = '{"a": {"b": 1}}'`}:      deposits,
		{"deposits", `checkout_expires_at = '-infinity'`}: deposits,
		{"deposits", `created_at = 'infinity'`}:           deposits,
		{"deposits", `updated_at = '-infinity'`}: listOf(func(p ports.Page) (ports.ListPage[*deposit.Deposit], error) {
			return s.Desk.DashboardDeposits(ctx, depositports.DashboardFilter{AccountID: of.Account}, p)
		}, ofDeposit),
		{"deposits", `updated_at = 'infinity'`}: listOf(func(p ports.Page) (ports.ListPage[*deposit.Deposit], error) {
			return s.Deposits.Deposits(ctx,
				depositports.DepositFilter{PartnerID: of.Partner, Statuses: deposit.Statuses}, p)
		}, ofDeposit),
		{"clients", `changed_at = 'infinity'`}: listOf(func(p ports.Page) (ports.ListPage[tenant.Client], error) {
			return s.Clients.Clients(ctx, partnerports.ClientFilter{PartnerID: of.Partner}, p)
		}, func(c tenant.Client) id.ID { return c.ID }),
		{"api_keys", `last_used_at = '-infinity'`}: listOf(func(p ports.Page) (ports.ListPage[partner.APIKey], error) {
			return s.Keys.Keys(ctx, of.Partner, p)
		}, func(k partner.APIKey) id.ID { return k.ID }),
		{"account_links", `linked_at = '-infinity'`}: listOf(func(p ports.Page) (ports.ListPage[ports.LinkedAccount], error) {
			return s.Links.LinkedAccounts(ctx, of.Partner, accountports.PartnerLinkFilter{}, p)
		}, func(a ports.LinkedAccount) id.ID { return a.ID }),
		{"accounts", `created_at = 'infinity'`}: listOf(func(p ports.Page) (ports.ListPage[connect.Account], error) {
			return s.Operators.Accounts(ctx, p)
		}, func(a connect.Account) id.ID { return a.ID }),
		{"webhook_subscriptions", `created_at = '-infinity'`}: listOf(
			func(p ports.Page) (ports.ListPage[webhook.Subscription], error) {
				return s.Subscriptions.Subscriptions(ctx, of.Partner, p)
			}, func(w webhook.Subscription) id.ID { return w.ID }),
		{"deliveries", `event_at = 'infinity', finished_at = 'infinity'`}: listOf(
			func(p ports.Page) (ports.ListPage[webhook.Delivery], error) {
				return s.Deliveries.Deliveries(ctx, of.Subscription, webhookports.DeliveryFilter{}, p)
			}, func(d webhook.Delivery) id.ID { return d.ID }),
		{"events", `data = '{"broken'`}: listOf(func(p ports.Page) (ports.ListPage[ports.Event], error) {
			return s.Events.Events(ctx, of.Partner, webhookports.EventFilter{}, p)
		}, func(e ports.Event) id.ID { return e.ID }),
	}
}

// allow drops the constraints of migration 62, as a database from before has none.
func allow(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	exec(t, pool, `DO $$ DECLARE c record; BEGIN FOR c IN SELECT conrelid::regclass AS at, conname FROM pg_constraint
		WHERE contype = 'c' AND coninhcount = 0 AND conname ~ '_(finite|texts|object)$' LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.at, c.conname); END LOOP; END $$`)
}

var spoiltColumn = regexp.MustCompile(`(\w+) =`)

func TestLists_ARowThatCannotBeRead_IsPassedOverAndTold(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabaseURL(t)
	admin := storetest.NewPool(t, url, postgres.PoolOptions{})
	owners, err := stock.CreateRowOwners(t.Context(), admin, 1, 12)
	require.NoError(t, err)
	require.NoError(t, stock.FillDatabase(t.Context(), admin, owners[:1],
		stock.RowCounts{Deposits: 40, Deliveries: 40, Events: 40, Clients: 12}))
	exec(t, admin, `INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at)
		SELECT gen_random_uuid(), $1, 'k', 'svc_pk_test_', 'abcd', sha256(i::text::bytea), now()
		FROM generate_series(1, 12) i`,
		owners[0].Partner)
	exec(t, admin, `INSERT INTO webhook_subscriptions SELECT (jsonb_populate_record(w,
		jsonb_build_object('id', gen_random_uuid()))).* FROM webhook_subscriptions w, generate_series(1, 11)`)
	allow(t, admin)
	heard := told{}
	store := storetest.NewStoreOverPool(t, storetest.NewPool(t, url, postgres.PoolOptions{}),
		postgres.Options{Unreadable: heard.met})
	tables := map[string]bool{}
	for spoil, list := range everyList(t, store, owners[0]) {
		table, value := spoil[0], spoil[1]
		before := list.all(t, ports.Page{Limit: 100})
		require.Greater(t, len(before), 11, table)
		victim := before[5]
		exec(t, admin, fmt.Sprintf(`CREATE TABLE kept AS SELECT * FROM %s WHERE id = '%s'`, table, victim))
		exec(t, admin, fmt.Sprintf(`UPDATE %s SET %s WHERE id = '%s'`, table, value, victim))
		want := slices.DeleteFunc(slices.Clone(before), func(i id.ID) bool { return i == victim })
		for _, limit := range []int{1, 10, 100} {
			clear(heard)
			require.Equal(t, want, list.all(t, ports.Page{Limit: limit}), "%s %s, %d a page", table, value, limit)
			require.Contains(t, heard, table+" "+victim.String(), value)
			require.Len(t, heard, 1)
		}
		for _, column := range spoiltColumn.FindAllStringSubmatch(value, -1) {
			exec(t, admin, fmt.Sprintf(`UPDATE %s AS t SET %s = kept.%[2]s FROM kept WHERE t.id = kept.id`, table, column[1]))
		}
		exec(t, admin, `DROP TABLE kept`)
		tables[table] = true
	}
	for _, table := range ports.APIListedTables {
		require.True(t, tables[table], table)
	}
}
