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

func calls(n int) load.LoopLength                { return load.LoopLength{N: n} }
func lasting(time time.Duration) load.LoopLength { return load.LoopLength{Time: time} }

// made is a deposit that the load generator has created.
type made struct {
	id    string
	owner *world.Partner
}

// deposits creates deposits through the API, for each partner in turn, and returns them in order.
func (w *workbench) deposits(ctx context.Context, length load.LoopLength, v loadVariant,
	partners []world.Partner) []made {
	var mu sync.Mutex
	all := make([]made, length.N)
	must(load.RunClosedLoop(ctx, length, v.conns, func(i int) error {
		owner := &partners[i%len(partners)]
		answer, err := w.api.do(
			request{method: "POST", path: "/deposits", apiKey: owner.Key, keyed: v.keyed, body: depositBody(owner, i)})
		if err != nil {
			return err
		}
		depositID, err := depositIn(answer)
		mu.Lock()
		defer mu.Unlock()
		for len(all) <= i {
			all = append(all, made{})
		}
		all[i] = made{depositID, owner}
		return err
	}))
	// A load that ends by time may leave the last entries empty.
	return slices.DeleteFunc(all, func(m made) bool { return m.id == "" })
}

// depositIn searches JSON bytes for the first deposit id, because parsing would slow the load.
func depositIn(body []byte) (string, error) {
	start := bytes.Index(body, []byte(`"`+string(id.Deposit)+`_`))
	if start < 0 {
		return "", fmt.Errorf("no deposit in %s", body)
	}
	found := body[start+1:]
	return string(found[:max(bytes.IndexByte(found, '"'), 0)]), nil
}

// depositBody returns the JSON that creates the i-th deposit, for a stay of a week.
func depositBody(owner *world.Partner, i int) string {
	return `{"accountId":"` + id.Account.Of(owner.Account) + `","amount":500,"contractStartAt":"2030-07-01T12:00:00Z",` +
		`"contractEndAt":"2030-07-08T12:00:00Z","rentalContract":"B-` + strconv.Itoa(i) + `"}`
}

func (w *workbench) cancel(m made, v loadVariant) error {
	_, err := w.api.do(
		request{method: "POST", path: "/deposits/" + m.id + "/cancel", apiKey: m.owner.Key, keyed: v.keyed, body: `{}`})
	return err
}

// cancelAll cancels deposits as fast as the API takes the requests, and returns when each request began.
func (w *workbench) cancelAll(ctx context.Context, all []made, v loadVariant) (called []time.Time) {
	called = make([]time.Time, len(all))
	must(load.RunClosedLoop(ctx, calls(len(all)), v.conns, func(i int) error {
		called[i] = time.Now()
		return w.cancel(all[i], v)
	}))
	return called
}

// arrivalTimes returns the times from a call for each deposit to the first arrival of its webhook.
func (w *workbench) arrivalTimes(all []made, called []time.Time) *load.DurationHistogram {
	times, arrived := load.NewDurationHistogram(), w.arrivals()
	for i := range all {
		at, found := arrived[all[i].id]
		if !found {
			check(fmt.Errorf("no delivery of %s has arrived", all[i].id))
		}
		times.Add(at.Sub(called[i]))
	}
	return times
}

const callTimeout = 30 * time.Second

// client calls the partner API over fasthttp, which costs the load generator the least CPU.
type client struct {
	// HTTP clients, one for each http process, used in turn.
	hosts []*fasthttp.HostClient
	calls atomic.Uint64
}

type request struct {
	method, path string
	apiKey       string
	body         string
	// Whether the API call carries an Idempotency-Key.
	keyed bool
}

// A pool of random bytes makes idempotency keys cheaper.
func init() { uuid.EnableRandPool() }

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

// do returns the body of the partner API's response. Every status other than 2xx is an error.
func (c *client) do(r request) ([]byte, error) {
	out, in := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(out)
	defer fasthttp.ReleaseResponse(in)
	host := c.hosts[c.calls.Add(1)%uint64(len(c.hosts))]
	out.Header.SetMethod(r.method)
	out.SetRequestURI("http://" + host.Addr + world.APIPathPrefix + r.path)
	out.Header.Set("x-api-key", r.apiKey)
	out.Header.Set("Content-Type", "application/json")
	if r.keyed {
		out.Header.Set("Idempotency-Key", uuid.NewString())
	}
	out.SetBodyString(r.body)
	err := host.Do(out, in)
	if status := in.StatusCode(); err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("%d %s", status, in.Body())
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return append([]byte(nil), in.Body()...), nil
}
