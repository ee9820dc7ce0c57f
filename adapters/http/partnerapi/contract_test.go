package partnerapi_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/servicetest"
)

// rows are the cases of an operation that the document alone does not give. Tests derive all others from the document:
// keys, bodies, ids, filters, cursors, limits, outages.
type rows struct {
	// good prepares a request that succeeds, a new one every time.
	good func(s *stage) sent
	// refused prepares, by code, a request that is refused.
	refused map[string]func(s *stage) sent
}

// sent is a request of an operation.
type sent struct {
	ids   []string // of the path, in order
	query string
	body  object
	raw   string // sent in place of body
}

// operation is an operation of openapi.yaml.
type operation struct {
	*openapi3.Operation
	method string
	path   string   // behind the prefix
	ids    []string // names of the parameters of the path, in order
	query  []*openapi3.Parameter
	rows   rows
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// operations lists the operations of openapi.yaml with their rows. An operation without rows fails the test.
func operations(t testing.TB) (all []operation) {
	t.Helper()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	table := map[string]rows{}
	for _, some := range allRows {
		maps.Copy(table, some)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{Operation: op, method: method, path: strings.TrimPrefix(path, partnerapi.Prefix),
				rows: table[op.OperationID]}
			require.NotNil(t, o.rows.good, "%s has no rows: add some in contract_rows_test.go", op.OperationID)
			delete(table, op.OperationID)
			for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
				o.ids = append(o.ids, m[1])
			}
			for _, p := range append(item.Parameters, op.Parameters...) {
				if p.Value.In == openapi3.ParameterInQuery {
					o.query = append(o.query, p.Value)
				}
			}
			all = append(all, o)
		}
	}
	require.Empty(t, slices.Sorted(maps.Keys(table)), "rows of operations that openapi.yaml lacks")
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+" "+a.method, b.path+" "+b.method) })
	return all
}

