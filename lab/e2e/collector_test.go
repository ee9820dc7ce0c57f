package e2e_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes spans over OTLP/HTTP, as an operator's collector does.
type collector struct {
	url string

	mu    sync.Mutex
	raw   []byte // all requests as they arrived
	spans []span
}

// span is a span with the process that recorded it.
type span struct {
	*tracev1.Span
	process string
}

func (s span) trace() string  { return hex.EncodeToString(s.TraceId) }
func (s span) id() string     { return hex.EncodeToString(s.SpanId) }
func (s span) parent() string { return hex.EncodeToString(s.ParentSpanId) }

// text gives a text attribute; number a whole number.
func (s span) text(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func (s span) number(key string) int64 {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetIntValue()
		}
	}
	return 0
}

// linksTo tells whether s has a link to other.
func (s span) linksTo(other span) bool {
	return slices.ContainsFunc(s.Links, func(l *tracev1.Span_Link) bool {
		return hex.EncodeToString(l.TraceId) == other.trace() && hex.EncodeToString(l.SpanId) == other.id()
	})
}

func newCollector(t testing.TB) *collector {
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorv1.ExportTraceServiceRequest
		if r.URL.Path != "/v1/traces" || err != nil || proto.Unmarshal(body, &request) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.take(body, &request)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) take(body []byte, request *collectorv1.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	for _, resource := range request.ResourceSpans {
		process := ""
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				process = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, span{s, process})
			}
		}
	}
}

// text is everything that arrived.
func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// named gives the spans with a name, by start.
func (c *collector) named(name string) (found []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return found
}

// below gives the spans with a name whose parent is s, by start.
func (c *collector) below(s span, name string) (found []span) {
	for _, child := range c.named(name) {
		if child.parent() == s.id() && child.trace() == s.trace() {
			found = append(found, child)
		}
	}
	return found
}

// only gives the single span with a name whose parent is s.
func (c *collector) only(t testing.TB, s span, name string) span {
	t.Helper()
	found := c.below(s, name)
	require.Len(t, found, 1, "%s below %s", name, s.Name)
	return found[0]
}

// logLine gives the first line of a log with a message.
func logLine(t testing.TB, log, message string) map[string]any {
	t.Helper()
	lines := logLines(t, log, message)
	require.NotEmpty(t, lines, "no such line: %s", message)
	return lines[0]
}
