package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
)

// extent is the length of a closed loop: n calls, or all calls that begin within a time.
type extent struct {
	n    int
	time time.Duration
}

func calls(n int) extent                { return extent{n: n} }
func lasting(time time.Duration) extent { return extent{time: time} }

// each calls fn for 0, 1, 2 … over conns connections, each call as soon as a connection is free, and stops at the first
// error. Returns the number of calls.
func (w *world) each(ctx context.Context, length extent, conns int, fn func(c *caller, i int) error) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := time.Now().Add(length.time)
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range conns {
		group.Go(func() {
			c := newCaller(w.api)
			defer c.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if length.time > 0 && !time.Now().Before(end) || length.time == 0 && i >= length.n {
					return
				}
				if err := fn(c, i); err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return int(done.Load()), err
	}
	return int(done.Load()), nil
}

// most calls of an open loop in flight. Later calls wait for an earlier call to end, and count as late.
const mostOpen = 256

// paced calls fn for 0 … n-1 at a steady rate. A slow response does not delay later calls, unless mostOpen calls wait for
// their responses. Returns by how much the calls began late, in ms.
func (w *world) paced(ctx context.Context, n, rate int, fn func(c *caller, i int) error) (late sample, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late = make(sample, n)
	began := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(mostOpen, n) {
		group.Go(func() {
			c := newCaller(w.api)
			defer c.close()
			timer := time.NewTimer(0)
			defer timer.Stop()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
				timer.Reset(time.Until(due))
				select {
				case <-ctx.Done():
					return
				case <-timer.C:
				}
				late[i] = time.Since(due).Seconds() * 1000
				if err := fn(c, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return late, err
	}
	return late, nil
}

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

// deposits creates deposits through the API over conns connections. Deposit i belongs to the partner whose(i), and the result
// has the same order.
func (w *world) deposits(ctx context.Context, length extent, conns int, keyed bool, whose assignment) ([]made, error) {
	var mu sync.Mutex
	all := make([]made, length.n)
	_, err := w.each(ctx, length, conns, func(c *caller, i int) error {
		t := whose(i)
		answer, err := c.do(request{method: "POST", path: "/deposits", apiKey: t.key, keyed: keyed, body: t.depositBody(i)})
		if err != nil {
			return err
		}
		depositID, err := idIn(answer)
		mu.Lock()
		defer mu.Unlock()
		for len(all) <= i {
			all = append(all, made{})
		}
		all[i] = made{id: depositID, owner: t}
		return err
	})
	return slices.DeleteFunc(all, func(m made) bool { return m.id == "" }), err // a loop that ends by time may leave out an index
}

// idIn finds the id of a deposit in a response or in a delivery, without parsing all of it.
func idIn(body []byte) (string, error) {
	const field = `"id":"`
	start := bytes.Index(body, []byte(field+"dep_"))
	if start < 0 {
		return "", fmt.Errorf("no deposit in %s", body)
	}
	found := body[start+len(field):]
	return string(found[:max(bytes.IndexByte(found, '"'), 0)]), nil
}

func (t *testPartner) depositBody(i int) string {
	return `{"accountId":"` + id.Account.Of(t.account) + `","amount":500,"contractStartAt":"2026-07-01T12:00:00Z","contractEndAt":"2026-07-08T12:00:00Z","rentalContract":"B-` + strconv.Itoa(i) + `"}`
}

func (c *caller) cancel(m made, keyed bool) error {
	_, err := c.do(request{method: "POST", path: "/deposits/" + m.id + "/cancel", apiKey: m.owner.key, keyed: keyed, body: `{}`})
	return err
}

// cancelAll cancels deposits as fast as the API takes the requests.
func (w *world) cancelAll(ctx context.Context, all []made, conns int, keyed bool) error {
	_, err := w.each(ctx, calls(len(all)), conns, func(c *caller, i int) error { return c.cancel(all[i], keyed) })
	return err
}

// cancelPaced cancels deposits at a steady rate; see paced. Returns when each call began.
func (w *world) cancelPaced(ctx context.Context, all []made, rate int, keyed bool) (called []time.Time, late sample, err error) {
	called = make([]time.Time, len(all))
	late, err = w.paced(ctx, len(all), rate, func(c *caller, i int) error {
		called[i] = time.Now()
		return c.cancel(all[i], keyed)
	})
	return called, late, err
}
