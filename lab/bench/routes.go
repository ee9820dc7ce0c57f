package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/load"
)

// routeTimes is the number of calls of a route in a round, unless the route has a number of its own.
const routeTimes = 100

// routeCall calls a route of the contract. Ids in the path are those that earlier calls have kept, in turn.
type routeCall struct {
	method, route string
	query         string
	body          string // {n} is the number of the call
	keyed         bool
	keep          id.Prefix // of the ids to keep from the answers; "": none
	from          int       // the first of the kept ids
	calls         int       // 0: routeTimes
}

// keptIDs are ids by their prefix.
type keptIDs map[id.Prefix][]string

// request is the n-th request of a call.
func (c routeCall) request(kept keptIDs, apiKey string, n int) request {
	path := c.route
	for parameter, prefix := range map[string]id.Prefix{
		"{accountId}": id.Account, "{clientId}": id.Client, "{depositId}": id.Deposit, "{webhookId}": id.Subscription,
		"{deliveryId}": id.Delivery, "{eventId}": id.Event, "{keyId}": id.APIKey,
	} {
		if ids := kept[prefix]; len(ids) > 0 {
			path = strings.Replace(path, parameter, ids[(c.from+n)%len(ids)], 1)
		}
	}
	body := strings.Replace(c.body, "{n}", strconv.Itoa(n), 1)
	return request{method: c.method, path: path + c.query, apiKey: apiKey, keyed: c.keyed, body: body}
}

// measureRoutes calls every route, one call at a time. Each round has new processes and a new partner.
func measureRoutes(ctx context.Context, w *workbench, o options, r *results) {
	b := r.board("route")
	for range o.rounds {
		w.enter(ctx, w.last())
		t := w.newPartner(ctx, w.sink+"/")
		kept := keptIDs{id.Account: {id.Account.Of(t.Account)}, id.Subscription: {id.Subscription.Of(t.subscriptions[0])}}
		for _, c := range w.routeCalls(t) {
			err := attempt(func() { b.add(c.method+" "+c.route, w.routeRound(ctx, kept, t.Key, c)) })
			if err != nil {
				check(fmt.Errorf("%s %s: %w", c.method, c.route, err))
			}
		}
		w.unsubscribe(ctx, []testPartner{t})
	}
}

// routeRound gives the latency and the CPU of the calls. The CPU holds what follows from a call at once, such as its
// deliveries.
func (w *workbench) routeRound(ctx context.Context, kept keptIDs, apiKey string, c routeCall) figures {
	if c.calls == 0 {
		c.calls = routeTimes
	}
	var times *load.Times
	spent := w.cost(ctx, func() int {
		times = must(load.Closed(ctx, calls(c.calls), 1, func(i int) error {
			answer, err := w.api.do(c.request(kept, apiKey, i))
			if err != nil || c.keep == "" {
				return err
			}
			found, err := idIn(answer, c.keep)
			kept[c.keep] = append(kept[c.keep], found)
			return err
		}))
		return times.N()
	})
	all := spent.figures()
	// s per 1,000 are ms each
	f := figures{"p50 ms": times.Percentile(50), "p99 ms": times.Percentile(99), "CPU ms": all["CPU"]}
	for _, name := range []string{"http", "dispatcher", "postgres", "redis", "WAL B", "redis cmd"} {
		f[name] = all[name]
	}
	return f
}

