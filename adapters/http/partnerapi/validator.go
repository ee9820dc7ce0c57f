package partnerapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/fault"
)

// Validator checks API requests against openapi.yaml: required fields, types, enums, lengths and formats. Use
// cases check the domain's rules (amounts, date ranges, URLs, cursors).
type Validator struct {
	// Each operation's checks, by method and path in fiber's notation: "GET /deposits/:depositId".
	operations map[string]*operation
}

// operation holds what an API request of an OpenAPI operation is checked against.
type operation struct {
	id           string
	pathParams   []string
	queryParams  []queryParam
	queryNames   []string
	body         *openapi3.Schema // Schema of the request body; nil for none.
	bodyRequired bool
}

// schemaOptions make the OpenAPI library check date-time with ParseTimestamp; use cases check other formats.
var schemaOptions = []openapi3.SchemaValidationOption{
	openapi3.VisitAsRequest(),
	openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
		"date-time": openapi3.NewCallbackValidator(func(s string) error {
			_, err := ParseTimestamp(s)
			return err
		}),
	}),
}

func NewValidator(doc *openapi3.T) (*Validator, error) {
	v := &Validator{operations: map[string]*operation{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			prepared, err := prepare(item, op)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			v.operations[method+" "+fiberPath(path)] = prepared
		}
	}
	return v, nil
}

func prepare(item *openapi3.PathItem, op *openapi3.Operation) (*operation, error) {
	out := &operation{id: op.OperationID}
	for _, ref := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
		switch p := ref.Value; p.In {
		case openapi3.ParameterInPath:
			out.pathParams = append(out.pathParams, p.Name)
		case openapi3.ParameterInQuery:
			out.queryParams = append(out.queryParams, newQueryParam(p))
			out.queryNames = append(out.queryNames, p.Name)
		}
	}
	slices.Sort(out.queryNames)
	if op.RequestBody == nil {
		return out, nil
	}
	media := op.RequestBody.Value.Content.Get(fiber.MIMEApplicationJSON)
	if media == nil || media.Schema == nil {
		return nil, errors.New("the request body has no JSON schema")
	}
	out.body, out.bodyRequired = media.Schema.Value, op.RequestBody.Value.Required
	return out, nil
}

// fiberPath converts an OpenAPI path to fiber's notation: {depositId} becomes :depositId.
func fiberPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// HandlerFor returns the handler that checks requests of the operation. For one that openapi.yaml lacks it panics
// at the start of the process: the route table and the contract disagree.
//
// The handler returns route_not_found, invalid_json, unknown_field, missing_field or invalid_field.
func (v *Validator) HandlerFor(method, path string) fiber.Handler {
	op, ok := v.operations[method+" "+path]
	if !ok {
		panic("partnerapi: " + method + " " + path + " is not in openapi.yaml")
	}
	return func(c *fiber.Ctx) error {
		if err := op.check(c); err != nil {
			return err
		}
		return c.Next()
	}
}

func (op *operation) check(c *fiber.Ctx) error {
	for _, name := range op.pathParams {
		if _, err := url.PathUnescape(c.Params(name)); err != nil {
			return fault.ErrRouteNotFound
		}
	}
	if err := op.checkQuery(string(c.Request().URI().QueryString())); err != nil {
		return err
	}
	body := jsonbody.ParsedObject(c)
	if op.body == nil {
		return unknownIn(noBody, body, nil)
	}
	if body == nil {
		switch {
		case len(c.Request().Body()) > 0:
			return fault.ErrInternal.WithCause(errors.New("partnerapi: jsonbody.Read has not run"))
		case op.bodyRequired:
			return fault.ErrInvalidJSON.WithMessage("The request body is missing. Send a JSON object.")
		}
		body = map[string]any{}
	}
	clampNumbers(body)
	if err := op.body.VisitJSON(body, schemaOptions...); err != nil {
		return op.explain(body)
	}
	// The handler uses these checked values and does not parse the body again.
	c.Locals(validatedBodyLocalsKey, body)
	return nil
}

// largest replaces a number too large for a float64, which kin-openapi cannot compare; every limit of the API is
// smaller.
const largest = json.Number("1e308")

