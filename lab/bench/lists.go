package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// listTime is the time that a list takes, in ms.
type listTime struct {
	list         string
	median, most float64
	n            int
}

// filter is a value of a query parameter.
type filter struct{ name, value, label string }

// filteredList is a list of the API with its filters.
type filteredList struct {
	name, path, apiKey string
	filters            []filter
}

// measureLists reads the first page of each list with each filter and each pair of filters, a call at a time, as the partner
// who owns the stored rows. Without stored rows there is nothing to measure.
func measureLists(ctx context.Context, w *world, _ options, r *results) error {
	last := w.sites[len(w.sites)-1]
	if last.owners == nil {
		fmt.Println("lists: left out; -stock 3000000 stores rows to read")
		return nil
	}
	if err := w.enter(ctx, last); err != nil {
		return err
	}
	all, err := w.filteredLists(ctx)
	if err != nil {
		return err
	}
	c := newCaller(w.api)
	defer c.close()
	for _, l := range all {
		for _, query := range queries(l.filters) {
			t, err := timeOf(ctx, c, request{method: "GET", path: l.path + "?" + query.encoded, apiKey: l.apiKey})
			if err != nil {
				return err
			}
			t.list = l.name + query.label
			r.lists = append(r.lists, t)
		}
	}
	return printLists(r.lists)
}