// routeCalls lists the calls. Calls that a later call needs come first: deposits 0 to 99 end by a release, 100 to 199
// by a capture and 200 to 299 by a cancellation. Calls of the first webhook precede the others, which are made to be
// changed.
func (w *workbench) routeCalls(t testPartner) []routeCall {
	const deposit = "/deposits/{depositId}"
	client := `{"accountId":"` + id.Account.Of(t.Account) +
		`","email":"tenant-{n}@mail.example","firstName":"Ada","lastName":"Tenant"}`
	rental := strings.Replace(t.depositBody(0, later, ""), `"B-0"`, `"B-{n}"`, 1)
	secured := `{"outcome":"activate"}`
	all := []routeCall{
		{method: "GET", route: "/me"},
		{method: "GET", route: "/accounts"},
		{method: "GET", route: "/accounts/{accountId}"},
		{method: "POST", route: "/clients", body: client, keyed: true, keep: id.Client},
		{method: "GET", route: "/clients"},
		{method: "GET", route: "/clients/{clientId}"},
		{method: "PATCH", route: "/clients/{clientId}", body: `{"phone":"+33123456789"}`, keyed: true},
		{method: "POST", route: "/deposits", body: rental, keyed: true, keep: id.Deposit, calls: 3 * routeTimes},
		{method: "GET", route: "/deposits"},
		{method: "GET", route: deposit},
		{method: "POST", route: deposit + "/send-link", body: `{"email":"ada@mail.example"}`, keyed: true},
		{method: "POST", route: deposit + "/send-link/batch", keyed: true,
			body: `{"recipients":[{"email":"ada@mail.example"},{"email":"ben@mail.example"}]}`},
		{method: "POST", route: "/test" + deposit + "/simulate", body: secured},
		{method: "POST", route: "/test" + deposit + "/simulate", body: secured, from: routeTimes},
		{method: "POST", route: deposit + "/release", body: `{}`, keyed: true},
		{method: "POST", route: deposit + "/capture", body: `{"amount":100}`, keyed: true, from: routeTimes},
		{method: "POST", route: deposit + "/cancel", body: `{}`, keyed: true, from: 2 * routeTimes},
	}
	all = append(all, w.webhookCalls()...)
	return append(all,
		routeCall{method: "GET", route: "/events", query: "?limit=1", keep: id.Event},
		routeCall{method: "GET", route: "/events/{eventId}"},
		routeCall{method: "GET", route: "/events/feed", query: "?after=0"},
		routeCall{method: "POST", route: "/api-keys", body: `{"name":"rolled"}`, keep: id.APIKey, calls: 15},
		routeCall{method: "GET", route: "/api-keys"},
		routeCall{method: "DELETE", route: "/api-keys/{keyId}", calls: 15},
		routeCall{method: "DELETE", route: "/clients/{clientId}"},
		routeCall{method: "DELETE", route: "/accounts/{accountId}", calls: 1},
	)
}

// webhookCalls are the calls of webhooks and their deliveries.
func (w *workbench) webhookCalls() []routeCall {
	const hook = "/webhooks/{webhookId}"
	body := `{"url":"` + w.sink + `/elsewhere","events":["rental_operator.linked"]}`
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
	before := `{"from":"` + ago(2*time.Hour) + `","to":"` + ago(time.Hour) + `"}` // no delivery is so old
	return []routeCall{
		{method: "GET", route: hook},
		{method: "POST", route: hook + "/test", calls: 20},
		{method: "POST", route: hook + "/explain", calls: 10,
			body: `{"headers":{"X-Svc-Timestamp":"1","X-Svc-Signature":"x"},"body":"e30="}`},
		{method: "POST", route: "/connect/explain", body: `{"url":"https://dashboard.example.com/register?ts=1"}`, calls: 10},
		{method: "GET", route: hook + "/deliveries", query: "?limit=1", keep: id.Delivery},
		{method: "GET", route: hook + "/deliveries/{deliveryId}"},
		{method: "POST", route: hook + "/deliveries/{deliveryId}/redeliver", calls: 20},
		{method: "POST", route: hook + "/replay", body: before, calls: 20},
		{method: "POST", route: "/webhooks", body: body, keyed: true, keep: id.Subscription, calls: 10},
		{method: "GET", route: "/webhooks"},
		{method: "PATCH", route: hook, body: body, from: 1, calls: 10},
		{method: "POST", route: hook + "/rotate-secret", from: 1, calls: 10},
		{method: "DELETE", route: hook, from: 1, calls: 10},
	}
}
