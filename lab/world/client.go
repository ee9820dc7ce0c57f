package world

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

const APIPathPrefix = "/api/partner/v1"

type APIClient struct{ http.Client }

// NewAPIClient returns a client of the partner API that waits for an answer as long as patience, and keeps up to
// idle unused connections.
func NewAPIClient(patience time.Duration, idle int) *APIClient {
	transport := &http.Transport{MaxIdleConnsPerHost: idle, IdleConnTimeout: 3 * time.Second}
	return &APIClient{http.Client{Timeout: patience, Transport: transport}}
}

type APICall struct {
	Base   string // Base URL of the called http process.
	APIKey string
	Method string // HTTP method; "": POST.
	Path   string // Path of the API call, without APIPathPrefix.
	Key    string // The call's idempotency key; "": no such header.
	Body   string
}

// APIResponse is a response of the partner API, or why none arrived.
type APIResponse struct {
	Status int
	Body   []byte
	Err    error // Why no response arrived; nil: one did.
}

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

// OK reports whether a response with a status below 300 arrived.
func (a APIResponse) OK() bool { return a.Err == nil && a.Status < http.StatusMultipleChoices }

func (a APIResponse) HasErrorCode(status int, code string) bool {
	return a.Err == nil && a.Status == status && strings.Contains(string(a.Body), code)
}

// OutcomeUnknown reports whether it is unknown if a request took effect: no response, a 5xx, or its key in use by
// an earlier request.
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

// DataID returns the field data.id of a response; "": none.
func (a APIResponse) DataID() string {
	var made struct{ ID string }
	_ = a.DecodeData(&made) // For a response without JSON the id is "".
	return made.ID
}
