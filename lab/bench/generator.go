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
	out.Header.SetMethod(method)
	out.SetRequestURI("http://" + c.Addr + path)
	for name, value := range headers {
		out.Header.Set(name, value)
	}
	out.SetBodyString(body)
	err = c.Do(out, in)
	return in.StatusCode(), append([]byte(nil), in.Body()...), err
}
