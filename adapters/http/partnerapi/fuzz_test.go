package partnerapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

// The targets send mutated input to the API over HTTP, with real stores: no panic, no 5xx, and an answer in the
// envelope.

// fuzzed is a request whose answer a target judges.
type fuzzed struct {
	method, target string
	body           []byte
}

// answerTo sends a request and checks the rules that hold for every answer.
func (s *stage) answerTo(t *testing.T, q fuzzed) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), q.method, s.url+partnerapi.PathPrefix+q.target,
		bytes.NewReader(q.body))
	require.NoError(t, err)
	req.Header.Set("x-api-key", s.key)
	if len(q.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.transport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, http.StatusInternalServerError, "%s", body)
	r := reply{t: t, status: res.StatusCode, header: res.Header, body: body}
	code := ""
	if r.status != http.StatusNoContent {
		require.True(t, json.Valid(body), "%s", body)
		code = r.parsed().Error.Code
	}
	require.Equal(t, r.status >= http.StatusBadRequest, code != "")
	return r.status, code
}

// fuzzStage is a stage that lives as long as the target.
func fuzzStage(f *testing.F) *stage {
	f.Helper()
	_, other := contractWorld(f)
	return other.stage(f)
}

// FuzzBody sends a body to any operation that takes one.
func FuzzBody(f *testing.F) {
	s := fuzzStage(f)
	var targets []fuzzed
	for _, o := range operations(f) {
		if o.body() != nil {
			q := s.good(o)
			targets = append(targets, fuzzed{method: o.method, target: o.target(q)})
			sample, err := json.Marshal(q.body)
			require.NoError(f, err)
			f.Add(byte(len(targets)-1), sample)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, body []byte) {
		q := targets[int(which)%len(targets)]
		q.body = body
		s.answerTo(t, q)
	})
}

// FuzzTimestamp compares a time with package time: an accepted text is RFC 3339 in UTC.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{"2026-08-01T15:00:00Z", "2026-08-01T15:00:00.123456789+00:00",
		"2026-08-01T15:00:00+02:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "", "now"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, at string) {
		parsed, err := partnerapi.ParseTimestamp(at)
		if err != nil {
			return
		}
		want, err := time.Parse(time.RFC3339Nano, at)
		require.NoError(t, err)
		_, offset := want.Zone()
		require.Zero(t, offset)
		require.True(t, want.Equal(parsed.Time))
	})
}

// FuzzQuery sends a raw query to every list, cursors included.
func FuzzQuery(f *testing.F) {
	s := fuzzStage(f)
	var targets []string
	for _, o := range operations(f) {
		if !slices.ContainsFunc(o.query, func(p *openapi3.Parameter) bool { return p.Name == "limit" }) {
			continue
		}
		q := s.good(o)
		targets = append(targets, o.target(q))
		r := s.get(joinedTarget(targets[len(targets)-1], "limit=1"))
		cursor := "x"
		if next := r.parsed().Pagination.NextCursor; next != nil {
			cursor = *next
		}
		f.Add(byte(len(targets)-1), "limit=1&cursor="+cursor)
		for _, p := range o.query {
			f.Add(byte(len(targets)-1), p.Name+"=1&"+p.Name+"=%00")
		}
	}
	f.Fuzz(func(t *testing.T, which byte, query string) {
		target := joinedTarget(targets[int(which)%len(targets)], query)
		if _, err := url.Parse(target); err != nil || len(target) > 8_000 || strings.ContainsAny(query, "# \r\n") ||
			strings.Contains(query, "waitSeconds") {
			return
		}
		status, code := s.answerTo(t, fuzzed{method: http.MethodGet, target: target})
		require.Contains(t, []any{http.StatusOK, http.StatusBadRequest}, status, code)
	})
}

func joinedTarget(target, query string) string {
	if strings.Contains(target, "?") {
		return target + "&" + query
	}
	return target + "?" + query
}
