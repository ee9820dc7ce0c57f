package partnerapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
)

// contract checks requests and responses against openapi.yaml: status, headers, codes, every field. A field of a
// response that openapi.yaml lacks fails a test, although clients must ignore unknown fields. The judge of all values
// is jsonschema, which shares no code with kin-openapi, by which the service checks its requests: a mistake that the
// service and its own library make together does not pass.
type contract struct {
	*judge
	mu   sync.Mutex
	seen map[string]bool // "operationId status"
}

// judge holds the document as partners get it, but with closed responses.
type judge struct {
	doc      *openapi3.T
	library  sync.Mutex // guards schemas
	schemas  *jsonschema.Compiler
	patterns map[string]*regexp.Regexp // by path
}

const documentURL = "https://contract.test/openapi.json"

// theJudge is built once for a test binary.
var theJudge = sync.OnceValues(func() (*judge, error) {
	doc, err := partnerapi.LoadOpenAPIDocument()
	if err != nil {
		return nil, err
	}
	closeResponses(doc)
	text, err := partnerapi.OpenAPIJSON(doc, apiBase)
	if err != nil {
		return nil, err
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	j := &judge{doc: doc, schemas: jsonschema.NewCompiler(), patterns: map[string]*regexp.Regexp{}}
	j.schemas.AssertFormat()
	for path := range doc.Paths.Map() {
		j.patterns[path] = regexp.MustCompile("^" + pathParameter.ReplaceAllString(path, "(?P<$1>[^/]+)") + "$")
	}
	return j, j.schemas.AddResource(documentURL, whole)
})

// newContract returns a contract without any checked response.
func newContract(t testing.TB) *contract {
	t.Helper()
	j, err := theJudge()
	require.NoError(t, err)
	return &contract{judge: j, seen: map[string]bool{}}
}

// closeResponses closes every schema that the service writes.
func closeResponses(doc *openapi3.T) {
	done := map[*openapi3.Schema]bool{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				if media := response.Value.Content.Get("application/json"); media != nil {
					closeSchema(media.Schema.Value, done)
				}
			}
		}
	}
	for _, item := range doc.Webhooks {
		closeSchema(item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value, done)
	}
}

// closeSchema forbids fields that the schema does not name, times without milliseconds and Z, and URLs without a host.
func closeSchema(s *openapi3.Schema, done map[*openapi3.Schema]bool) {
	if done[s] {
		return
	}
	done[s] = true
	switch s.Format {
	case "date-time":
		s.Pattern = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`
	case "uri":
		s.Pattern = `^[a-z]+://[^/]+`
	}
	if len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Has == nil {
		s.AdditionalProperties.Has = new(bool)
	}
	inner := slices.Concat(s.OneOf, s.AnyOf, s.AllOf)
	if s.Items != nil {
		inner = append(inner, s.Items)
	}
	for _, p := range s.Properties {
		inner = append(inner, p)
	}
	for _, p := range inner {
		closeSchema(p.Value, done)
	}
}

// route is a documented operation and how a request names it.
type route struct {
	op       *openapi3.Operation
	params   openapi3.Parameters // those of the operation come first
	inPath   map[string]string
	location string // of the operation in the document
}

// route gives the documented operation of a request; nil for another path or method.
func (j *judge) route(req *http.Request) *route {
	var found *route
	for path, pattern := range j.patterns {
		item, match := j.doc.Paths.Value(path), pattern.FindStringSubmatch(req.URL.Path)
		op := item.GetOperation(req.Method)
		if match == nil || op == nil || found != nil && len(found.inPath) < len(match) {
			continue // a path of fewer parameters comes first
		}
		found = &route{op: op, params: slices.Concat(op.Parameters, item.Parameters), inPath: map[string]string{},
			location: at("", "/paths", path, strings.ToLower(req.Method))}
		for i, name := range pattern.SubexpNames() {
			found.inPath[name] = match[i]
		}
	}
	return found
}

