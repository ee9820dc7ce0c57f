package partnerapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/fault"
)

// Validator holds requests to the document: which fields are required, their types, enums, lengths and formats.
// What takes a rule of the domain to tell (amounts, date ranges, URLs, cursors) is left to the use cases.
type Validator struct {
	operations map[string]*operation // by "METHOD /fiber/:path"
}

// operation is what of an operation a request is held to.
type operation struct {
	pathParams   []string
	queryParams  []queryParam
	body         *openapi3.Schema // nil: the operation takes none
	bodyRequired bool
}

// schemaOptions read date-time as ParseTimestamp does; other formats are the domain's.
var schemaOptions = []openapi3.SchemaValidationOption{
	openapi3.VisitAsRequest(),
	openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
		"date-time": openapi3.NewCallbackValidator(func(s string) error {
			_, err := ParseTimestamp(s)
			return err
		}),
	}),
}

// NewValidator prepares every operation of doc.
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
	out := &operation{}
	for _, ref := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
		switch p := ref.Value; p.In {
		case openapi3.ParameterInPath:
			out.pathParams = append(out.pathParams, p.Name)
		case openapi3.ParameterInQuery:
			out.queryParams = append(out.queryParams, newQueryParam(p))
		}
	}
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

// fiberPath turns {depositId} into :depositId.
func fiberPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Check gives the check of one operation, named by its method and fiber path. It panics for one that is not in the
// document: the generated code and the document have come apart.
//
// The check returns route_not_found, invalid_json, missing_field or invalid_field.
func (v *Validator) Check(method, path string) fiber.Handler {
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
			return fault.ErrRoute
		}
	}
	if err := op.checkQuery(string(c.Request().URI().QueryString())); err != nil {
		return err
	}
	if op.body == nil {
		return nil
	}
	body := jsonbody.Of(c)
	if body == nil {
		switch {
		case len(c.Request().Body()) > 0:
			return fault.ErrInternal.Because(errors.New("partnerapi: jsonbody.Read has not run"))
		case op.bodyRequired:
			return fault.ErrInvalidJSON.WithMessage("The request body is missing. Send a JSON object.")
		}
		body = map[string]any{}
	}
	clampNumbers(body)
	if err := op.body.VisitJSON(body, schemaOptions...); err != nil {
		return op.explain(body)
	}
	// The generated handler binds exactly these values, so what is used is what was checked.
	c.Locals(validatedBodyLocalsKey, body)
	return nil
}

// largest replaces a number beyond the range of a float64, which kin-openapi cannot compare. Every bound of the API is
// smaller, so the verdict stays the same.
const largest = json.Number("1e308")

// clampNumbers replaces, in place, the numbers in value that no float64 can hold.
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

// explain looks at all that is wrong with body, so that the answer is the same whichever comes first: what is missing,
// in the order of the document, then what is wrong, by name.
func (op *operation) explain(body map[string]any) error {
	err := op.body.VisitJSON(body, append([]openapi3.SchemaValidationOption{openapi3.MultiErrors()}, schemaOptions...)...)
	all := schemaErrors(err)
	for _, e := range all {
		if e.SchemaField == "required" {
			return fieldFault(e, body)
		}
	}
	if len(all) == 0 {
		return fault.ErrInvalidField.WithField("body", "is invalid").Because(err)
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
	var one *openapi3.SchemaError
	if errors.As(err, &one) {
		return []*openapi3.SchemaError{one}
	}
	return nil
}