// clampNumbers replaces, in place, a body's numbers that no float64 holds.
func clampNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = clampNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = clampNumbers(v[i])
		}
	case json.Number:
		if _, err := v.Float64(); err == nil {
			return value
		}
		if v[0] == '-' {
			return "-" + largest
		}
		return largest
	}
	return value
}

// explain returns the fault of a body that does not match its schema. It collects all errors, so that equal bodies
// get the same message: the first unknown field, otherwise the first missing one in the order of openapi.yaml,
// otherwise the first wrong one by name.
func (op *operation) explain(body map[string]any) error {
	if err := unknownIn(op.body, body, nil); err != nil {
		return err
	}
	err := op.body.VisitJSON(body, append([]openapi3.SchemaValidationOption{openapi3.MultiErrors()}, schemaOptions...)...)
	all := schemaErrors(err)
	for _, e := range all {
		if e.SchemaField == "required" {
			return fieldFault(e, body)
		}
	}
	if len(all) == 0 {
		return fault.ErrInvalidField.WithField("body", "is invalid").WithCause(err)
	}
	return fieldFault(all[0], body)
}

func schemaErrors(err error) []*openapi3.SchemaError {
	var many openapi3.MultiError
	if errors.As(err, &many) {
		var out []*openapi3.SchemaError
		for _, e := range many {
			out = append(out, schemaErrors(e)...)
		}
		return out
	}
	var single *openapi3.SchemaError
	if errors.As(err, &single) {
		return []*openapi3.SchemaError{single}
	}
	return nil
}

// queryParam is the check of a query parameter: a string, integer or comma-separated list.
type queryParam struct {
	name     string
	required bool
	schema   *openapi3.Schema
}

func newQueryParam(p *openapi3.Parameter) queryParam {
	return queryParam{name: p.Name, required: p.Required, schema: p.Schema.Value}
}

func (op *operation) checkQuery(raw string) error {
	var values url.Values
	if raw != "" {
		var err error
		if values, err = url.ParseQuery(raw); err != nil {
			return fault.ErrInvalidField.WithField("query", "is not a well-formed query string")
		}
		if err := op.unknownParam(values); err != nil {
			return err
		}
	}
	for i := range op.queryParams {
		if err := op.queryParams[i].check(values[op.queryParams[i].name]); err != nil {
			return err
		}
	}
	return nil
}

// unknownParam returns the fault of the alphabetically first unknown query parameter; nil for none.
func (op *operation) unknownParam(values url.Values) error {
	first, found := "", false
	for name := range values {
		if _, known := slices.BinarySearch(op.queryNames, name); !known && (!found || name < first) {
			first, found = name, true
		}
	}
	if !found {
		return nil
	}
	return unknownName(jsonbody.Path{first}, op.queryNames, "takes no query parameters")
}

func (p *queryParam) check(given []string) error {
	switch len(given) {
	case 0:
		if p.required {
			return fault.ErrMissingField.WithField(p.name, "is required")
		}
		return nil
	case 1:
	default:
		return fault.ErrInvalidField.WithField(p.name, "must be given once")
	}
	text := given[0]
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fault.ErrInvalidField.WithField(p.name, "must be UTF-8 text without the NUL character")
	}
	value, ok := p.decode(text)
	if !ok {
		return fault.ErrInvalidField.WithField(p.name, "%s", describeType(p.schema))
	}
	if err := p.schema.VisitJSON(value, schemaOptions...); err != nil {
		all := schemaErrors(err)
		if len(all) == 0 {
			return fault.ErrInvalidField.WithField(p.name, "is invalid").WithCause(err)
		}
		return fault.ErrInvalidField.WithField(p.name, "%s", reason(all[0]))
	}
	return nil
}

func (p *queryParam) decode(text string) (any, bool) {
	switch {
	case p.schema.Type.Includes(openapi3.TypeInteger):
		n, err := strconv.ParseInt(text, 10, 32)
		return float64(n), err == nil
	case p.schema.Type.Includes(openapi3.TypeArray):
		var items []any
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
		return items, true
	default:
		return text, true
	}
}
