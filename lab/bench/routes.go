package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"partnerdeposits/core/id"
)

// routeCalls is the number of calls of a route in a round, unless the route has a number of its own.
const routeCalls = 100

// routeCall is a call of a route. path and body have the number of the call.
type routeCall struct {
	route  string // as documented, without the prefix
	method string
	path   func(i int) string
	body   func(i int) string
	keyed  bool
	keep   func(i int, answer []byte) error // nil: the answer is not needed
	calls  int                              // 0: routeCalls
}

// measureRoutes calls every route, one call at a time. Each round has new processes and a new partner.
func measureRoutes(ctx context.Context, w *world, o options, _ *results) error {
	b := newBoard("route")
	for range o.rounds {
		if err := w.enter(ctx, w.sites[len(w.sites)-1]); err != nil {
			return err
		}
		t, err := w.newPartner(ctx, w.sink+"/")
		if err != nil {
			return err
		}
		c := newCaller(w.api)
		for _, r := range w.routeCalls(t) {
			f, err := w.routeRound(ctx, c, t.key, r)
			if err != nil {
				return fmt.Errorf("%s %s: %w", r.method, r.route, err)
			}
			b.add(r.method+" "+r.route, f)
		}
		c.close()
		if err := w.unsubscribe(ctx, []testPartner{t}); err != nil {
			return err
		}
	}
	return b.print(os.Stdout)
}

// routeRound gives the latency and the CPU of the calls. The CPU holds what follows from a call at once, such as its deliveries.
func (w *world) routeRound(ctx context.Context, c *caller, apiKey string, r routeCall) (figures, error) {
	if r.calls == 0 {
		r.calls = routeCalls
	}
	var ms sample
	from, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.calls {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asked := request{method: r.method, path: r.path(i), apiKey: apiKey, keyed: r.keyed}
		if r.body != nil {
			asked.body = r.body(i)
		}
		called := time.Now()
		answer, err := c.do(asked)
		if err != nil {
			return nil, err
		}
		ms = append(ms, time.Since(called).Seconds()*1000)
		if r.keep != nil {
			if err := r.keep(i, answer); err != nil {
				return nil, err
			}
		}
	}
	spent, err := w.since(ctx, from, r.calls)
	if err != nil {
		return nil, err
	}
	all := spent.figures()
	f := figures{"p50 ms": ms.median(), "p99 ms": ms.percentile(99), "CPU ms": all["CPU"]} // seconds per 1,000 are milliseconds each
	for _, name := range []string{"http", "dispatcher", "postgres", "redis", "WAL B", "redis cmd"} {
		f[name] = all[name]
	}
	return f, nil
}

// made ids by their prefix.
type madeIDs map[id.Prefix][]string

// keep notes the id in an answer.
func (m madeIDs) keep(prefix id.Prefix) func(int, []byte) error {
	return func(_ int, answer []byte) error {
		start := bytes.Index(answer, []byte(`"`+string(prefix)+`_`))
		if start < 0 {
			return fmt.Errorf("no %s in %s", prefix, answer)
		}
		found := answer[start+1:]
		m[prefix] = append(m[prefix], string(found[:max(bytes.IndexByte(found, '"'), 0)]))
		return nil
	}
}

// of makes paths with the ids of a prefix, from a place on.
func (m madeIDs) of(prefix id.Prefix, from int, before, after string) func(int) string {
	return func(i int) string { return before + m[prefix][from+i] + after }
}

func always(s string) func(int) string { return func(int) string { return s } }

