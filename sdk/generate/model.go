package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const pathPrefix = "/api/partner/v1/"

// API is the model of the partner API with camelCase names.
type API struct {
	Version   string
	Resources []Resource
	Types     []Type
}

type Resource struct {
	Name    string
	Methods []Method
}

// The forms that the body of a successful response can have.
const (
	ShapeNone  = "none"  // The form of a response without a body.
	ShapeData  = "data"  // The form of a response body {"data": Answer}.
	ShapePage  = "page"  // The form of a response body {"data": [Answer], "pagination": …}.
	ShapeWhole = "whole" // The form of a response body that is the Answer itself.
)

type Method struct {
	Name, OperationID, HTTP, Path, Summary, Doc string

	PathParams, Query []Field
	Body              *Type
	BodyRequired      bool
	Answer            *Ref // The response's type; for a page, that of an item.
	Shape             string
	Keyed             bool     // Keyed reports whether the method takes an Idempotency-Key.
	Codes             []string // The sorted error codes of the method.
	Deprecated        bool
	Example           any // The example of the request body; nil without one.
}

// Type is a schema: an object, an enumeration of texts, or a choice of types.
type Type struct {
	Name, Doc string
	Fields    []Field
	Enum      []string
	OneOf     []string
}

// Field is a field or parameter by its JSON name.
type Field struct {
	Name, Doc                 string
	Required, Nullable, Money bool
	Ref                       Ref
	Example                   any // The example value of a parameter; nil without one.
}

// Ref is a value's type; Kind is string, integer, number, boolean, time, array, map, ref or any.
type Ref struct {
	Kind  string
	Name  string // The name of the type to which a value of the kind ref refers.
	Items *Ref   // The type of items of an array or map.
	Enum  []string
}

// reader collects the types that the API's operations use.
type reader struct {
	paths []string
	types map[string]*Type
}

// read returns the model of an OpenAPI 3.1 document.
func read(document []byte, version string) (*API, error) {
	loader := openapi3.NewLoader()
	// Line numbers show the document's order, which Go maps do not keep.
	loader.IncludeOrigin = true
	doc, err := loader.LoadFromData(document)
	if err != nil {
		return nil, err
	}
	type route struct {
		path, verb string
		item       *openapi3.PathItem
		op         *openapi3.Operation
	}
	var routes []route
	for path, item := range doc.Paths.Map() {
		for verb, op := range item.Operations() {
			routes = append(routes, route{path, verb, item, op})
		}
	}
	slices.SortFunc(routes, func(a, b route) int { return byOrigin(a.op.Origin, b.op.Origin) })
	r := &reader{paths: doc.Paths.Keys(), types: map[string]*Type{}}
	api := &API{Version: version}
	for _, each := range routes {
		if err := r.operation(api, each.path, each.verb, each.item, each.op); err != nil {
			return nil, fmt.Errorf("%s %s: %w", each.verb, each.path, err)
		}
	}
	for _, name := range slices.Concat(inOrder(doc.Components.Schemas), slices.Sorted(maps.Keys(r.types))) {
		if t := r.types[name]; t != nil {
			api.Types = append(api.Types, *t)
			delete(r.types, name)
		}
	}
	return api, nil
}

// inOrder returns the names of schemas in the document's order.
func inOrder(schemas openapi3.Schemas) []string {
	origin := func(name string) *openapi3.Origin { return cmp.Or(schemas[name].Origin, schemas[name].Value.Origin) }
	return slices.SortedFunc(maps.Keys(schemas), func(a, b string) int { return byOrigin(origin(a), origin(b)) })
}

func byOrigin(a, b *openapi3.Origin) int {
	return cmp.Or(cmp.Compare(a.Key.Line, b.Key.Line), cmp.Compare(a.Key.Column, b.Key.Column))
}

func (r *reader) operation(api *API, path, verb string, item *openapi3.PathItem, op *openapi3.Operation) error {
	m := Method{
		OperationID: op.OperationID, HTTP: verb, Path: path, Summary: op.Summary,
		Doc: strings.TrimSpace(op.Description), Shape: ShapeNone, Codes: codesOf(op), Deprecated: op.Deprecated,
	}
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		p := ref.Value
		f := Field{Name: p.Name, Doc: strings.TrimSpace(p.Description), Required: p.Required, Example: p.Example,
			Ref: r.ref(p.Schema, op.OperationID+title(p.Name))}
		switch {
		case p.In == "path":
			m.PathParams = append(m.PathParams, f)
		case p.In == "query":
			m.Query = append(m.Query, f)
		case p.Name == "Idempotency-Key":
			m.Keyed = true
		}
	}
	if err := r.body(&m, op); err != nil {
		return err
	}
	if err := r.answer(&m, op); err != nil {
		return err
	}
	var resource string
	resource, m.Name = nameOf(r.paths, path, m.HTTP, m.Shape)
	at := slices.IndexFunc(api.Resources, func(x Resource) bool { return x.Name == resource })
	if at < 0 {
		at = len(api.Resources)
		api.Resources = append(api.Resources, Resource{Name: resource})
	}
	api.Resources[at].Methods = append(api.Resources[at].Methods, m)
	return nil
}

