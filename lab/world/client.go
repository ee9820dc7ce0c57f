package world

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// APIPrefix begins the paths of the partner API.
const APIPrefix = "/api/partner/v1"

// Client calls the partner API.
type Client struct{ http.Client }

// NewClient gives a client that keeps as many idle connections to a process.
func NewClient(patience time.Duration, idle int) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: idle, IdleConnTimeout: 3 * time.Second}
	return &Client{http.Client{Timeout: patience, Transport: transport}}
}

// Call is a request of a partner.
type Call struct {
	Base   string // of the process
	APIKey string
	Method string // "": POST
	Path   string // behind APIPrefix
	Key    string // the idempotency key; "": none
	Body   string
}

// Answer is a response of the API.
type Answer struct {
	Status int
	Body   []byte
	Err    error // where no response arrived
}

// Do sends a request.
func (c *Client) Do(ctx context.Context, call Call) (a Answer) {
	if call.Method == "" {
		call.Method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, call.Base+APIPrefix+call.Path,
		strings.NewReader(call.Body))
	if err != nil {
		return Answer{Err: err}
	}
	request.Header.Set("x-api-key", call.APIKey)
	request.Header.Set("Content-Type", "application/json")
	if call.Key != "" {
		request.Header.Set("Idempotency-Key", call.Key)
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return Answer{Err: err}
	}
	defer func() { _ = response.Body.Close() }()
	a.Status = response.StatusCode
	a.Body, a.Err = io.ReadAll(response.Body)
	return a
}

// OK tells that the request took effect.
func (a Answer) OK() bool { return a.Err == nil && a.Status < http.StatusMultipleChoices }

// Says tells whether an answer has a status and an error code.
func (a Answer) Says(status int, code string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(string(a.Body), code)
}

// Unknown tells that the request may or may not have taken effect: no response, a 5xx, or an earlier request with the
// same key that is still in progress.
func (a Answer) Unknown() bool {
	return a.Err != nil || a.Status >= http.StatusInternalServerError ||
		a.Says(http.StatusConflict, "idempotency_key_in_use")
}

// Into decodes the field data of an answer.
func (a Answer) Into(data any) error {
	if a.Err != nil {
		return a.Err
	}
	return json.Unmarshal(a.Body, &struct{ Data any }{data})
}

// ID is data.id of an answer; "" without.
func (a Answer) ID() string {
	var made struct{ ID string }
	_ = a.Into(&made) // "" then
	return made.ID
}
