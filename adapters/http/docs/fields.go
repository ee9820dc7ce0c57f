package docs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// field is a field or parameter in the API reference.
type field struct {
	Name     string
	Type     string
	Required bool
	Text     markdownText
	Facts    []string
	Values   []string // Closed list of values that an API field may have.
	Children []field
}

func fieldsOf(s *openapi3.Schema) []field {
	if s == nil {
		return nil
	}
	out := make([]field, 0, len(s.Properties))
	for _, name := range orderedProperties(s) {
		ref := s.Properties[name]
		f := describe(ref.Value)
		f.Name, f.Required = name, slices.Contains(s.Required, name)
		out = append(out, f)
	}
	return out
}

// orderedProperties returns a schema's property names in the order of openapi.yaml.
func orderedProperties(s *openapi3.Schema) []string {
	names := slices.Collect(maps.Keys(s.Properties))
	slices.SortFunc(names, func(a, b string) int {
		x, y := s.Properties[a], s.Properties[b]
		return byOrigin(originOf(x), originOf(y))
	})
	return names
}

// originOf returns the position in openapi.yaml that names a property; with a $ref, its schema is elsewhere.
func originOf(ref *openapi3.SchemaRef) *openapi3.Origin {
	if ref.Origin != nil {
		return ref.Origin
	}
	return ref.Value.Origin
}

func paramField(p *openapi3.Parameter) field {
	f := describe(p.Schema.Value)
	f.Name, f.Required, f.Text = p.Name, p.Required, markdownText(p.Description)
	return f
}

func describe(s *openapi3.Schema) field {
	f := field{Type: typeName(s), Text: markdownText(s.Description), Facts: facts(s), Values: enumOf(s)}
	switch {
	case s.Type.Includes(openapi3.TypeObject):
		f.Children = fieldsOf(s)
	case s.Type.Includes(openapi3.TypeArray):
		items := s.Items.Value
		f.Children = fieldsOf(items)
		if len(f.Values) == 0 {
			f.Values = enumOf(items)
		}
		if s.Description == "" {
			f.Text = markdownText(items.Description)
		}
	}
	return f
}

func enumOf(s *openapi3.Schema) []string {
	out := make([]string, 0, len(s.Enum))
	for _, v := range s.Enum {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func typeName(s *openapi3.Schema) string {
	name := "any"
	switch {
	case s.Type.Includes(openapi3.TypeArray):
		name = "list of " + typeName(s.Items.Value) + "s"
	case s.Type.Includes(openapi3.TypeObject) && s.AdditionalProperties.Schema != nil:
		name = "map of " + typeName(s.AdditionalProperties.Schema.Value) + "s"
	case s.Format == "date-time":
		name = "timestamp"
	case s.Format == "uri":
		name = "URL"
	case s.Type.Includes(openapi3.TypeInteger):
		name = "integer"
	case s.Type != nil && len(*s.Type) > 0:
		name = (*s.Type)[0]
	}
	if s.PermitsNull() {
		name += " or null"
	}
	return name
}

func facts(s *openapi3.Schema) []string {
	var out []string
	if s.Default != nil {
		out = append(out, fmt.Sprintf("default %v", s.Default))
	}
	switch {
	case s.Min != nil && s.Max != nil:
		out = append(out, fmt.Sprintf("%v to %v", *s.Min, *s.Max))
	case s.Min != nil:
		out = append(out, fmt.Sprintf("at least %v", *s.Min))
	case s.Max != nil:
		out = append(out, fmt.Sprintf("at most %v", *s.Max))
	}
	if s.MaxLength != nil {
		out = append(out, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.MinItems > 0 {
		out = append(out, "not empty")
	}
	if s.MaxProps != nil {
		out = append(out, fmt.Sprintf("at most %d keys", *s.MaxProps))
	}
	return out
}
