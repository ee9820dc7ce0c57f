package partnerapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
)

const prefix = "/api/partner/v1"

// contract checks responses and webhook bodies against openapi.yaml: status, headers, codes, every field. A field that
// openapi.yaml lacks fails a test, although clients must ignore unknown fields. Two implementations of OpenAPI check:
// kin-openapi with closed schemas, and libopenapi-validator with the document as partners get it.
type contract struct {
	doc     *openapi3.T
	second  *reader
	router  routers.Router
	options *openapi3filter.Options

	mu   sync.Mutex
	seen map[string]bool // "operationId status"
}

// strict is the closed openapi.yaml with its router, built once for a test binary.
var strict = sync.OnceValues(func() (*contract, error) {
	doc, err := partnerapi.LoadDocument()
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // accepts any host
	// For a 3.1 document, kin-openapi would compile the JSON schema of each response anew. The second reader checks 3.1.
	doc.OpenAPI = "3.0.3"
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	for _, s := range doc.Components.Schemas {
		closeSchema(s.Value, map[*openapi3.Schema]bool{})
	}
	return &contract{doc: doc, router: router, options: &openapi3filter.Options{
		IncludeResponseStatus:   true,
		MultiError:              true,
		SchemaValidationOptions: outgoing(),
	}}, nil
})

// newContract returns a contract without any checked response.
func newContract(t testing.TB) *contract {
	t.Helper()
	c, err := strict()
	require.NoError(t, err)
	independent, err := second()
	require.NoError(t, err)
	return &contract{doc: c.doc, second: independent, router: c.router, options: c.options, seen: map[string]bool{}}
}

// outgoing checks the formats of responses: times with milliseconds and Z, absolute URLs.
func outgoing() []openapi3.SchemaValidationOption {
	return []openapi3.SchemaValidationOption{openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
		"date-time": openapi3.NewCallbackValidator(func(s string) error {
			_, err := time.Parse("2006-01-02T15:04:05.000Z", s)
			return err
		}),
		"uri": openapi3.NewCallbackValidator(func(s string) error {
			if u, err := url.Parse(s); err != nil || !u.IsAbs() || u.Host == "" {
				return fmt.Errorf("%q is not an absolute URL", s)
			}
			return nil
		}),
	})}
}

// closeSchema forbids fields that the schema does not name.
func closeSchema(s *openapi3.Schema, seen map[*openapi3.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Has == nil {
		no := false
		s.AdditionalProperties.Has = &no
	}
	for _, p := range s.Properties {
		closeSchema(p.Value, seen)
	}
	if s.Items != nil {
		closeSchema(s.Items.Value, seen)
	}
}

// Check fails the test unless openapi.yaml documents the response for the request. target is the path of the request
// with its query. The body of the request is not checked.
func (c *contract) Check(t testing.TB, method, target string, status int, header http.Header, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, target, http.NoBody)
	require.NoError(t, err)
	what := fmt.Sprintf("%s %s: %d %s", method, req.URL.Path, status, body)

	route, params, err := c.router.FindRoute(req)
	if err != nil { // openapi.yaml documents no such route or method
		require.Contains(t, []int{401, 404, 405, 413, 429}, status, what)
		c.checkError(t, status, header, body, nil, what)
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 status,
		Header:                 header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                c.options,
	})
	require.NoError(t, err, what)
	if status >= http.StatusBadRequest {
		c.checkError(t, status, header, body, documented(route.Operation, status), what)
	}
	if status == http.StatusNoContent {
		require.Empty(t, body, what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[fmt.Sprintf("%s %d", route.Operation.OperationID, status)] = true
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

// checkError checks rules of an error response that a schema cannot express. documented is nil for an unknown route.
func (c *contract) checkError(t testing.TB, status int, header http.Header, body []byte, documented []string,
	what string) {
	t.Helper()
	require.Equal(t, "application/json", header.Get("Content-Type"), what)
	var parsed any
	require.NoError(t, json.Unmarshal(body, &parsed), what)
	if documented == nil { // otherwise the schema of the response has been compared
		require.NoError(t, c.doc.Components.Schemas["Error"].Value.VisitJSON(parsed), what)
	}
	var e problem.Envelope
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

// codes lists the error codes in the examples of a response.
func codes(r *openapi3.Response) []string {
	var out []string
	for _, example := range r.Content.Get("application/json").Examples {
		value, _ := example.Value.Value.(map[string]any)
		detail, _ := value["error"].(map[string]any)
		code, _ := detail["code"].(string)
		out = append(out, code)
	}
	return out
}

// CheckWebhook fails the test unless openapi.yaml documents body for its event.
func (c *contract) CheckWebhook(t testing.TB, body []byte) {
	t.Helper()
	var parsed map[string]any
	require.NoError(t, json.Unmarshal(body, &parsed), "%s", body)
	name := "DepositEventPayload"
	if parsed["event"] == string(partnerapi.EventRentalOperatorLinked) {
		name = "RentalOperatorLinkedPayload"
	}
	require.NoError(t, c.doc.Components.Schemas[name].Value.VisitJSON(parsed, outgoing()...), "%s", body)
	event, _ := parsed["event"].(string)
	c.second.checkWebhook(t, event, body)
}

// Unseen lists the documented successful responses, as "operationId status", that no Check has seen yet.
func (c *contract) Unseen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
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

// Codes lists every error code of openapi.yaml.
func (c *contract) Codes() []string {
	all := map[string]bool{}
	for _, v := range c.doc.Components.Schemas["ErrorCode"].Value.Enum {
		code, _ := v.(string)
		all[code] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// Transport checks every exchange with the partner API that it transports: the response, and the request of a success;
// base nil is http.DefaultTransport.
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
	sent, err := keepBody(req)
	if err != nil {
		return nil, err
	}
	res, err := tr.base.RoundTrip(req)
	if err != nil || !strings.HasPrefix(req.URL.Path, prefix) {
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
		tr.contract.Check(tr.t, req.Method, req.URL.String(), res.StatusCode, res.Header, body)
		if tr.contract.documents(req) {
			tr.contract.second.checkExchange(tr.t, req, sent, res.StatusCode, res.Header, body)
		}
	}
	return res, nil
}

// keepBody reads the body of a request and puts a copy in its place.
func keepBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(sent))
	return sent, nil
}

// documents reports whether openapi.yaml has the route of a request.
func (c *contract) documents(req *http.Request) bool {
	_, _, err := c.router.FindRoute(req)
	return err == nil
}