// at gives the place of what is at path in the document, or the place that ref names.
func at(ref string, path ...string) string {
	if ref != "" {
		return strings.TrimPrefix(ref, "#")
	}
	place := path[0]
	for _, name := range path[1:] {
		place += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return place
}

// Check fails the test unless openapi.yaml documents the response for the request and, of a success, the request. sent
// is the body of the request.
func (c *contract) Check(t testing.TB, req *http.Request, sent []byte, status int, header http.Header, body []byte) {
	t.Helper()
	what := fmt.Sprintf("%s %s %s: %d %s", req.Method, req.URL, sent, status, body)
	r := c.route(req)
	if r == nil {
		require.Contains(t, []int{401, 404, 405, 413, 429}, status, what)
		c.checkBody(t, "/components/schemas/Error", body)
		c.checkError(t, status, header, body, nil, what)
		return
	}
	if status < http.StatusMultipleChoices && header.Get(replayed) == "" { // a replay repeats what was stored
		c.checkRequest(t, r, req, sent, what)
	}
	key := strconv.Itoa(status)
	if r.op.Responses.Value(key) == nil {
		key = "default"
	}
	response := r.op.Responses.Value(key)
	require.NotNil(t, response, what)
	place := at(response.Ref, r.location, "responses", key)
	for name, h := range response.Value.Headers {
		require.True(t, header.Get(name) != "" || !h.Value.Required, "no header %s: %s", name, what)
		if value := header.Get(name); value != "" {
			c.checkText(t, h.Value.Schema.Value, at(h.Ref, place, "headers", name)+"/schema", value)
		}
	}
	require.Equal(t, response.Value.Content == nil, len(body) == 0, what)
	if response.Value.Content != nil {
		require.Contains(t, response.Value.Content, header.Get("Content-Type"), what)
		c.checkBody(t, at("", place, "content", header.Get("Content-Type"), "schema"), body)
	}
	if status >= http.StatusBadRequest {
		c.checkError(t, status, header, body, documented(r.op, status), what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[fmt.Sprintf("%s %d", r.op.OperationID, status)] = true
}

// checkRequest fails the test unless the parameters and the body of a request are documented.
func (j *judge) checkRequest(t testing.TB, r *route, req *http.Request, sent []byte, what string) {
	t.Helper()
	require.NotEmpty(t, req.Header.Get("X-Api-Key")+req.Header.Get("Authorization"), what)
	for i, p := range r.params {
		values := map[string]string{"path": r.inPath[p.Value.Name], "query": req.URL.Query().Get(p.Value.Name),
			"header": req.Header.Get(p.Value.Name)}
		place := at(p.Ref, r.location, "parameters", strconv.Itoa(i))
		if value := values[p.Value.In]; value != "" || p.Value.Required {
			j.checkText(t, p.Value.Schema.Value, place+"/schema", value)
		}
	}
	for name, values := range req.URL.Query() {
		require.NotNil(t, r.params.GetByInAndName("query", name), what)
		require.NotContains(t, values, "", what)
	}
	if r.op.RequestBody == nil {
		require.Contains(t, []string{"", "{}"}, string(sent), what)
	}
	if body := r.op.RequestBody; body != nil && (len(sent) > 0 || body.Value.Required) {
		j.checkBody(t, at(body.Ref, r.location, "requestBody")+"/content/application~1json/schema", sent)
	}
}

// checkText fails the test unless the text of a parameter or header stands for a value of the schema.
func (j *judge) checkText(t testing.TB, schema *openapi3.Schema, place, text string) {
	t.Helper()
	var value any = text
	switch {
	case schema.Type.Includes("array"):
		var items []any
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
		value = items
	case schema.Type.Includes("integer"):
		value = json.Number(text)
	}
	j.check(t, place, value)
}

// checkBody fails the test unless body is a value of the schema at place.
func (j *judge) checkBody(t testing.TB, place string, body []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	require.NoError(t, err, "%s", body)
	j.check(t, place, value)
}

func (j *judge) check(t testing.TB, place string, value any) {
	t.Helper()
	j.library.Lock()
	defer j.library.Unlock()
	schema, err := j.schemas.Compile(documentURL + "#" + (&url.URL{Path: place}).EscapedPath())
	require.NoError(t, err, place)
	require.NoError(t, schema.Validate(value), "%v", value)
}

// documented lists the codes that an operation may answer with a status. The default response adds codes that every
// operation shares, whose status has an entry of its own for some operations.
func documented(op *openapi3.Operation, status int) (all []string) {
	for _, response := range []*openapi3.ResponseRef{op.Responses.Status(status), op.Responses.Default()} {
		if response != nil {
			all = append(all, codes(response.Value)...)
		}
	}
	return all
}

// codes lists the error codes in the examples of a response.
func codes(r *openapi3.Response) (all []string) {
	media := r.Content.Get("application/json")
	if media == nil {
		return nil
	}
	for _, example := range media.Examples {
		if code := codeOf(example.Value.Value); code != "" {
			all = append(all, code)
		}
	}
	return all
}

// checkError checks rules of an error response that a schema cannot express. documented is nil for an unknown route.
func (c *contract) checkError(t testing.TB, status int, header http.Header, body []byte, documented []string,
	what string) {
	t.Helper()
	require.Equal(t, "application/json", header.Get("Content-Type"), what)
	var e problem.ErrorEnvelope
	require.NoError(t, json.Unmarshal(body, &e), what)
	require.Equal(t, header.Get(problem.HeaderRequestID), e.Error.RequestID, what)
	require.Regexp(t, `^req_[0-7][0-9a-hjkmnp-tv-z]{25}$`, e.Error.RequestID, what)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		require.Regexp(t, `^[1-9][0-9]*$`, header.Get("Retry-After"), what)
	}
	if documented != nil {
		require.Contains(t, documented, e.Error.Code, what)
	}
}

// CheckWebhook fails the test unless openapi.yaml documents body for its event.
func (c *contract) CheckWebhook(t testing.TB, body []byte) {
	t.Helper()
	var parsed struct{ Event string }
	require.NoError(t, json.Unmarshal(body, &parsed), "%s", body)
	require.Contains(t, c.doc.Webhooks, parsed.Event)
	c.checkBody(t, at("", "/webhooks", parsed.Event)+"/post/requestBody/content/application~1json/schema", body)
}

// Unseen lists the documented successful responses, as "operationId status", that no Check has seen yet.
func (c *contract) Unseen() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range c.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status := range op.Responses.Map() {
				if key := op.OperationID + " " + status; strings.HasPrefix(status, "2") && !c.seen[key] {
					out = append(out, key)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// Transport checks every exchange with the partner API that it transports; base nil is http.DefaultTransport.
func (c *contract) Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{t: t, base: base, contract: c}
}

type transport struct {
	t        testing.TB
	base     http.RoundTripper
	contract *contract
}

func (tr transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := tr.base.RoundTrip(req)
	if err != nil || !strings.HasPrefix(req.URL.Path, partnerapi.PathPrefix) {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if req.Method != http.MethodHead {
		tr.contract.Check(tr.t, req, sent, res.StatusCode, res.Header, body)
	}
	return res, nil
}
