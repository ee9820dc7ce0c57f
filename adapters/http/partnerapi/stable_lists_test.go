package partnerapi_test

import (
	"context"
	"encoding/binary"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

// movingList is a list whose rows come and go while a partner pages through the list.
type movingList struct {
	path  string // with placeholders of ids
	field string // of an item: its id
	kind  id.Prefix
	// add inserts the row @id, created @at.
	add string
	// remove takes the row @id out of the list; "": a row of this list stays for ever.
	remove string
}

// Statements of several lists. An id of a delivery or of an event begins with its time.
const (
	addDeposit = `INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api,
		amount_cents, rental_contract, external_id, client_id,
			contract_start_at, contract_end_at, url_generation, checkout_token_hash, checkout_token, checkout_expires_at,
			created_at, updated_at)
		VALUES (@id, @id::uuid::text, 'pending', 1, @account, @partner, true, 50000, 'BK-1', 'hotel-1', NULL, @at, @at, false,
		sha256(@id::uuid::text::bytea), 'x', @at, @at, @at)`
	cancelDeposit = `UPDATE deposits SET status = 'cancelled', cancelled_at = now() WHERE id = @id`
	addClient     = `INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, created_at)
		VALUES (@id, @account, @partner, 'ada@mail.example', 'Ada', 'A', @at)`
	eraseClient = `UPDATE clients SET email = '', first_name = '', last_name = '', erased_at = now() WHERE id = @id`
	addAccount  = `WITH o AS (INSERT INTO operators (id, email, email_key, password_hash, created_at)
		VALUES (@id, @id::uuid::text, @id::uuid::text, 'h', @at)),
			a AS (INSERT INTO accounts (id, operator_id, company_name, created_at) VALUES (@id, @id, 'Hotel', @at))
		INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at)
		VALUES (gen_random_uuid(), @partner, @id, @id::uuid::text, @at)`
	revokeLink  = `UPDATE account_links SET revoked_at = now(), revoked_by = 'partner' WHERE account_id = @id`
	addDelivery = `INSERT INTO deliveries (subscription_id, id, event_id, event, state, attempts, body, event_at,
		created_at, finished_at)
		VALUES (@subscription, @id, gen_random_uuid(), 'deposit.cancelled', 3, 11, '{}', @at, @at, @at)`
	addEvent = `INSERT INTO events (id, partner_id, name, data, created_at) VALUES (@id, @partner, 'deposit.cancelled',
		'{"id":"dep_1","reference":"D-7K3M-9Q2X","rentalContract":"","status":"cancelled",'
		'"previousStatus":"pending","amountCents":50000,"contractStartAt":"2026-07-01T12:00:00.000Z",'
		'"contractEndAt":"2026-07-08T12:00:00.000Z","client":null}', @at)`
)

var movingLists = []movingList{
	{"/deposits?", "id", id.Deposit, addDeposit, ""},
	{"/deposits?accountId={account}&rentalContract=BK-1", "id", id.Deposit, addDeposit, ""},
	{"/deposits?status=pending,incomplete", "id", id.Deposit, addDeposit, cancelDeposit},
	{"/clients?", "id", id.Client, addClient, eraseClient},
	{"/clients?accountId={account}", "id", id.Client, addClient, eraseClient},
	{"/clients?email=ADA@mail.example", "id", id.Client, addClient, eraseClient},
	{"/accounts?", "accountId", id.Account, addAccount, revokeLink},
	{"/accounts?status=all", "accountId", id.Account, addAccount, revokeLink},
	{"/webhooks?", "id", id.Subscription,
		`INSERT INTO webhook_subscriptions (id, partner_id, url, events, secret, created_at)
			VALUES (@id, @partner, 'https://a.example', '{deposit.cancelled}', 'x', @at)`,
		`UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = @id`},
	{"/webhooks/{subscription}/deliveries?", "id", id.Delivery, addDelivery, `DELETE FROM deliveries WHERE id = @id`},
	{"/webhooks/{subscription}/deliveries?status=failed", "id", id.Delivery, addDelivery,
		`DELETE FROM deliveries WHERE id = @id`},
	{"/webhooks/{subscription}/deliveries?event=deposit.cancelled", "id", id.Delivery, addDelivery,
		`DELETE FROM deliveries WHERE id = @id`},
	{"/api-keys?", "id", id.APIKey,
		`INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at, revoked_at)
			VALUES (@id, @partner, 'k', 'svc_pk_test_', 'abcd', sha256(@id::uuid::text::bytea), @at, now())`,
		""},
	{"/events?", "id", id.Event, addEvent, `DELETE FROM events WHERE id = @id`},
	{"/events?event=deposit.cancelled", "id", id.Event, addEvent, `DELETE FROM events WHERE id = @id`},
}

// Pages of five go through rows. After each page, rows are inserted before them, among them and after them, and one is
// removed. Three rows share each moment, so that the id decides their order.
func TestLists_AreStable_WhileRowsComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, l := range movingLists {
		t.Run(l.path, func(t *testing.T) {
			m := newMovingRows(t, w.caller(t, "acme-"+string(rune('a'+i))), l)
			const stored = 30
			stays, leaves := map[string]bool{}, []id.ID{}
			for n := range stored {
				row := m.insert(m.newest.Add(-time.Duration(n/3) * time.Second))
				if n%5 == 4 && l.remove != "" {
					leaves = append(leaves, row)
				} else {
					stays[l.kind.Of(row)] = true
				}
			}
			seen, pages, older := map[string]int{}, 0, time.Now().Add(time.Hour)
			for cursor := ""; ; pages++ {
				require.Less(t, pages, stored, "the list does not end")
				answer := m.get(m.path + "&limit=5" + cursor)
				for _, item := range answer.list() {
					row, _ := l.kind.Parse(text(t, item, l.field))
					require.False(t, row.Time().After(older), "the newest first")
					seen[l.kind.Of(row)]++
					older = row.Time()
				}
				next := answer.parsed().Pagination
				if !next.HasMore {
					break
				}
				cursor = "&cursor=" + url.QueryEscape(*next.NextCursor)
				for _, ago := range []time.Duration{-time.Minute, time.Duration(2*pages+1) * time.Second, time.Minute} {
					m.insert(m.newest.Add(-ago))
				}
				if pages < len(leaves) {
					m.exec(m.remove, pgx.NamedArgs{"id": leaves[len(leaves)-1-pages]})
				}
			}
			require.GreaterOrEqual(t, pages, stored*4/5/5)
			for item, times := range seen {
				require.Equal(t, 1, times, "%s is listed %d times", item, times)
			}
			for item := range stays {
				require.Contains(t, seen, item, "a row that was there from the start to the end is left out")
			}
		})
	}
}

