package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

func calls(n int) load.Extent                { return load.Extent{N: n} }
func lasting(time time.Duration) load.Extent { return load.Extent{Time: time} }

// assignment says whose deposit the i-th one is.
type assignment func(i int) *testPartner

// inTurn shares deposits evenly among partners.
func inTurn(partners []testPartner) assignment {
	return func(i int) *testPartner { return &partners[i%len(partners)] }
}

// made is a deposit that the generator created.
type made struct {
	id    string
	owner *testPartner
}

// deposits creates deposits through the API over conns connections. Deposit i belongs to the partner whose(i), and the
// result has the same order.
func (w *workbench) deposits(ctx context.Context, length load.Extent, conns int, keyed bool, whose assignment) []made {
	var mu sync.Mutex
	all := make([]made, length.N)
	_, err := load.Closed(ctx, length, conns, func(i int) error {
		m, err := w.create(whose(i), i, keyed)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for len(all) <= i {
			all = append(all, made{})
		}
		all[i] = m
		return nil
	})
	check(err)
	// A loop that ends by time may leave out an index.
	return slices.DeleteFunc(all, func(m made) bool { return m.id == "" })
}

// create creates the i-th deposit.
func (w *workbench) create(t *testPartner, i int, keyed bool) (made, error) {
	answer, err := w.api.do(
		request{method: "POST", path: "/deposits", apiKey: t.Key, keyed: keyed, body: t.depositBody(i, later, "")})
	if err != nil {
		return made{}, err
	}
	depositID, err := idIn(answer, id.Deposit)
	return made{id: depositID, owner: t}, err
}

// open is load.Open for a step, which an error ends.
func open(ctx context.Context, n, rate int, call func(i int, due time.Time) error) (times, late *load.Times) {
	times, late, err := load.Open(ctx, n, rate, call)
	check(err)
	return times, late
}

// idIn finds the first id of a kind in a response or in a delivery, without parsing all of it.
func idIn(body []byte, kind id.Prefix) (string, error) {
	start := bytes.Index(body, []byte(`"`+string(kind)+`_`))
	if start < 0 {
		return "", fmt.Errorf("no %s in %s", kind, body)
	}
	found := body[start+1:]
	return string(found[:max(bytes.IndexByte(found, '"'), 0)]), nil
}

// depositBody is the body of the i-th deposit, for a stay of a week, with more fields.
func (t *testPartner) depositBody(i int, from time.Time, more string) string {
	return `{"accountId":"` + id.Account.Of(t.Account) + `","amount":500,"contractStartAt":"` +
		from.UTC().Format(time.RFC3339) +
		`","contractEndAt":"` + from.UTC().AddDate(0, 0, 7).Format(time.RFC3339) +
		`","rentalContract":"B-` + strconv.Itoa(i) + `"` + more + `}`
}

var later = time.Date(2030, 7, 1, 12, 0, 0, 0, time.UTC)

func (w *workbench) cancel(m made, keyed bool) error {
	_, err := w.api.do(
		request{method: "POST", path: "/deposits/" + m.id + "/cancel", apiKey: m.owner.Key, keyed: keyed, body: `{}`})
	return err
}

// cancelAll cancels deposits as fast as the API takes the requests.
func (w *workbench) cancelAll(ctx context.Context, all []made, conns int, keyed bool) {
	must(load.Closed(ctx, calls(len(all)), conns, func(i int) error { return w.cancel(all[i], keyed) }))
}

// paced is the outcome of an open loop of cancellations.
type paced struct {
	due           []time.Time // of each cancellation
	answers, late *load.Times // see load.Open
	spent         cost        // until the last delivery was taken
}

// cancelPaced cancels deposits in an open loop, and waits until the receiver has taken so many deliveries in all.
func (w *workbench) cancelPaced(ctx context.Context, all []made, rate int, keyed bool, taken int) paced {
	p := paced{due: make([]time.Time, len(all))}
	p.spent = w.cost(ctx, func() int {
		p.answers, p.late = open(ctx, len(all), rate, func(i int, due time.Time) error {
			p.due[i] = due
			return w.cancel(all[i], keyed)
		})
		w.awaitTaken(ctx, taken)
		return len(all)
	})
	return p
}

const callTimeout = 30 * time.Second

// client calls the API. The generator shares the processors with the service, so the client is the cheapest there is.
type client struct {
	hosts []*fasthttp.HostClient // that take turns
	calls atomic.Uint64
}

// request is a call of the API.
type request struct {
	method, path string
	apiKey       string
	body         string
	keyed        bool // with an Idempotency-Key that no other call has
}

func init() { uuid.EnableRandPool() } // keys cost less

func newClient(bases ...string) *client {
	c := &client{}
	for _, base := range bases {
		c.hosts = append(c.hosts, &fasthttp.HostClient{
			Addr: strings.TrimPrefix(base, "http://"), MaxConns: 1024, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
			ReadBufferSize: 16 << 10, MaxIdemponentCallAttempts: 1, NoDefaultUserAgentHeader: true,
			DisablePathNormalizing: true,
		})
	}
	return c
}

// do calls the partner API and returns the body of the response.
//
// Returns an error without a response, and for every status other than 2xx.
func (c *client) do(r request) ([]byte, error) {
	headers := map[string]string{"x-api-key": r.apiKey, "Content-Type": "application/json"}
	if r.keyed {
		headers["Idempotency-Key"] = uuid.NewString()
	}
	status, answer, err := c.send(r.method, world.APIPrefix+r.path, r.body, headers)
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("%d %s", status, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return answer, nil
}

func (c *client) send(method, path, body string, headers map[string]string) (status int, answer []byte, err error) {
	out, in := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(out)
	defer fasthttp.ReleaseResponse(in)
	host := c.hosts[c.calls.Add(1)%uint64(len(c.hosts))]
	out.Header.SetMethod(method)
	out.SetRequestURI("http://" + host.Addr + path)
	for name, value := range headers {
		out.Header.Set(name, value)
	}
	out.SetBodyString(body)
	err = host.Do(out, in)
	return in.StatusCode(), append([]byte(nil), in.Body()...), err
}