// filteredLists are all lists of the API.
func (w *world) filteredLists(ctx context.Context) ([]filteredList, error) {
	key, err := w.keyOf(ctx, w.owners[0].Partner)
	if err != nil {
		return nil, err
	}
	log := "/webhooks/" + id.Subscription.Of(w.owners[0].Subscription) + "/deliveries"
	all := []filteredList{{name: "deposits", path: "/deposits"}, {name: "delivery log", path: log}, {name: "clients", path: "/clients"},
		{name: "events", path: "/events"}, {name: "feed", path: "/events/feed"}}
	for i, filters := range []func(context.Context) ([]filter, error){w.depositFilters, w.deliveryFilters, w.clientFilters, w.eventFilters, w.feedFilters} {
		all[i].apiKey = key
		if all[i].filters, err = filters(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	held, err := w.heldEndpoints(ctx)
	return append(all,
		filteredList{"accounts", "/accounts", key, []filter{
			{"status", "active", "status active"}, {"status", "revoked", "status revoked"}, {"status", "all", "status all"},
			{"externalId", "operator-1", "externalId"}, {"externalId", "unknown", "externalId unknown"},
		}},
		filteredList{name: "api-keys", path: "/api-keys", apiKey: key},
		filteredList{name: fmt.Sprintf("webhooks, %d with %d pending each", webhook.MaxSubscriptions, webhook.MostPending-1), path: "/webhooks", apiKey: held},
	), err
}

// heldEndpoints makes a partner with as many webhooks as it may have, each with the longest backlog that is counted exactly, and
// returns its key. The webhooks are disabled, so that the dispatcher leaves their deliveries alone.
func (w *world) heldEndpoints(ctx context.Context) (apiKey string, err error) {
	t, err := w.newPartner(ctx, slices.Repeat([]string{"https://receiver.example/held"}, webhook.MaxSubscriptions)...)
	if err != nil {
		return "", err
	}
	for _, sql := range []string{
		`UPDATE webhook_subscriptions SET enabled = false, disabled_reason = 'disabled_by_partner' WHERE id = ANY ($1) AND $2 > 0`,
		`INSERT INTO deliveries (subscription_id, id, event_id, event, state, body, event_at)
			SELECT s, overlay(gen_random_uuid()::text PLACING left(uuid_floor(now())::text, 13) FROM 1)::uuid, gen_random_uuid(), 'deposit.cancelled', 0,
				convert_to(repeat(md5(n::text), 20), 'UTF8'), now()
			FROM generate_series(1, $2) AS n, unnest($1::uuid[]) AS s`,
	} {
		if _, err := w.pool.Exec(ctx, sql, t.subscriptions, webhook.MostPending-1); err != nil {
			return "", err
		}
	}
	return t.key, nil
}

// query is a combination of filters.
type query struct{ encoded, label string }

// queries gives no filter, each filter, and each pair of filters with different names.
func queries(filters []filter) []query {
	found := []query{{}}
	for i, a := range filters {
		found = append(found, query{url.Values{a.name: {a.value}}.Encode(), ", " + a.label})
		for _, b := range filters[i+1:] {
			if a.name != b.name {
				found = append(found, query{url.Values{a.name: {a.value}, b.name: {b.value}}.Encode(), ", " + a.label + ", " + b.label})
			}
		}
	}
	return found
}

// timeOf repeats a call twenty times, or for two seconds if the call is slow, after three calls that do not count.
func timeOf(ctx context.Context, c *caller, r request) (t listTime, err error) {
	const warm, enough = 3, 20
	var ms sample
	began := time.Now()
	for i := range warm + enough {
		if i > warm && time.Since(began) > 2*time.Second || ctx.Err() != nil {
			break
		}
		called := time.Now()
		if _, err := c.do(r); err != nil {
			return t, err
		}
		if i >= warm {
			ms = append(ms, time.Since(called).Seconds()*1000)
		}
	}
	if len(ms) == 0 {
		return t, ctx.Err()
	}
	return listTime{median: ms.median(), most: slices.Max(ms), n: len(ms)}, nil
}

// keyOf makes an API key of a partner.
func (w *world) keyOf(ctx context.Context, partnerID id.ID) (string, error) {
	entropy := system.Entropy{}
	key, plain, hash := partner.NewAPIKey(entropy.NewID(), partnerID, partner.Development, "lists", entropy.Bytes(secret.Bytes), system.Clock{}.Now())
	err := w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error { return r.Partners.InsertKey(ctx, key, hash) })
	return plain.Reveal(), err
}

// depositFilters are filters of the list of deposits. The oldest row that fits is the hardest to find.
func (w *world) depositFilters(ctx context.Context) ([]filter, error) {
	var account, client id.ID
	var externalID, contract string
	var created time.Time
	err := w.pool.QueryRow(ctx, `SELECT account_id, external_id, client_id, rental_contract, created_at FROM deposits
		WHERE partner_id = $1 AND client_id IS NOT NULL AND rental_contract <> '' ORDER BY created_at LIMIT 1`, w.owners[0].Partner).
		Scan(&account, &externalID, &client, &contract, &created)
	unknown := system.Entropy{}.NewID()
	middle := created.Add(time.Since(created) / 2)
	return []filter{
		{"accountId", id.Account.Of(account), "accountId"},
		{"accountId", id.Account.Of(unknown), "accountId unknown"},
		{"externalId", externalID, "externalId"},
		{"externalId", "unknown", "externalId unknown"},
		{"status", "close", "status close"},
		{"status", "pending", "status pending"},
		{"status", "payment_issue", "status payment_issue"},
		{"rentalContract", contract, "rentalContract of the oldest"},
		{"rentalContract", "unknown", "rentalContract unknown"},
		{"clientId", id.Client.Of(client), "clientId of the oldest"},
		{"clientId", id.Client.Of(unknown), "clientId unknown"},
		{"createdTo", middle.UTC().Format(time.RFC3339), "createdTo half a year ago"},
		{"createdFrom", middle.UTC().Format(time.RFC3339), "createdFrom half a year ago"},
	}, err
}

func (w *world) deliveryFilters(ctx context.Context) ([]filter, error) {
	var depositID id.ID
	var created time.Time
	err := w.pool.QueryRow(ctx, `SELECT deposit_id, created_at FROM deliveries WHERE subscription_id = $1 AND deposit_id IS NOT NULL ORDER BY id LIMIT 1`,
		w.owners[0].Subscription).Scan(&depositID, &created)
	middle := created.Add(time.Since(created) / 2)
	return []filter{
		{"status", "succeeded", "status succeeded"},
		{"status", "failed", "status failed"},
		{"status", "pending", "status pending"},
		{"event", "deposit.activated", "event deposit.activated"},
		{"event", "rental_operator.linked", "event that never was"},
		{"depositId", id.Deposit.Of(depositID), "depositId of the oldest"},
		{"depositId", id.Deposit.Of(system.Entropy{}.NewID()), "depositId unknown"},
		{"from", middle.UTC().Format(time.RFC3339), "from two weeks ago"},
		{"to", middle.UTC().Format(time.RFC3339), "to two weeks ago"},
	}, err
}

func (w *world) clientFilters(ctx context.Context) ([]filter, error) {
	var account id.ID
	var email string
	err := w.pool.QueryRow(ctx, `SELECT account_id, email FROM clients WHERE partner_id = $1 ORDER BY created_at LIMIT 1`, w.owners[0].Partner).Scan(&account, &email)
	return []filter{
		{"accountId", id.Account.Of(account), "accountId"},
		{"accountId", id.Account.Of(system.Entropy{}.NewID()), "accountId unknown"},
		{"email", email, "email of the oldest"},
		{"email", "unknown@mail.example", "email unknown"},
	}, err
}

func (w *world) eventFilters(ctx context.Context) ([]filter, error) {
	var depositID id.ID
	var created time.Time
	err := w.pool.QueryRow(ctx, `SELECT deposit_id, created_at FROM events WHERE partner_id = $1 AND deposit_id IS NOT NULL ORDER BY id LIMIT 1`,
		w.owners[0].Partner).Scan(&depositID, &created)
	middle := created.Add(time.Since(created) / 2)
	return []filter{
		{"event", "deposit.activated", "event deposit.activated"},
		{"event", "rental_operator.linked", "event that never was"},
		{"depositId", id.Deposit.Of(depositID), "depositId of the oldest"},
		{"depositId", id.Deposit.Of(system.Entropy{}.NewID()), "depositId unknown"},
		{"from", middle.UTC().Format(time.RFC3339), "from two weeks ago"},
		{"to", middle.UTC().Format(time.RFC3339), "to two weeks ago"},
	}, err
}

// feedFilters are places in the feed, which has no other filters.
func (w *world) feedFilters(ctx context.Context) ([]filter, error) {
	var last int
	err := w.pool.QueryRow(ctx, `SELECT last_sequence FROM event_feeds WHERE partner_id = $1`, w.owners[0].Partner).Scan(&last)
	return []filter{
		{"after", strconv.Itoa(last / 2), "after two weeks ago"},
		{"after", strconv.Itoa(last - last/29 - 200), "after yesterday"},
		{"after", strconv.Itoa(last - 150), "after the newest but 150"},
		{"after", strconv.Itoa(last), "after the newest"},
	}, err
}

// printLists writes the lists, the slowest first.
func printLists(all []listTime) error {
	slices.SortStableFunc(all, func(a, b listTime) int { return cmp.Compare(b.median, a.median) })
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nfirst page of\tmedian ms\tmax ms\tcalls")
	for _, l := range all {
		_, _ = fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%d\n", l.list, l.median, l.most, l.n)
	}
	return table.Flush()
}
