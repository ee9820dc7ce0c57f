package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"partnerdeposits/lab/world"
)

const callTimeout = 30 * time.Second

// client calls the API. The generator shares the processors with the service, so the client is the cheapest there is.
type client struct{ fasthttp.HostClient }

// request is a call of the API.
type request struct {
	method, path string
	apiKey       string
	body         string
	keyed        bool // with an Idempotency-Key that no other call has
}

func init() { uuid.EnableRandPool() } // keys cost less

func newClient(base string) *client {
	return &client{fasthttp.HostClient{
		Addr: strings.TrimPrefix(base, "http://"), MaxConns: 1024, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		ReadBufferSize: 16 << 10, MaxIdemponentCallAttempts: 1, NoDefaultUserAgentHeader: true, DisablePathNormalizing: true,
	}}
}

// do sends a request and returns the body of its response.
//
// Returns an error without a response, and for every status other than 2xx.
func (c *client) do(r request) ([]byte, error) {
	out, in := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(out)
	defer fasthttp.ReleaseResponse(in)
	out.Header.SetMethod(r.method)
	out.SetRequestURI("http://" + c.Addr + world.APIPrefix + r.path)
	out.Header.Set("x-api-key", r.apiKey)
	if r.keyed {
		out.Header.Set("Idempotency-Key", uuid.NewString())
	}
	if r.body != "" {
		out.Header.SetContentType("application/json")
		out.SetBodyString(r.body)
	}
	if err := c.HostClient.Do(out, in); err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	answer := append([]byte(nil), in.Body()...)
	if in.StatusCode() < 200 || in.StatusCode() > 299 {
		return nil, fmt.Errorf("%s %s: %d %s", r.method, r.path, in.StatusCode(), answer)
	}
	return answer, nil
}