// movingRows are the rows of a list of a partner.
type movingRows struct {
	*caller
	movingList
	path   string
	args   pgx.NamedArgs
	newest time.Time // of the rows that are stored at first
}

func newMovingRows(t *testing.T, c *caller, l movingList) *movingRows {
	t.Helper()
	c.t = t
	account := c.link("hotel-1")
	made := c.post("/webhooks", object{"url": "https://a.example",
		"events": []string{string(webhook.EventDepositCancelled)}})
	subscription := text(t, made.ok(201), "id")
	subscriptionID, ok := id.Subscription.Parse(subscription)
	require.True(t, ok)
	path := strings.NewReplacer("{account}", account, "{subscription}", subscription).Replace(l.path)
	return &movingRows{caller: c, movingList: l, path: path, newest: time.Now().Add(-time.Hour),
		args: pgx.NamedArgs{"partner": c.partner.ID, "account": mustAccount(t, account), "subscription": subscriptionID}}
}

// exec runs a statement with the arguments that it names.
func (m *movingRows) exec(sql string, args pgx.NamedArgs) {
	m.t.Helper()
	for name, value := range m.args {
		args[name] = value
	}
	_, err := m.Pool.Exec(context.Background(), sql, args)
	require.NoError(m.t, err)
}

// insert adds a row. The microseconds of at count: cursors hold no more.
func (m *movingRows) insert(at time.Time) id.ID {
	m.t.Helper()
	row := servicetest.NewID()
	binary.BigEndian.PutUint64(row[:8], uint64(at.UnixMilli())<<16|0x7000|uint64(row[6]&0xf)<<8|uint64(row[7]))
	m.exec(m.add, pgx.NamedArgs{"id": row, "at": at.Truncate(time.Microsecond)})
	return row
}
