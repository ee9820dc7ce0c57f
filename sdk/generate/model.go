package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

const pathPrefix = "/api/partner/v1/"

// API is the partner API as the libraries offer it. Names are camelCase; each language's templates change the case.
type API struct {
	Version   string // of the libraries
	Resources []Resource
	Types     []Type
}

// Resource is a property of the client, such as deposits.
type Resource struct {
	Name    string
	Methods []Method
}

// Shapes of a successful answer.
const (
	ShapeNone  = "none"  // no body
	ShapeData  = "data"  // {"data": Answer}
	ShapePage  = "page"  // {"data": [Answer], "pagination": …}
	ShapeWhole = "whole" // Answer is the body itself
)

// Method is an operation of the document.
type Method struct {
	Name, OperationID, HTTP, Path, Summary, Doc string

	PathParams, Query []Field
	Body              *Type
	BodyRequired      bool
	Answer            *Ref // of a page: of an item
	Shape             string
	Keyed             bool     // takes an Idempotency-Key
	Codes             []string // of its errors, sorted
	Deprecated        bool
	Example           any // of the request body; nil without one
}

// Type is a schema: an object with fields, an enumeration of texts, or a choice of other types.
type Type struct {
	Name, Doc string
	Fields    []Field
	Enum      []string
	OneOf     []string
}

// Field is a field of an object, or a parameter. Its name is the wire's.
type Field struct {
	Name, Doc                 string
	Required, Nullable, Money bool
	Ref                       Ref
}

// Ref is the type of a value. Kind is string, integer, number, boolean, time, array, map, ref or any.
type Ref struct {
	Kind  string
	Name  string // of a ref
	Items *Ref   // of an array or a map
	Enum  []string
}

// reader collects the types that the operations name.
type reader struct {
	schemas map[string]*base.Schema
	order   []string
	types   map[string]*Type
}

// read gives the model of an OpenAPI 3.1 document.
func read(document []byte, version string) (*API, error) {
	doc, err := libopenapi.NewDocument(document)
	if err != nil {
		return nil, err
	}
	built, err := doc.BuildV3Model()
	if err != nil {
		return nil, err
	}
	r := &reader{schemas: map[string]*base.Schema{}, types: map[string]*Type{}}
	for name, proxy := range built.Model.Components.Schemas.FromOldest() {
		r.schemas[name] = proxy.Schema()
		r.order = append(r.order, name)
	}
	api := &API{Version: version}
	paths := slices.Collect(built.Model.Paths.PathItems.KeysFromOldest())
	for path, item := range built.Model.Paths.PathItems.FromOldest() {
		for verb, op := range item.GetOperations().FromOldest() {
			if err := r.operation(api, paths, path, verb, item, op); err != nil {
				return nil, fmt.Errorf("%s %s: %w", verb, path, err)
			}
		}
	}
	for _, name := range slices.Concat(r.order, slices.Sorted(maps.Keys(r.types))) {
		if t := r.types[name]; t != nil {
			api.Types = append(api.Types, *t)
			delete(r.types, name)
		}
	}
	return api, nil
}

func (r *reader) operation(api *API, paths []string, path, verb string, item *v3.PathItem, op *v3.Operation) error {
	m := Method{
		OperationID: op.OperationId, HTTP: strings.ToUpper(verb), Path: path, Summary: op.Summary,
		Doc: strings.TrimSpace(op.Description), Shape: ShapeNone, Codes: codesOf(op),
		Deprecated: op.Deprecated != nil && *op.Deprecated,
	}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		f := Field{Name: p.Name, Doc: strings.TrimSpace(p.Description), Required: p.Required != nil && *p.Required,
			Ref: r.ref(p.Schema, op.OperationId+title(p.Name))}
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
	resource, m.Name = nameOf(paths, path, m.HTTP, m.Shape)
	at := slices.IndexFunc(api.Resources, func(x Resource) bool { return x.Name == resource })
	if at < 0 {
		at = len(api.Resources)
		api.Resources = append(api.Resources, Resource{Name: resource})
	}
	api.Resources[at].Methods = append(api.Resources[at].Methods, m)
	return nil
}

