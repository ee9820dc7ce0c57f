package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// attempt is the context of one POST, and holds what its request is made of. A dial inherits it and tells it how far it
// came, perhaps after the attempt is over.
type attempt struct {
	context.Context
	stage  atomic.Int32
	dials  atomic.Int32
	body   bytes.Reader
	values [4]string // of the headers, one slice each
}

type attemptKey struct{}

// Value gives a dial its attempt.
func (a *attempt) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// attemptOf gives the attempt behind a dial.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return &attempt{Context: ctx}
}

var contentType = []string{"application/json"}

// notSent is the value of a header that does not go out.
var notSent = []string{}

// request fills a copy of the template.
func (a *attempt) request(template *http.Request, p ports.Post) *http.Request {
	request := template.WithContext(a)
	a.values = [...]string{p.Signature, p.Timestamp, string(p.Event), p.EventID}
	h := make(http.Header, 8)
	h["Content-Type"] = contentType
	h["User-Agent"] = template.Header["User-Agent"]
	h[webhook.HeaderSignature] = a.values[0:1:1]
	h[webhook.HeaderTimestamp] = a.values[1:2:2]
	h[webhook.HeaderEvent] = a.values[2:3:3]
	if p.EventID != "" {
		h[webhook.HeaderEventID] = a.values[3:4:4]
	}
	// It tells the transport that a request on a kept connection that turns out to be closed may go out again.
	h["Idempotency-Key"] = notSent
	request.Header = h
	a.body.Reset(p.Body)
	request.ContentLength = int64(len(p.Body))
	request.Body = io.NopCloser(&a.body)
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.Body)), nil }
	return request
}

// maxTemplates bounds what is remembered of URLs. There are 16 subscriptions a partner at most.
const maxTemplates = 2048

// templates keeps a request by URL, because the same URLs come again and again.
type templates struct {
	insecure  bool
	userAgent []string

	mu    sync.RWMutex
	byURL map[string]*http.Request
}

// of gives the template for a URL, or why it is refused.
func (t *templates) of(raw string) (template *http.Request, refusal string) {
	t.mu.RLock()
	template = t.byURL[raw]
	t.mu.RUnlock()
	if template != nil {
		return template, ""
	}
	template, err := http.NewRequest(http.MethodPost, raw, nil)
	switch {
	case err != nil || template.URL.Hostname() == "":
		return nil, "The URL cannot be read."
	case template.URL.Scheme != "https" && (template.URL.Scheme != "http" || !t.insecure):
		return nil, "The URL is not https."
	}
	template.Header["User-Agent"] = t.userAgent
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byURL == nil || len(t.byURL) >= maxTemplates {
		t.byURL = make(map[string]*http.Request)
	}
	t.byURL[raw] = template
	return template, ""
}