// routeCalls lists the calls. Calls that a later call needs come first: deposits 0 to 99 end by a release, 100 to 199 by a capture and
// 200 to 299 by a cancellation.
func (w *world) routeCalls(t testPartner) []routeCall {
	m := madeIDs{}
	account, hook := id.Account.Of(t.account), "/webhooks/"+id.Subscription.Of(t.subscriptions[0])
	client := func(i int) string {
		return fmt.Sprintf(`{"accountId":"%s","email":"tenant-%d@mail.example","firstName":"Ada","lastName":"Tenant"}`, account, i)
	}
	simulate := func(from int) routeCall {
		return routeCall{route: "/test/deposits/{depositId}/simulate", method: "POST", path: m.of(id.Deposit, from, "/test/deposits/", "/simulate"), body: always(`{"outcome":"activate"}`)}
	}
	all := []routeCall{
		{route: "/me", method: "GET", path: always("/me")},
		{route: "/accounts", method: "GET", path: always("/accounts")},
		{route: "/accounts/{accountId}", method: "GET", path: always("/accounts/" + account)},
		{route: "/clients", method: "POST", path: always("/clients"), body: client, keyed: true, keep: m.keep(id.Client)},
		{route: "/clients", method: "GET", path: always("/clients")},
		{route: "/clients/{clientId}", method: "GET", path: m.of(id.Client, 0, "/clients/", "")},
		{route: "/clients/{clientId}", method: "PATCH", path: m.of(id.Client, 0, "/clients/", ""), body: always(`{"phone":"+33123456789"}`), keyed: true},
		{route: "/deposits", method: "POST", path: always("/deposits"), body: t.depositBody, keyed: true, keep: m.keep(id.Deposit), calls: 3 * routeCalls},
		{route: "/deposits", method: "GET", path: always("/deposits")},
		{route: "/deposits/{depositId}", method: "GET", path: m.of(id.Deposit, 0, "/deposits/", "")},
		{route: "/deposits/{depositId}/send-link", method: "POST", path: m.of(id.Deposit, 0, "/deposits/", "/send-link"), body: always(`{"email":"ada@mail.example"}`), keyed: true},
		{route: "/deposits/{depositId}/send-link/batch", method: "POST", path: m.of(id.Deposit, 0, "/deposits/", "/send-link/batch"),
			body: always(`{"recipients":[{"email":"ada@mail.example"},{"email":"ben@mail.example"}]}`), keyed: true},
		simulate(0), simulate(routeCalls),
		{route: "/deposits/{depositId}/release", method: "POST", path: m.of(id.Deposit, 0, "/deposits/", "/release"), body: always(`{}`), keyed: true},
		{route: "/deposits/{depositId}/capture", method: "POST", path: m.of(id.Deposit, routeCalls, "/deposits/", "/capture"), body: always(`{"amount":100}`), keyed: true},
		{route: "/deposits/{depositId}/cancel", method: "POST", path: m.of(id.Deposit, 2*routeCalls, "/deposits/", "/cancel"), body: always(`{}`), keyed: true},
	}
	all = append(all, w.webhookCalls(m, hook)...)
	return append(all,
		routeCall{route: "/events", method: "GET", path: always("/events?limit=1"), keep: m.keep(id.Event)},
		routeCall{route: "/events/{eventId}", method: "GET", path: m.of(id.Event, 0, "/events/", "")},
		routeCall{route: "/events/feed", method: "GET", path: always("/events/feed?after=0")},
		routeCall{route: "/api-keys", method: "POST", path: always("/api-keys"), body: always(`{"name":"rolled"}`), keep: m.keep(id.APIKey), calls: 15},
		routeCall{route: "/api-keys", method: "GET", path: always("/api-keys")},
		routeCall{route: "/api-keys/{keyId}", method: "DELETE", path: m.of(id.APIKey, 0, "/api-keys/", ""), calls: 15},
		routeCall{route: "/clients/{clientId}", method: "DELETE", path: m.of(id.Client, 0, "/clients/", "")},
		routeCall{route: "/accounts/{accountId}", method: "DELETE", path: always("/accounts/" + account), calls: 1},
	)
}

// webhookCalls are the calls of webhooks and their deliveries.
func (w *world) webhookCalls(m madeIDs, hook string) []routeCall {
	body := always(`{"url":"` + w.sink + `/elsewhere","events":["rental_operator.linked"]}`)
	from, to := time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339), time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) // no delivery is so old
	return []routeCall{
		{route: "/webhooks", method: "POST", path: always("/webhooks"), body: body, keyed: true, keep: m.keep(id.Subscription), calls: 10},
		{route: "/webhooks", method: "GET", path: always("/webhooks")},
		{route: "/webhooks/{webhookId}", method: "GET", path: always(hook)},
		{route: "/webhooks/{webhookId}", method: "PATCH", path: m.of(id.Subscription, 0, "/webhooks/", ""), body: body, calls: 10},
		{route: "/webhooks/{webhookId}/rotate-secret", method: "POST", path: m.of(id.Subscription, 0, "/webhooks/", "/rotate-secret"), calls: 10},
		{route: "/webhooks/{webhookId}/test", method: "POST", path: always(hook + "/test"), calls: 20},
		{route: "/webhooks/{webhookId}/deliveries", method: "GET", path: always(hook + "/deliveries?limit=1"), keep: m.keep(id.Delivery)},
		{route: "/webhooks/{webhookId}/deliveries/{deliveryId}", method: "GET", path: m.of(id.Delivery, 0, hook+"/deliveries/", "")},
		{route: "/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver", method: "POST", path: m.of(id.Delivery, 0, hook+"/deliveries/", "/redeliver"), calls: 20},
		{route: "/webhooks/{webhookId}/replay", method: "POST", path: always(hook + "/replay"), body: always(`{"from":"` + from + `","to":"` + to + `"}`), calls: 20},
		{route: "/webhooks/{webhookId}", method: "DELETE", path: m.of(id.Subscription, 0, "/webhooks/", ""), calls: 10},
	}
}