func (r *reader) body(m *Method, op *v3.Operation) error {
	if op.RequestBody == nil {
		return nil
	}
	media := op.RequestBody.Content.GetOrZero("application/json")
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
	m.BodyRequired = op.RequestBody.Required != nil && *op.RequestBody.Required
	if media.Example != nil {
		return media.Example.Decode(&m.Example)
	}
	return nil
}

func (r *reader) answer(m *Method, op *v3.Operation) error {
	for status, response := range op.Responses.Codes.FromOldest() {
		if !strings.HasPrefix(status, "2") || response.Content == nil {
			continue
		}
		media := response.Content.GetOrZero("application/json")
		if media == nil {
			return fmt.Errorf("the answer %s has no application/json", status)
		}
		envelope := media.Schema.Schema()
		data := envelope.Properties.GetOrZero("data")
		switch {
		case data == nil || envelope.Properties.Len() > 1 && envelope.Properties.GetOrZero("pagination") == nil:
			ref := r.ref(media.Schema, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapeWhole, &ref
		case envelope.Properties.GetOrZero("pagination") != nil:
			ref := r.ref(data, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapePage, ref.Items
		default:
			ref := r.ref(data, title(m.OperationID)+"Answer")
			m.Shape, m.Answer = ShapeData, &ref
		}
	}
	return nil
}

// ref gives the type of a schema. An object or enumeration without a name of its own gets the name given.
func (r *reader) ref(proxy *base.SchemaProxy, name string) Ref {
	schema := proxy.Schema()
	if proxy.IsReference() {
		name = proxy.GetReference()[strings.LastIndexByte(proxy.GetReference(), '/')+1:]
	}
	var enum []string
	for _, node := range schema.Enum {
		enum = append(enum, node.Value)
	}
	switch {
	case schema.OneOf != nil, schema.Properties != nil, enum != nil && proxy.IsReference():
		r.declare(name, schema, enum)
		return Ref{Kind: "ref", Name: name}
	case slices.Contains(schema.Type, "array"):
		items := r.ref(schema.Items.A, name+"Item")
		return Ref{Kind: "array", Items: &items}
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.IsA():
		items := r.ref(schema.AdditionalProperties.A, name+"Value")
		return Ref{Kind: "map", Items: &items}
	case schema.Format == "date-time":
		return Ref{Kind: "time"}
	}
	for _, kind := range []string{"string", "integer", "number", "boolean"} {
		if slices.Contains(schema.Type, kind) {
			return Ref{Kind: kind, Enum: enum}
		}
	}
	return Ref{Kind: "any"}
}

func (r *reader) declare(name string, schema *base.Schema, enum []string) {
	if r.types[name] != nil {
		return
	}
	t := &Type{Name: name, Doc: strings.TrimSpace(schema.Description), Enum: enum}
	r.types[name] = t
	for _, one := range schema.OneOf {
		t.OneOf = append(t.OneOf, r.ref(one, name).Name)
	}
	for field, proxy := range schema.Properties.FromOldest() {
		value := proxy.Schema()
		t.Fields = append(t.Fields, Field{
			Name: field, Doc: strings.TrimSpace(value.Description), Required: slices.Contains(schema.Required, field),
			Nullable: slices.Contains(value.Type, "null"), Money: slices.Contains(value.Type, "number"),
			Ref: r.ref(proxy, name+title(field)),
		})
	}
}

// codesOf gives the error codes in the examples of an operation's responses.
func codesOf(op *v3.Operation) []string {
	codes := map[string]bool{}
	for _, response := range op.Responses.Codes.FromOldest() {
		if response.Content == nil {
			continue
		}
		for _, example := range response.Content.GetOrZero("application/json").Examples.FromOldest() {
			var envelope struct {
				Error struct{ Code string }
			}
			if example.Value != nil && example.Value.Decode(&envelope) == nil && envelope.Error.Code != "" {
				codes[envelope.Error.Code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(codes))
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
