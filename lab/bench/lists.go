package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/load"
)

// filter is a value of a query parameter. $name stands for a value that is stored.
type filter struct{ name, value, label string }

// filteredList is a list of the API with its filters.
type filteredList struct {
	name, path string
	// oldest selects values of the partner $1 and the subscription $2. The oldest row that fits is the hardest to find.
	oldest  string
	filters []filter
}

var filteredLists = []filteredList{
	{
		"deposits", "/deposits",
		`SELECT account_id AS account, external_id, client_id AS client, rental_contract, created_at FROM deposits
			WHERE partner_id = $1 AND client_id IS NOT NULL AND rental_contract <> '' AND $2::uuid IS NOT NULL
			ORDER BY created_at LIMIT 1`,
		[]filter{
			{"accountId", "$account", "accountId"}, {"accountId", "$unknown_account", "accountId unknown"},
			{"externalId", "$external_id", "externalId"}, {"externalId", "unknown", "externalId unknown"},
			{"status", "close", "status close"}, {"status", "pending", "status pending"},
			{"status", "payment_issue", "status payment_issue"},
			{"rentalContract", "$rental_contract", "rentalContract of the oldest"},
			{"rentalContract", "unknown", "rentalContract unknown"},
			{"clientId", "$client", "clientId of the oldest"}, {"clientId", "$unknown_client", "clientId unknown"},
			{"createdTo", "$middle", "createdTo half a year ago"}, {"createdFrom", "$middle", "createdFrom half a year ago"},
		},
	},
	{
		"delivery log", "/webhooks/$subscription/deliveries", `SELECT deposit_id AS deposit, created_at FROM deliveries
			WHERE subscription_id = $2 AND deposit_id IS NOT NULL AND $1::uuid IS NOT NULL ORDER BY id LIMIT 1`,
		append([]filter{
			{"status", "succeeded", "status succeeded"}, {"status", "failed", "status failed"},
			{"status", "pending", "status pending"},
		}, eventFilters...),
	},
	{
		"clients", "/clients", `SELECT account_id AS account, email FROM clients
			WHERE partner_id = $1 AND $2::uuid IS NOT NULL ORDER BY created_at LIMIT 1`,
		[]filter{
			{"accountId", "$account", "accountId"}, {"accountId", "$unknown_account", "accountId unknown"},
			{"email", "$email", "email of the oldest"}, {"email", "unknown@mail.example", "email unknown"},
		},
	},
	{
		"events", "/events", `SELECT deposit_id AS deposit, created_at FROM events
			WHERE partner_id = $1 AND deposit_id IS NOT NULL AND $2::uuid IS NOT NULL ORDER BY id LIMIT 1`,
		eventFilters,
	},
	{
		"feed", "/events/feed",
		`SELECT last_sequence / 2 AS middle_number, last_sequence - last_sequence / 29 - 200 AS yesterday,
			last_sequence - 150 AS recent, last_sequence AS newest FROM event_feeds WHERE partner_id = $1
			AND $2::uuid IS NOT NULL`,
		[]filter{ // places in the feed, which has no other filters
			{"after", "$middle_number", "after two weeks ago"}, {"after", "$yesterday", "after yesterday"},
			{"after", "$recent", "after the newest but 150"}, {"after", "$newest", "after the newest"},
		},
	},
	{
		"accounts", "/accounts", "", []filter{
			{"status", "active", "status active"}, {"status", "revoked", "status revoked"}, {"status", "all", "status all"},
			{"externalId", "operator-1", "externalId"}, {"externalId", "unknown", "externalId unknown"},
		},
	},
	{"api-keys", "/api-keys", "", nil},
}

var eventFilters = []filter{
	{"event", "deposit.activated", "event deposit.activated"}, {"event", "rental_operator.linked", "event that never was"},
	{"depositId", "$deposit", "depositId of the oldest"}, {"depositId", "$unknown_deposit", "depositId unknown"},
	{"from", "$middle", "from two weeks ago"}, {"to", "$middle", "to two weeks ago"},
}

// measureLists reads the first page of each list with each filter and each pair of filters, a call at a time, as the
// partner who owns the stored rows. Without stored rows there is nothing to measure.
func measureLists(ctx context.Context, w *workbench, _ options, r *results) {
	last := w.last()
	if last.owners == nil {
		fmt.Println("lists: left out; -stock 3000000 stores rows to read")
		return
	}
	w.enter(ctx, last)
	b := r.board("first page of")
	entropy, now := system.Entropy{}, system.Clock{}.Now()
	key, plain, hash := partner.NewAPIKey(
		entropy.NewID(), w.owners[0].Partner, partner.Development, "lists", entropy.Bytes(secret.Bytes), now)
	check(w.Store.WithinTx(ctx, func(ctx context.Context) error { return w.Store.Keys.InsertKey(ctx, key, hash) }))
	for _, l := range filteredLists {
		values := w.storedValues(ctx, l)
		path := os.Expand(l.path, values)
		for _, query := range queries(l.filters, values) {
			w.timeList(ctx, b, l.name+query.label,
				request{method: "GET", path: path + "?" + query.encoded, apiKey: plain.Reveal()})
		}
	}
	name := fmt.Sprintf("webhooks, %d with %d pending each", webhook.MaxSubscriptions, webhook.MaxPending-1)
	w.timeList(ctx, b, name, request{method: "GET", path: "/webhooks", apiKey: w.heldEndpoints(ctx)})
	r.addLists(b)
}