// codes lists the error codes in the examples of the operation's responses.
func (o operation) codes() (all []string) {
	for _, response := range o.Responses.Map() {
		media := response.Value.Content.Get("application/json")
		if media == nil {
			continue
		}
		for _, example := range media.Examples {
			if value, ok := example.Value.Value.(object)["error"]; ok {
				all = append(all, value.(object)["code"].(string))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// schema is the schema of the request body; nil for an operation without.
func (o operation) schema() *openapi3.Schema {
	if o.RequestBody == nil {
		return nil
	}
	return o.RequestBody.Value.Content.Get("application/json").Schema.Value
}

func (o operation) keyed() bool {
	return o.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil
}

func (o operation) lists() bool {
	return slices.ContainsFunc(o.query, func(p *openapi3.Parameter) bool { return p.Name == "cursor" })
}

// target is the path of a request with its query.
func (o operation) target(q sent) string {
	path, n := o.path, 0
	path = pathParameter.ReplaceAllStringFunc(path, func(string) string { n++; return q.ids[n-1] })
	if q.query != "" {
		path += "?" + q.query
	}
	return path
}

// stage is a partner of its own for a case, with a linked account, beside another partner of the same world.
type stage struct {
	*caller
	account string
	other   *neighbour
}

// contractWorld is a world in which a test delivery does not wait for a dispatcher.
func contractWorld(t testing.TB) (*world, *neighbour) {
	t.Helper()
	w := newWorld(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Parts) {
			p.After = func(time.Duration) <-chan time.Time { return time.After(0) }
		}
	})
	return w, newNeighbour(t, w)
}

func (n *neighbour) stage(t testing.TB) *stage {
	t.Helper()
	w := n.world
	c := w.caller(t, "acme-"+newKey()[:8])
	c.http = &http.Client{Transport: w.contract.Transport(t, n.transport)} // a broken contract fails the test of the stage
	return &stage{caller: c, account: c.link("hotel-1"), other: n}
}

func (s *stage) send(o operation, q sent, header ...string) reply {
	s.t.Helper()
	var body any
	switch {
	case q.raw != "":
		body = q.raw
	case q.body != nil:
		body = q.body
	}
	return s.do(o.method, o.target(q), body, header...)
}

// walk checks the responses of an operation and keeps the codes that it has provoked.
type walk struct {
	operation
	t        *testing.T
	other    *neighbour
	attempts []attempt
	provoked map[string]bool
}

// attempt is a request that must be refused with a code.
type attempt struct {
	operation
	stage  *stage
	code   string
	sent   sent
	header []string
}

// refused plans an attempt. Attempts run together, so that few snapshots of the database tell that nothing has changed.
func (w *walk) refused(s *stage, code string, q sent, header ...string) {
	w.attempts = append(w.attempts, attempt{w.operation, s, code, q, header})
}

// attempted runs the planned attempts and checks that nothing has changed.
func (w *walk) attempted() {
	w.t.Helper()
	before := w.other.snapshot(w.t)
	for _, a := range w.attempts {
		r := a.stage.send(a.operation, a.sent, a.header...)
		require.Equal(w.t, a.code, r.parsed().Error.Code, "%s %s: %d %s", a.method, a.target(a.sent), r.status, r.body)
		r.headersFit(w.t, slices.Contains(a.header, "content-encoding"))
		require.Empty(w.t, r.header.Get(replayed))
		w.provoked[a.code] = true
	}
	require.Equal(w.t, before, w.other.snapshot(w.t), "a refused request has changed something")
	w.attempts = nil
}

var (
	limitHeader  = regexp.MustCompile(`^"(default|writes|explain|unknown_keys)";r=\d+;t=\d+$`)
	policyHeader = regexp.MustCompile(`^"(default|writes|explain|unknown_keys)";q=\d+;w=60$`)
)

// headersFit checks the headers that openapi.yaml cannot bind to a code. A refusal of the server, early, counts against
// no limit, as the refusals of a key and of a defect do.
func (r reply) headersFit(t testing.TB, early ...bool) {
	t.Helper()
	what := string(r.body)
	require.Regexp(t, `^req_[0-7][0-9a-hjkmnp-tv-z]{25}$`, r.header.Get("X-Request-Id"))
	require.Equal(t, "no-store", r.header.Get("Cache-Control"), what)
	require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"), what)
	code := ""
	if r.status == http.StatusNoContent {
		require.Empty(t, r.header.Get("Content-Type"))
	} else {
		require.Equal(t, "application/json", r.header.Get("Content-Type"), what)
		code = r.parsed().Error.Code
	}
	uncounted := []int{http.StatusUnauthorized, http.StatusInternalServerError, http.StatusServiceUnavailable,
		http.StatusRequestEntityTooLarge}
	if slices.Contains(uncounted, r.status) || slices.Contains(early, true) {
		require.Empty(t, r.header.Get("RateLimit"), what)
	} else {
		require.Regexp(t, limitHeader, r.header.Get("RateLimit"), what)
		require.Regexp(t, policyHeader, r.header.Get("RateLimit-Policy"), what)
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable ||
		code == "idempotency_key_in_use" {
		require.Regexp(t, `^[1-9]\d*$`, r.header.Get("Retry-After"), what)
	} else {
		require.Empty(t, r.header.Get("Retry-After"), what)
	}
	if r.status >= http.StatusBadRequest {
		require.Empty(t, r.header.Get("Link"), what)
	}
}

// The contract walk: every operation succeeds, and is refused with every code that openapi.yaml lists for it and with
// no other. Status, envelope, headers, schema and an unchanged database are checked every time.
func TestContract_EveryOperation_EveryCode(t *testing.T) {
	t.Parallel()
	world, other := contractWorld(t)
	all := operations(t)
	away := make([]func(), 0, len(all))
	for _, o := range all {
		t.Run(o.OperationID, func(t *testing.T) {
			w := &walk{operation: o, t: t, other: other, provoked: map[string]bool{}}
			w.succeed()
			w.idempotency()
			w.keys()
			w.bodies()
			w.ids()
			w.filters()
			w.limits()
			for code, prepare := range o.rows.refused {
				s := other.stage(t)
				w.refused(s, code, prepare(s))
			}
			w.attempted()
			w.defects()
			w.provoked["service_unavailable"] = true // below
			require.Equal(t, o.codes(), slices.Sorted(maps.Keys(w.provoked)), "documented codes, and provoked codes")
		})
		s := other.stage(t)
		q := o.rows.good(s)
		away = append(away, func() {
			t.Helper()
			r := s.send(o, q)
			r.refused(http.StatusServiceUnavailable, "service_unavailable")
			r.headersFit(t)
		})
	}
	world.Pool.Close()
	for _, check := range away {
		check()
	}
	require.Empty(t, world.contract.Unseen())
}
