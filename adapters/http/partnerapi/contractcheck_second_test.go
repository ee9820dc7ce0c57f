package partnerapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	validation "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

// reader is an implementation of OpenAPI that shares no code with kin-openapi, which the service itself uses: a mistake
// that the service and its own library make together does not pass. The reader reads the document as partners do, as
// /openapi.json serves the document.
type reader struct {
	mu sync.Mutex // the library renders a schema on its first use, which two requests must not do at once
	validator.Validator
	model  *v3.Document
	schema schema_validation.SchemaValidator
}

// second is the reader of the served document, built once for a test binary.
var second = sync.OnceValues(func() (*reader, error) {
	doc, err := partnerapi.Document()
	if err != nil {
		return nil, err
	}
	served, err := partnerapi.DocumentJSON(doc, "https://api.test")
	if err != nil {
		return nil, err
	}
	return newReader(served)
})

func newReader(served []byte) (*reader, error) {
	document, err := libopenapi.NewDocument(served)
	if err != nil {
		return nil, err
	}
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(document, config.WithFormatAssertions())
	if len(errs) > 0 {
		return nil, errs[0]
	}
	if valid, errs := v.ValidateDocument(); !valid {
		return nil, fmt.Errorf("the document is no OpenAPI: %w", firstOf(errs))
	}
	return &reader{Validator: v, model: &model.Model,
		schema: schema_validation.NewSchemaValidator(config.WithFormatAssertions())}, nil
}

func firstOf(errs []*validation.ValidationError) error {
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

// checkExchange fails the test unless the reader accepts the response and, where the response is a success, the
// request. sent is the body of the request.
func (r *reader) checkExchange(t testing.TB, req *http.Request, sent []byte, status int, header http.Header,
	body []byte) {
	t.Helper()
	what := fmt.Sprintf("%s %s %s: %d %s", req.Method, req.URL, sent, status, body)
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(bytes.NewReader(sent))
	r.mu.Lock()
	defer r.mu.Unlock()
	if status < http.StatusMultipleChoices {
		valid, errs := r.ValidateHttpRequestSync(again)
		require.True(t, valid, "%v: %s", firstOf(errs), what)
	}
	answer := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: again}
	valid, errs := r.ValidateHttpResponse(again, answer)
	require.True(t, valid, "%v: %s", firstOf(errs), what)
}

// checkWebhook fails the test unless the reader accepts the body of a delivery of the event.
func (r *reader) checkWebhook(t testing.TB, event string, body []byte) {
	t.Helper()
	item := r.model.Webhooks.GetOrZero(event)
	require.NotNil(t, item, "no webhook is called %s", event)
	r.mu.Lock()
	defer r.mu.Unlock()
	schema := item.Post.RequestBody.Content.GetOrZero("application/json").Schema.Schema()
	valid, errs := r.schema.ValidateSchemaBytes(schema, body)
	require.True(t, valid, "%v: %s", firstOf(errs), body)
}
