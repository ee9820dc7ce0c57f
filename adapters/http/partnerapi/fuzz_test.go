package partnerapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpguts"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/app/platform/idempotent"
)

// The targets send mutated input to the API over HTTP, with real stores: no panic, no 5xx, and an answer in the
// envelope.

// fuzzed is a request whose answer a target judges.
type fuzzed struct {
	method, target string
	body           []byte
	header         []string
}

// answerTo sends a request and checks the rules that hold for every answer.
func (s *stage) answerTo(t *testing.T, q fuzzed) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), q.method, s.url+partnerapi.Prefix+q.target,
		bytes.NewReader(q.body))
	require.NoError(t, err)
	req.Header.Set("x-api-key", s.key)
	if len(q.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(q.header); i += 2 {
		req.Header[textproto.CanonicalMIMEHeaderKey(q.header[i])] = []string{q.header[i+1]}
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
		if o.schema() != nil {
			q := o.rows.good(s)
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

// FuzzAmount compares the answer for an amount with rational arithmetic.
func FuzzAmount(f *testing.F) {
	s := fuzzStage(f)
	for _, seed := range []string{"70", "69.99", "2500.00", "2500.01", "7e1", "70.000000001", "1e400", "-1e-400", `"70"`,
		"null", "[]", "0.7E+2", "07", "1e99999999999"} {
		f.Add(seed)
	}
	minimum, maximum, hundred := big.NewRat(70, 1), big.NewRat(2500, 1), big.NewRat(100, 1)
	f.Fuzz(func(t *testing.T, amount string) {
		body := []byte(raw(s.account, "amount", amount))
		if !json.Valid(body) || !utf8.Valid(body) || strings.ContainsAny(amount, ",:{") { // FuzzBody has these
			return
		}
		_, code := s.answerTo(t, fuzzed{method: http.MethodPost, target: "/deposits", body: body})
		literal := strings.TrimSpace(amount)
		_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
		if len(exponent) > 4 || len(body) > 60_000 { // beyond rational arithmetic
			return
		}
		value, number := new(big.Rat).SetString(literal)
		want := ""
		switch {
		case !number || !strings.ContainsAny(literal[:1], "-0123456789"):
			want = "invalid_field"
		case !new(big.Rat).Mul(value, hundred).IsInt():
			want = "invalid_field"
		case value.Cmp(minimum) < 0:
			want = "amount_below_minimum"
		case value.Cmp(maximum) > 0:
			want = "amount_above_maximum"
		}
		require.Equal(t, want, code, amount)
	})
}

// FuzzTimestamp compares the filter by time with package time: an accepted text is RFC 3339 in UTC.
func FuzzTimestamp(f *testing.F) {
	s := fuzzStage(f)
	for _, seed := range []string{"2026-08-01T15:00:00Z", "2026-08-01T15:00:00.123456789+00:00",
		"2026-08-01T15:00:00+02:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "", "now"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, at string) {
		if len(at) > 2_000 {
			return
		}
		parsed, err := partnerapi.ParseTimestamp(at)
		status, code := s.answerTo(t, fuzzed{method: http.MethodGet, target: "/deposits?createdFrom=" + url.QueryEscape(at)})
		if err != nil {
			require.Equal(t, []any{http.StatusBadRequest, "invalid_field"}, []any{status, code})
			return
		}
		require.Equal(t, http.StatusOK, status)
		want, err := time.Parse(time.RFC3339Nano, at)
		require.NoError(t, err)
		_, offset := want.Zone()
		require.Zero(t, offset)
		require.True(t, want.Equal(parsed.Time))
	})
}

// FuzzIdempotencyKey sends a key with a request that is refused after the key.
func FuzzIdempotencyKey(f *testing.F) {
	s := fuzzStage(f)
	for _, seed := range []string{"3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84", `"3F1C9A52-7C3E-4B0E-9A55-0D7F2B6A1E84"`, "",
		" ", "3f1c9a52-7c3e-1b0e-9a55-0d7f2b6a1e84", "é", strings.Repeat("a", 5000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if !httpguts.ValidHeaderFieldValue(key) || len(key) > 10_000 {
			return // the framing of requests has tests of its own
		}
		status, code := s.answerTo(t, fuzzed{method: http.MethodPost, target: "/deposits/dep" + unknownID + "/cancel",
			header: []string{"Idempotency-Key", key}})
		want := []any{http.StatusNotFound, "deposit_not_found"}
		if _, err := idempotent.ParseKey(strings.Trim(key, " \t")); err != nil {
			want = []any{http.StatusBadRequest, "invalid_idempotency_key"}
		}
		require.Equal(t, want, []any{status, code})
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
		q := o.rows.good(s)
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
