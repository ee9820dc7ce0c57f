package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const apiPrefix = "/api/partner/v1"

// client calls the partner API.
type client struct{ http *http.Client }

func newClient() client {
	const patience = 15 * time.Second
	return client{&http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * workers, IdleConnTimeout: 3 * time.Second}}}
}

// answer is a response of the API; err is set where no response arrived.
type answer struct {
	status int
	body   []byte
	err    error
}

func (a answer) ok() bool { return a.err == nil && a.status < http.StatusMultipleChoices }

// unknown tells that the request may or may not have taken effect: no response, a 5xx, or an earlier request with the
// same key that is still in progress.
func (a answer) unknown() bool {
	return a.err != nil || a.status >= http.StatusInternalServerError || a.status == http.StatusConflict && strings.Contains(string(a.body), "idempotency_key_in_use")
}

// elapsed tells that a capture came after the end of the cover.
func (a answer) elapsed() bool {
	return a.err == nil && a.status == http.StatusConflict && strings.Contains(string(a.body), "deposit_not_capturable")
}

func (a answer) depositID() string {
	var d struct{ Data struct{ ID string } }
	if a.err != nil || json.Unmarshal(a.body, &d) != nil {
		return ""
	}
	return d.Data.ID
}

func (c client) post(ctx context.Context, base, apiKey, path, key, body string) answer {
	return c.do(ctx, http.MethodPost, base, apiKey, path, key, body)
}

func (c client) do(ctx context.Context, method, base, apiKey, path, key, body string) (a answer) {
	request, err := http.NewRequestWithContext(ctx, method, base+apiPrefix+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set("x-api-key", apiKey)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = response.Body.Close() }()
	a.status = response.StatusCode
	a.body, a.err = io.ReadAll(response.Body)
	return a
}

// uuidOf gives the idempotency key for a step of a deposit. It has the form of a UUID v4 and depends on the seed alone.
func uuidOf(seed, number uint64, step byte) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], seed*1_000_003+number)
	binary.BigEndian.PutUint64(b[8:], number)
	const version, variant = 0x40, 0x80
	b[6], b[8] = version|b[6]&0x0f, variant|step
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
