package partnerapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/paths"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
)

// contract checks requests and responses against openapi.yaml: status, headers, codes, every field. A field of a
// response that openapi.yaml lacks fails a test, although clients must ignore unknown fields. The judge is
// libopenapi-validator, which shares no code with kin-openapi, by which the service checks its requests: a mistake that
// the service and its own library make together does not pass.
type contract struct {
	*judge
	mu   sync.Mutex
	seen map[string]bool // "operationId status"
}

// judge holds the document as partners get it, but with closed responses.
type judge struct {
	validator.Validator
	library sync.Mutex // renders a schema on its first use, which two requests must not do at once
	schemas schema_validation.SchemaValidator
	model   *v3.Document
	doc     *openapi3.T
}

// theJudge is built once for a test binary.
var theJudge = sync.OnceValues(func() (*judge, error) {
	doc, err := partnerapi.LoadDocument()
	if err != nil {
		return nil, err
	}
	closeResponses(doc)
	text, err := partnerapi.DocumentJSON(doc, apiBase)
	if err != nil {
		return nil, err
	}
	j, err := judged(text)
	if err != nil {
		return nil, err
	}
	j.doc = doc
	return j, nil
})

// judged reads a valid document.
func judged(text []byte) (*judge, error) {
	read, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	model, err := read.BuildV3Model()
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(read, config.WithFormatAssertions())
	if len(errs) > 0 {
		return nil, errs[0]
	}
	if valid, errs := v.ValidateDocument(); !valid {
		return nil, fmt.Errorf("the document is no OpenAPI: %v", errs)
	}
	return &judge{Validator: v, model: &model.Model,
		schemas: schema_validation.NewSchemaValidator(config.WithFormatAssertions())}, nil
}

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

// operation gives the documented operation of a request; nil for another route or method.
func (j *judge) operation(req *http.Request) *openapi3.Operation {
	item, errs, path := paths.FindPath(req, j.model, nil)
	if item == nil || len(errs) > 0 {
		return nil
	}
	return j.doc.Paths.Value(path).GetOperation(req.Method)
}

// Check fails the test unless openapi.yaml documents the response for the request and, of a success, the request. sent
// is the body of the request.
func (c *contract) Check(t testing.TB, req *http.Request, sent []byte, status int, header http.Header, body []byte) {
	t.Helper()
	what := fmt.Sprintf("%s %s %s: %d %s", req.Method, req.URL, sent, status, body)
	op := c.operation(req)
	if op == nil {
		require.Contains(t, []int{401, 404, 405, 413, 429}, status, what)
		c.checkSchema(t, c.model.Components.Schemas.GetOrZero("Error").Schema(), body)
		c.checkError(t, status, header, body, nil, what)
		return
	}
	again := req.Clone(context.Background())
	again.Body = io.NopCloser(bytes.NewReader(sent))
	answer := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: again}
	c.library.Lock()
	defer c.library.Unlock()
	if status < http.StatusMultipleChoices {
		valid, errs := c.ValidateHttpRequestSync(again)
		require.True(t, valid, "%v: %s", errs, what)
	}
	valid, errs := c.ValidateHttpResponse(again, answer)
	require.True(t, valid, "%v: %s", errs, what)
	require.Equal(t, status == http.StatusNoContent, len(body) == 0, what)
	if status >= http.StatusBadRequest {
		c.checkError(t, status, header, body, documented(op, status), what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[fmt.Sprintf("%s %d", op.OperationID, status)] = true
}

// checkSchema fails the test unless body is a value of the schema.
func (j *judge) checkSchema(t testing.TB, schema *base.Schema, body []byte) {
	t.Helper()
	j.library.Lock()
	defer j.library.Unlock()
	valid, errs := j.schemas.ValidateSchemaBytes(schema, body)
	require.True(t, valid, "%v: %s", errs, body)
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

// CheckWebhook fails the test unless openapi.yaml documents body for its event.
func (c *contract) CheckWebhook(t testing.TB, body []byte) {
	t.Helper()
	var parsed struct{ Event string }
	require.NoError(t, json.Unmarshal(body, &parsed), "%s", body)
	item := c.model.Webhooks.GetOrZero(parsed.Event)
	require.NotNil(t, item, "no webhook is called %s", parsed.Event)
	c.checkSchema(t, item.Post.RequestBody.Content.GetOrZero("application/json").Schema.Schema(), body)
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
	if err != nil || !strings.HasPrefix(req.URL.Path, partnerapi.Prefix) {
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
