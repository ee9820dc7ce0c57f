package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/core/id"
)

const prefix = "/api/partner/v1"

func (w *world) call(client *fasthttp.Client, t testPartner, path, body string) ([]byte, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(w.api + prefix + path)
	request.Header.SetMethod(http.MethodPost)
	request.Header.Set("x-api-key", t.key)
	request.Header.SetContentType("application/json")
	request.SetBodyString(body)
	if err := client.DoTimeout(request, response, 30*time.Second); err != nil {
		return nil, err
	}
	if response.StatusCode() >= 300 {
		return nil, fmt.Errorf("%s: %d %s", path, response.StatusCode(), response.Body())
	}
	return append([]byte(nil), response.Body()...), nil
}

// each calls fn for 0 … n-1 over conns connections and stops at the first error.
func each(ctx context.Context, n, conns int, fn func(client *fasthttp.Client, i int) error) error {
	client := &fasthttp.Client{MaxConnsPerHost: conns}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range conns {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := fn(client, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// deposits creates n deposits and gives their ids; whose names the partner of the i-th deposit.
func (w *world) deposits(ctx context.Context, n, conns int, whose func(i int) testPartner) ([]string, error) {
	ids := make([]string, n)
	err := each(ctx, n, conns, func(c *fasthttp.Client, i int) error {
		t := whose(i)
		body, err := w.call(c, t, "/deposits", `{"accountId":"`+id.Account.Of(t.account)+`","amount":500,"contractStartAt":"2026-07-01T12:00:00Z","contractEndAt":"2026-07-08T12:00:00Z","rentalContract":"B-`+fmt.Sprint(i)+`"}`)
		if err != nil {
			return err
		}
		var created struct{ Data struct{ ID string } }
		err = json.Unmarshal(body, &created)
		ids[i] = created.Data.ID
		return err
	})
	return ids, err
}

func (w *world) cancel(c *fasthttp.Client, t testPartner, depositID string) error {
	_, err := w.call(c, t, "/deposits/"+depositID+"/cancel", `{}`)
	return err
}

// awaitTaken waits until the receiver has taken n deliveries more than before.
func (w *world) awaitTaken(ctx context.Context, before, n int, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for w.taken()-before < n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d deliveries arrived in %v\n%s", w.taken()-before, n, patience, w.dispatcher.Log())
		case <-ticker.C:
		}
	}
	return nil
}

// paced cancels deposits at a steady rate. A slow response does not delay later requests.
func (w *world) paced(ctx context.Context, ids []string, rate int, whose func(i int) testPartner) error {
	client := &fasthttp.Client{MaxConnsPerHost: 256}
	began, timer := time.Now(), time.NewTimer(0)
	defer timer.Stop()
	var group sync.WaitGroup
	errs := make(chan error, len(ids))
	for i, depositID := range ids {
		timer.Reset(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		group.Go(func() {
			if err := w.cancel(client, whose(i), depositID); err != nil {
				errs <- err
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}