// storedValues gives the values for which the list's filters stand.
func (w *workbench) storedValues(ctx context.Context, l filteredList) func(name string) string {
	owner := w.owners[0]
	row := map[string]any{}
	if l.oldest != "" {
		rows := must(w.Pool.Query(ctx, l.oldest, owner.Partner, owner.Subscription))
		row = must(pgx.CollectExactlyOneRow(rows, pgx.RowToMap))
	}
	if created, ok := row["created_at"].(time.Time); ok {
		row["middle"] = created.Add(time.Since(created) / 2).UTC().Format(time.RFC3339)
	}
	row["subscription"] = [16]byte(owner.Subscription)
	for _, name := range []string{"unknown_account", "unknown_client", "unknown_deposit"} {
		row[name] = [16]byte(system.Entropy{}.NewID())
	}
	kinds := map[string]id.Prefix{"account": id.Account, "client": id.Client, "deposit": id.Deposit,
		"subscription": id.Subscription}
	return func(name string) string {
		if raw, ok := row[name].([16]byte); ok {
			return kinds[strings.TrimPrefix(name, "unknown_")].Of(id.ID(raw))
		}
		return fmt.Sprint(row[name])
	}
}

// heldEndpoints makes a partner with as many webhooks as it may have, each with the longest backlog that is counted
// exactly, and returns its key. The webhooks are disabled, so that the dispatcher leaves their deliveries alone.
func (w *workbench) heldEndpoints(ctx context.Context) (apiKey string) {
	t := w.newPartner(ctx, slices.Repeat([]string{"https://receiver.example/held"}, webhook.MaxSubscriptions)...)
	for _, sql := range []string{
		`UPDATE webhook_subscriptions SET enabled = false, disabled_reason = 'disabled_by_partner' WHERE id = ANY ($1)
			AND $2 > 0`,
		`INSERT INTO deliveries (subscription_id, id, event_id, event, state, body, event_at)
			SELECT s, overlay(gen_random_uuid()::text PLACING left(uuid_floor(now())::text, 13) FROM 1)::uuid, gen_random_uuid(),
				'deposit.cancelled', 0, convert_to(repeat(md5(n::text), 20), 'UTF8'), now()
			FROM generate_series(1, $2) AS n, unnest($1::uuid[]) AS s`,
	} {
		must(w.Pool.Exec(ctx, sql, t.subscriptions, webhook.MaxPending-1))
	}
	return t.Key
}

// query is a combination of filters.
type query struct{ encoded, label string }

// queries gives no filter, each filter, and each pair of filters with different names.
func queries(filters []filter, values func(string) string) []query {
	found := []query{{}}
	add := func(label string, chosen ...filter) {
		q := url.Values{}
		for _, f := range chosen {
			q.Set(f.name, os.Expand(f.value, values))
		}
		found = append(found, query{q.Encode(), label})
	}
	for i, a := range filters {
		add(", "+a.label, a)
		for _, b := range filters[i+1:] {
			if a.name != b.name {
				add(", "+a.label+", "+b.label, a, b)
			}
		}
	}
	return found
}

// timeList repeats a call twenty times, or for two seconds if the call is slow, after three calls that do not count.
func (w *workbench) timeList(ctx context.Context, b *board, list string, r request) {
	call := func(int) error { _, err := w.api.do(r); return err }
	must(load.Closed(ctx, calls(3), 1, call))
	times := must(load.Closed(ctx, load.Extent{N: 20, Time: 2 * time.Second}, 1, call))
	b.add(list, figures{"p50 ms": times.Percentile(50), "max ms": times.Percentile(100)})
}

// addLists sorts the lists, the slowest first, and compares the first.
func (r *results) addLists(b *board) {
	median := func(list string) float64 { return b.sample(list, "p50 ms").median() }
	slices.SortStableFunc(b.variants, func(a, b string) int { return cmp.Compare(median(b), median(a)) })
	slowest := b.variants[0]
	r.add("lists", median(slowest), fmt.Sprintf("%.1f ms: %s", median(slowest), slowest), len(b.variants))
}
