package world

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// APIPathPrefix is the beginning of every path of the partner API.
const APIPathPrefix = "/api/partner/v1"

// APIClient is an HTTP client for the partner API.
type APIClient struct{ http.Client }

// NewAPIClient returns a client for the partner API. It waits for an answer as long as patience, and keeps up to idle
// unused connections to a process.
func NewAPIClient(patience time.Duration, idle int) *APIClient {
	transport := &http.Transport{MaxIdleConnsPerHost: idle, IdleConnTimeout: 3 * time.Second}
	return &APIClient{http.Client{Timeout: patience, Transport: transport}}
}

// APICall is a request of a partner to the API: method, path, keys and body.
type APICall struct {
	Base   string // Base URL of the http process that is called.
	APIKey string
	Method string // HTTP method of the call; "": POST.
	Path   string // Path of the API call, without APIPrefix (the beginning of every path).
	Key    string // The idempotency key of the call; "": no such header.
	Body   string
}

// APIResponse is a response of the partner API, or the error if none arrived.
type APIResponse struct {
	Status int
	Body   []byte
	Err    error // The error because of which no response arrived; nil when one arrived.
}

// Do sends a request to the partner API and returns the response.
func (c *APIClient) Do(ctx context.Context, call APICall) (a APIResponse) {
	if call.Method == "" {
		call.Method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, call.Base+APIPathPrefix+call.Path,
		strings.NewReader(call.Body))
	if err != nil {
		return APIResponse{Err: err}
	}
	request.Header.Set("x-api-key", call.APIKey)
	request.Header.Set("Content-Type", "application/json")
	if call.Key != "" {
		request.Header.Set("Idempotency-Key", call.Key)
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return APIResponse{Err: err}
	}
	defer func() { _ = response.Body.Close() }()
	a.Status = response.StatusCode
	a.Body, a.Err = io.ReadAll(response.Body)
	return a
}

// OK reports whether a request took effect. true: a status below 300; false: another status, or no response.
func (a APIResponse) OK() bool { return a.Err == nil && a.Status < http.StatusMultipleChoices }

// HasErrorCode reports whether a response has the status and its body the error code. false: another answer, or none.
func (a APIResponse) HasErrorCode(status int, code string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(string(a.Body), code)
}

// OutcomeUnknown reports whether it is unknown if a request took effect. true: there was no response, a 5xx, or an
// earlier request with the same key is in progress; false: the outcome is known.
func (a APIResponse) OutcomeUnknown() bool {
	return a.Err != nil || a.Status >= http.StatusInternalServerError ||
		a.HasErrorCode(http.StatusConflict, "idempotency_key_in_use")
}

// DecodeData decodes the field data of a response's JSON.
func (a APIResponse) DecodeData(data any) error {
	if a.Err != nil {
		return a.Err
	}
	return json.Unmarshal(a.Body, &struct{ Data any }{data})
}

// DataID returns the field data.id of a response; "" if there is none.
func (a APIResponse) DataID() string {
	var made struct{ ID string }
	_ = a.DecodeData(&made) // The error is ignored: for a response that is no JSON the id is "".
	return made.ID
}
