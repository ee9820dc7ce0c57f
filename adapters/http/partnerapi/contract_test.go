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

// rows are the cases of an operation that the document alone does not give. The walk derives all others from the
// document: keys, bodies, ids, filters, cursors, limits, outages.
type rows struct {
	// good prepares a request that succeeds, a new one every time. Its body is the example of the document.
	good func(s *stage) sent
	// refused prepares, by code, a request that is refused.
	refused map[string]func(s *stage) sent
}

// sent is a request of an operation.
type sent struct {
	ids   []string // of the path, in order
	query string
	body  object // nil: the example of the document
	raw   string // sent in place of body
	bare  bool   // without a body
}

// with gives the request with another body.
func (q sent) with(body object) sent { q.body = body; return q }

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
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	table := map[string]rows{}
	for _, some := range allRows {
		maps.Copy(table, some)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{Operation: op, method: method, path: strings.TrimPrefix(path, partnerapi.PathPrefix),
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

// documentedCodes lists the error codes in the examples of the operation's responses.
func (o operation) documentedCodes() (all []string) {
	for _, response := range o.Responses.Map() {
		all = append(all, codes(response.Value)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// body is the request body; nil for an operation without.
func (o operation) body() *openapi3.MediaType {
	if o.RequestBody == nil {
		return nil
	}
	return o.RequestBody.Value.Content.Get("application/json")
}

// example is the body of the document's example, for the account of the stage; nil for an operation without a body.
func (o operation) example(s *stage) object {
	if o.body() == nil {
		return nil
	}
	example, _ := o.body().Example.(object)
	require.NotNil(s.t, example, "%s has no example", o.OperationID)
	example = maps.Clone(example)
	if _, has := example["accountId"]; has {
		example["accountId"] = s.account
	}
	return example
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
		s.Parts = func(p *servicetest.Deps) {
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

// good is a request of the operation that succeeds.
func (s *stage) good(o operation) sent {
	s.t.Helper()
	q := o.rows.good(s)
	if q.body == nil {
		q.body = o.example(s)
	}
	return q
}

func (s *stage) send(o operation, q sent, header ...string) reply {
	s.t.Helper()
	if q.body == nil && q.raw == "" && !q.bare {
		q.body = o.example(s)
	}
	var body any
	switch {
	case q.raw != "":
		body = q.raw
	case q.body != nil && !q.bare:
		body = q.body
	}
	return s.do(o.method, o.target(q), body, header...)
}

var (
	limitHeader  = regexp.MustCompile(`^"(default|writes|explain|tests|redeliveries|unknown_keys)";r=\d+;t=\d+$`)
	policyHeader = regexp.MustCompile(`^"(default|writes|explain|tests|redeliveries|unknown_keys)";q=\d+;w=60$`)
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

// The contract walk: every operation succeeds, with the example of the document, and is refused with every code that
// openapi.yaml lists for it and with no other, and for every id of another partner. Each answer has its status,
// envelope, headers and schema, and no datum of the other partner. No refusal changes the database.
func TestContract_EveryOperation_EveryCode(t *testing.T) {
	t.Parallel()
	world, other := contractWorld(t)
	var walks []*walk
	for _, o := range operations(t) {
		t.Run(o.OperationID, func(t *testing.T) {
			s := other.stage(t)
			w := &walk{operation: o, t: t, stage: s, good: s.good(o), provoked: map[string]bool{}}
			walks = append(walks, w)
			w.unchanged(func() {
				w.keys()
				w.bodies()
				w.ids()
				w.filters()
				w.defect()
			})
			w.rowsOfItsOwn()
			w.succeed()
			w.limit()
			w.provoked["service_unavailable"] = true // below
			require.Equal(t, o.documentedCodes(), slices.Sorted(maps.Keys(w.provoked)), "documented codes, and provoked codes")
		})
	}
	world.Pool.Close()
	for _, w := range walks {
		r := (&stage{caller: other.caller}).send(w.operation, w.good)
		r.refused(http.StatusServiceUnavailable, "service_unavailable")
		r.headersFit(t)
	}
	require.Empty(t, world.contract.Unseen())
}