func (r *reader) body(m *Method, op *openapi3.Operation) error {
	if op.RequestBody == nil {
		return nil
	}
	media := op.RequestBody.Value.Content["application/json"]
	if media == nil {
		return fmt.Errorf("the request has no application/json")
	}
	if len(m.Query) > 0 {
		return fmt.Errorf("a method has either a query or a body")
	}
	ref := r.ref(media.Schema, title(m.OperationID)+"Request")
	m.Body = r.types[ref.Name]
	if m.Body == nil || m.Body.Fields == nil {
		return fmt.Errorf("the request's body is not an object")
	}
	m.BodyRequired, m.Example = op.RequestBody.Value.Required, media.Example
	return nil
}

func (r *reader) answer(m *Method, op *openapi3.Operation) error {
	for _, status := range op.Responses.Keys() {
		content := op.Responses.Value(status).Value.Content
		if !strings.HasPrefix(status, "2") || content == nil {
			continue
		}
		media := content["application/json"]
		if media == nil {
			return fmt.Errorf("the answer %s has no application/json", status)
		}
		properties := media.Schema.Value.Properties
		data, page := properties["data"], properties["pagination"] != nil
		switch {
		case data == nil || len(properties) > 1 && !page:
			ref := r.ref(media.Schema, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapeWhole, &ref
		case page:
			ref := r.ref(data, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapePage, ref.Items
		default:
			ref := r.ref(data, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapeData, &ref
		}
	}
	return nil
}

// ref returns a schema's type; an object or enumeration without a name gets the given one.
func (r *reader) ref(named *openapi3.SchemaRef, name string) Ref {
	schema := named.Value
	if named.Ref != "" {
		name = named.Ref[strings.LastIndexByte(named.Ref, '/')+1:]
	}
	var enum []string
	for _, value := range schema.Enum {
		enum = append(enum, fmt.Sprint(value))
	}
	switch {
	case schema.OneOf != nil, schema.Properties != nil, enum != nil && named.Ref != "":
		r.declare(name, schema, enum)
		return Ref{Kind: "ref", Name: name}
	case schema.Type.Includes("array"):
		items := r.ref(schema.Items, name+"Item")
		return Ref{Kind: "array", Items: &items}
	case schema.AdditionalProperties.Schema != nil:
		items := r.ref(schema.AdditionalProperties.Schema, name+"Value")
		return Ref{Kind: "map", Items: &items}
	case schema.Format == "date-time":
		return Ref{Kind: "time"}
	}
	for _, kind := range []string{"string", "integer", "number", "boolean"} {
		if schema.Type.Includes(kind) {
			return Ref{Kind: kind, Enum: enum}
		}
	}
	return Ref{Kind: "any"}
}

func (r *reader) declare(name string, schema *openapi3.Schema, enum []string) {
	if r.types[name] != nil {
		return
	}
	t := &Type{Name: name, Doc: strings.TrimSpace(schema.Description), Enum: enum}
	r.types[name] = t
	for _, one := range schema.OneOf {
		t.OneOf = append(t.OneOf, r.ref(one, name).Name)
	}
	for _, field := range inOrder(schema.Properties) {
		value := schema.Properties[field].Value
		t.Fields = append(t.Fields, Field{
			Name: field, Doc: strings.TrimSpace(value.Description), Required: slices.Contains(schema.Required, field),
			Nullable: value.Type.Includes("null"), Money: value.Type.Includes("number"),
			Ref: r.ref(schema.Properties[field], name+title(field)),
		})
	}
}

// codesOf returns the error codes in the examples of an operation's responses.
func codesOf(op *openapi3.Operation) []string {
	var codes []string
	for status, response := range op.Responses.Map() {
		media := response.Value.Content["application/json"]
		if status == "default" || media == nil {
			continue
		}
		for _, example := range media.Examples {
			envelope, _ := example.Value.Value.(map[string]any)
			failure, _ := envelope["error"].(map[string]any)
			if code, ok := failure["code"].(string); ok {
				codes = append(codes, code)
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
