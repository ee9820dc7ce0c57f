package partnerapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/core/fault"
)

// fieldFault converts a schema error into the caller's fault, such as `events[1]: must be one of …`.
func fieldFault(e *openapi3.SchemaError, body any) error {
	field := fieldPath(e.JSONPointer(), body)
	if e.SchemaField == "required" {
		return fault.ErrMissingField.WithField(field, "is required")
	}
	return fault.ErrInvalidField.WithField(field, "%s", reason(e))
}

// fieldPath returns the field name at a JSON pointer, such as events[1]. The body shows whether "1" is an index or
// a name.
func fieldPath(pointer []string, body any) string {
	if len(pointer) == 0 {
		return "body"
	}
	path := make(jsonbody.Path, 0, len(pointer))
	for _, segment := range pointer {
		switch v := body.(type) {
		case []any:
			path = append(path, "["+segment+"]")
			if i, err := strconv.Atoi(segment); err == nil && i < len(v) {
				body = v[i]
			}
		case map[string]any:
			path = append(path, segment)
			body = v[segment]
		}
	}
	return path.String()
}

// reason explains a schema error to the caller, without the refused value or words of kin-openapi.
func reason(e *openapi3.SchemaError) string {
	s := e.Schema
	switch e.SchemaField {
	case "type":
		return describeType(s)
	case "nullable":
		return describeType(s) + ", not null"
	case "enum":
		return oneOf(s.Enum)
	case "maxLength":
		return fmt.Sprintf("is longer than %d characters", *s.MaxLength)
	case "minLength":
		if s.MinLength == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("is shorter than %d characters", s.MinLength)
	case "minItems":
		if s.MinItems == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("has fewer than %d items", s.MinItems)
	case "maxItems":
		return fmt.Sprintf("has more than %d items", *s.MaxItems)
	case "maxProperties":
		return fmt.Sprintf("has more than %d keys", *s.MaxProps)
	case "minimum", "maximum":
		return describeType(s)
	case "format":
		if s.Format == "date-time" {
			return "must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"
		}
	}
	return "is invalid"
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	if len(words) == 1 {
		return "must be " + words[0]
	}
	return "must be one of " + strings.Join(words, ", ")
}

func describeType(s *openapi3.Schema) string {
	switch {
	case len(s.Enum) > 0:
		return oneOf(s.Enum)
	case s.Type.Includes(openapi3.TypeString):
		return "must be a string"
	case s.Type.Includes(openapi3.TypeNumber):
		return "must be a number" + describeRange(s)
	case s.Type.Includes(openapi3.TypeInteger):
		return "must be a whole number" + describeRange(s)
	case s.Type.Includes(openapi3.TypeBoolean):
		return "must be true or false"
	case s.Type.Includes(openapi3.TypeArray):
		return "must be a list"
	case s.Type.Includes(openapi3.TypeObject):
		return "must be an object"
	}
	return "is invalid"
}

func describeRange(s *openapi3.Schema) string {
	switch {
	case s.Min != nil && s.Max != nil:
		return fmt.Sprintf(" from %v to %v", *s.Min, *s.Max)
	case s.Min != nil:
		return fmt.Sprintf(" of at least %v", *s.Min)
	case s.Max != nil:
		return fmt.Sprintf(" of at most %v", *s.Max)
	}
	return ""
}
