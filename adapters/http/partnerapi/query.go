package partnerapi

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"partnerdeposits/core/fault"
)

// queryParam is a query parameter that a request is held to. The document has strings, integers and comma lists.
type queryParam struct {
	name     string
	required bool
	schema   *openapi3.Schema
}

func newQueryParam(p *openapi3.Parameter) queryParam {
	return queryParam{name: p.Name, required: p.Required, schema: p.Schema.Value}
}

func (op *operation) checkQuery(raw string) error {
	if len(op.queryParams) == 0 {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return fault.ErrInvalidField.WithField("query", "is not a well-formed query string")
	}
	for i := range op.queryParams {
		if err := op.queryParams[i].check(values[op.queryParams[i].name]); err != nil {
			return err
		}
	}
	return nil
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
			return fault.ErrInvalidField.WithField(p.name, "is invalid").Because(err)
		}
		return fault.ErrInvalidField.WithField(p.name, "%s", reason(all[0]))
	}
	return nil
}

func (p *queryParam) decode(text string) (any, bool) {
	switch {
	case p.schema.Type.Is(openapi3.TypeInteger):
		n, err := strconv.ParseInt(text, 10, 32)
		return float64(n), err == nil
	case p.schema.Type.Is(openapi3.TypeArray):
		var items []any
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
		return items, true
	default:
		return text, true
	}
}
