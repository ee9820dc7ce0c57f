package partnerapi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
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
	path  string // with the placeholders of movingWorld.path
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

// Pages of five go through rows while others are inserted among them, before them and after them, and some are removed.
// Three rows share each moment, so that the id decides their order.
func TestLists_AreStable_WhileRowsComeAndGo(t *testing.T) {
	t.Parallel()
	const stored = 90
	for _, l := range movingLists {
		t.Run(l.path, func(t *testing.T) {
			t.Parallel()
			m := newMovingWorld(t, l)
			stays, leaves := map[string]bool{}, []id.ID{}
			for i := range stored {
				row, err := m.insert(t.Context(), m.end.Add(-time.Duration(i/3)*time.Second))
				require.NoError(t, err)
				if i%5 == 4 && l.remove != "" {
					leaves = append(leaves, row)
				} else {
					stays[l.kind.Of(row)] = true
				}
			}
			rand.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
			changed, stop := m.change(leaves)
			seen := map[string]int{}
			pages := m.follow(func(page []object) {
				for _, item := range page {
					seen[text(t, item, l.field)]++
				}
				<-changed
			})
			came := stop()
			require.GreaterOrEqual(t, pages, stored*4/5/5)
			require.GreaterOrEqual(t, came, pages, "a row came during each page")
			for item, times := range seen {
				require.Equal(t, 1, times, "%s is listed %d times", item, times)
			}
			for item := range stays {
				require.Contains(t, seen, item, "a row that was there from the start to the end is left out")
			}
		})
	}
}

type movingWorld struct {
	*caller
	movingList
	path string
	args pgx.NamedArgs
	end  time.Time // of the newest row that is stored at first
}

func newMovingWorld(t *testing.T, l movingList) *movingWorld {
	t.Helper()
	c, account := newStory(t)
	accountID, ok := id.Account.Parse(account)
	require.True(t, ok)
	subscription := c.post("/webhooks",
		object{"url": "https://a.example", "events": []string{string(webhook.DepositCancelled)}}).ok(201)
	subscriptionID, ok := id.Subscription.Parse(text(t, subscription, "id"))
	require.True(t, ok)
	path := strings.NewReplacer("{account}", account, "{subscription}", text(t, subscription, "id")).Replace(l.path)
	return &movingWorld{caller: c, movingList: l, path: path, end: time.Now().Add(-time.Hour),
		args: pgx.NamedArgs{"partner": c.partner.ID, "account": accountID, "subscription": subscriptionID}}
}

// exec runs a statement with those of the named arguments that it names.
func (m *movingWorld) exec(ctx context.Context, sql string, args pgx.NamedArgs) error {
	for name, value := range m.args {
		args[name] = value
	}
	_, err := m.Pool.Exec(ctx, sql, args)
	return err
}

// insert adds a row. The microseconds of at count: cursors hold no more.
func (m *movingWorld) insert(ctx context.Context, at time.Time) (id.ID, error) {
	row := servicetest.NewID()
	binary.BigEndian.PutUint64(row[:8], uint64(at.UnixMilli())<<16|0x7000|uint64(row[6]&0xf)<<8|uint64(row[7]))
	return row, m.exec(ctx, m.add, pgx.NamedArgs{"id": row, "at": at.Truncate(time.Microsecond)})
}

// change inserts rows and removes those of leaves, until stop, which returns the number of inserted rows. A receive
// from changed returns once more rows have been inserted.
func (m *movingWorld) change(leaves []id.ID) (changed <-chan struct{}, stop func() int) {
	const atOnce = 3
	ctx, cancel := context.WithCancel(m.t.Context())
	told, ended, came := make(chan struct{}), make(chan error, 1), 0
	go func() {
		defer close(told)
		ended <- func() error {
			for {
				for range atOnce {
					at := m.end.Add(-time.Duration(rand.IntN(30_000)) * time.Millisecond) //nolint:gosec // no secret
					if came%2 == 0 {
						at = time.Now()
					}
					if _, err := m.insert(context.WithoutCancel(ctx), at); err != nil {
						return err
					}
					if came < len(leaves) {
						if err := m.exec(context.WithoutCancel(ctx), m.remove, pgx.NamedArgs{"id": leaves[came]}); err != nil {
							return err
						}
					}
					came++
				}
				select {
				case told <- struct{}{}:
				case <-ctx.Done():
					return nil
				}
			}
		}()
	}()
	return told, func() int {
		cancel()
		require.NoError(m.t, <-ended)
		return came
	}
}

// follow reads the list page by page, to its end, and returns the number of pages.
func (m *movingWorld) follow(read func([]object)) (pages int) {
	m.t.Helper()
	cursor := ""
	for {
		answer := m.get(m.path + "&limit=5" + cursor)
		read(answer.list())
		pages++
		require.Less(m.t, pages, 200, "the list does not end")
		next := answer.parsed().Pagination
		require.Equal(m.t, next.HasMore, next.NextCursor != nil)
		if !next.HasMore {
			return pages
		}
		cursor = fmt.Sprintf("&cursor=%s", url.QueryEscape(*next.NextCursor))
	}
}
