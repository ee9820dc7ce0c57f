package main

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"text/template"
)

//go:embed php.tmpl
var phpTemplate string

// php returns the PHP library's methods and types, each a class, since an array shape has no name.
func php(api *API) (map[string][]byte, error) {
	p := phpTypes{}
	for _, t := range api.Types {
		p[t.Name] = t
	}
	code, err := render("php", phpTemplate, template.FuncMap{
		"title": title, "methodDoc": p.methodDoc, "signature": signaturePHP, "answerType": p.answerType, "call": callPHP,
		"objects": p.objects, "reasons": func() []word { return reasons }, "hints": func() []word { return hints },
		"typeDoc": p.typeDoc, "typesOf": p.typesOf, "enumDoc": enumDocPHP, "constant": constantPHP,
	}, api)
	return map[string][]byte{"php/src/Api.gen.php": code}, err
}

type phpTypes map[string]Type

// param returns the PHP type of a value that the caller sends.
func (p phpTypes) param(f Field) string {
	text := p.paramRef(f.Ref)
	if f.Money {
		text = "string|int"
	}
	if f.Nullable {
		text += "|null"
	}
	return text
}

// phpScalars maps JSON Schema's scalar types to PHP's.
var phpScalars = map[string]string{"integer": "int", "number": "float", "boolean": "bool"}

func (p phpTypes) paramRef(r Ref) string {
	enum := r.Enum
	if scalar, ok := phpScalars[r.Kind]; ok {
		return scalar
	}
	switch r.Kind {
	case "time":
		return "string|\\DateTimeInterface"
	case "array":
		return "list<" + p.paramRef(*r.Items) + ">"
	case "map":
		return "array<string,\u00a0" + p.paramRef(*r.Items) + ">"
	case "any":
		return "mixed"
	case "ref":
		if p[r.Name].Fields != nil {
			return p.shape(p[r.Name].Fields)
		}
		enum = p[r.Name].Enum
	}
	if enum != nil {
		return "'" + strings.Join(enum, "'|'") + "'"
	}
	return "string"
}

// shape returns the array shape of parameters in PHP doc comments.
func (p phpTypes) shape(fields []Field) string {
	var parts []string
	for _, f := range fields {
		mark := "?"
		if f.Required {
			mark = ""
		}
		// A no-break space, later a plain one, keeps the line from being broken there.
		parts = append(parts, f.Name+mark+":\u00a0"+p.param(f))
	}
	return "array{" + strings.Join(parts, ", ") + "}"
}

// answer returns the PHP type of a response's value; an enumeration stays a text, since values may be added later.
func (p phpTypes) answer(r Ref) string {
	if scalar, ok := phpScalars[r.Kind]; ok {
		return scalar
	}
	switch r.Kind {
	case "array":
		return "list<" + p.answer(*r.Items) + ">"
	case "map":
		return "ApiObject"
	case "any":
		return "mixed"
	case "ref":
		if p[r.Name].Enum == nil {
			return r.Name
		}
	}
	return "string"
}

// answerType returns the PHP type of a method's result.
func (p phpTypes) answerType(m Method) string {
	switch {
	case m.Shape == ShapeNone:
		return "void"
	case m.Shape == ShapePage:
		return "Pages"
	case m.Answer.Kind == "array":
		return "array"
	}
	return "Type\\" + m.Answer.Name
}

func signaturePHP(m Method) string {
	var params []string
	for _, f := range m.PathParams {
		params = append(params, "string $"+f.Name)
	}
	switch {
	case m.BodyRequired:
		params = append(params, "array $params")
	case m.Body != nil || len(m.Query) > 0:
		params = append(params, "array $params = []")
	}
	return strings.Join(append(params, "array $options = []"), ", ")
}

func callPHP(m Method) string {
	var ids []string
	path := m.Path
	for _, f := range m.PathParams {
		path = strings.Replace(path, "{"+f.Name+"}", "%s", 1)
		ids = append(ids, "$"+f.Name)
	}
	params := "[]"
	if m.Body != nil || len(m.Query) > 0 {
		params = "$params"
	}
	if m.Shape == ShapePage {
		params = "array_merge($params, $cursor)"
	}
	args := []string{"'" + m.HTTP + "'", "'" + path + "'", "[" + strings.Join(ids, ", ") + "]", params, "$options"}
	if m.Shape != ShapeNone {
		args = append(args, "type:\u00a0"+classPHP(m), "shape:\u00a0'"+m.Shape+"'")
	}
	if m.Keyed {
		args = append(args, "keyed:\u00a0true")
	}
	if m.Body != nil {
		kinds := kindsPHP(m.Body)
		if !m.BodyRequired {
			kinds = "$params ? " + kinds + " : null"
		}
		args = append(args, strings.ReplaceAll("kinds: "+kinds, " ", "\u00a0"))
	}
	lines := wrapPHP("            ", strings.Join(args, ", "))
	statement := "$this->client->request(\n            " + strings.ReplaceAll(lines, "\u00a0", " ") + ",\n        );"
	switch m.Shape {
	case ShapeNone:
		return statement
	case ShapePage:
		return "return new Pages(fn (array $cursor) => " + strings.TrimSuffix(statement, ";") + ");"
	}
	return "return " + statement
}

// classPHP returns the PHP class of a response, of a list's items, or of a page.
func classPHP(m Method) string {
	switch {
	case m.Shape == ShapePage:
		return "Type\\" + m.Answer.Name + "Page::class"
	case m.Answer.Kind == "array":
		return "Type\\" + m.Answer.Items.Name + "::class"
	}
	return "Type\\" + m.Answer.Name + "::class"
}

func kindsPHP(body *Type) string {
	var kinds []string
	for _, f := range body.Fields {
		switch {
		case f.Money:
			kinds = append(kinds, "'"+f.Name+"' => 'money'")
		case f.Ref.Kind == "map":
			kinds = append(kinds, "'"+f.Name+"' => 'map'")
		}
	}
	return "[" + strings.Join(kinds, ", ") + "]"
}

func (p phpTypes) methodDoc(m Method) string {
	d := docPHP{indent: "    "}
	d.text(strings.TrimSuffix(m.Summary, ".") + ".")
	d.text(m.Doc)
	fields := m.Query
	if m.Body != nil {
		fields = m.Body.Fields
	}
	if len(fields) > 0 {
		d.list("Parameters:", fields)
	}
	d.line("")
	if len(fields) > 0 {
		d.tag("@param " + p.shape(fields) + " $params")
	}
	options := "timeout?: float"
	if m.Keyed {
		options = "idempotencyKey?: string, " + options
	}
	d.tag("@param array{" + options + "} $options")
	switch {
	case m.Shape == ShapePage:
		d.tag("@return Pages<Type\\" + m.Answer.Name + ">")
	case m.Answer != nil && m.Answer.Kind == "array":
		d.tag("@return list<Type\\" + m.Answer.Items.Name + ">")
	}
	d.tag("@throws ApiException " + strings.Join(m.Codes, ", "))
	d.tag("@throws ConnectionException")
	if m.Deprecated {
		d.tag("@deprecated")
	}
	return d.String()
}

// objects returns the PHP classes for responses: objects, pages, and one for each choice of objects.
func (p phpTypes) objects(api *API) []Type {
	answered := p.answered(api)
	var objects []Type
	for _, t := range api.Types {
		switch {
		case !answered[t.Name]:
		case t.OneOf != nil:
			fields := map[string]Field{}
			for _, name := range t.OneOf {
				for _, f := range p[name].Fields {
					f.Required = false
					fields[f.Name] = f
				}
			}
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				t.Fields = append(t.Fields, fields[name])
			}
			objects = append(objects, t)
		case t.Fields != nil:
			objects = append(objects, t)
		}
	}
	seen := map[string]bool{}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			if m.Shape == ShapePage && !seen[m.Answer.Name] {
				seen[m.Answer.Name] = true
				objects = append(objects, pagePHP(m.Answer))
			}
		}
	}
	return objects
}

// answered returns the names of the types in responses, also nested ones.
func (p phpTypes) answered(api *API) map[string]bool {
	found := map[string]bool{}
	var find func(r *Ref)
	find = func(r *Ref) {
		if r == nil || found[r.Name] {
			return
		}
		found[r.Name] = r.Name != ""
		find(r.Items)
		for _, name := range p[r.Name].OneOf {
			find(&Ref{Name: name})
		}
		for _, f := range p[r.Name].Fields {
			find(&f.Ref)
		}
	}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			find(m.Answer)
		}
	}
	return found
}

func pagePHP(item *Ref) Type {
	return Type{Name: item.Name + "Page", Doc: "A page of a list.", Fields: []Field{
		{Name: "data", Required: true, Ref: Ref{Kind: "array", Items: item}},
		{Name: "pagination", Required: true, Doc: "Has hasMore and nextCursor.", Ref: Ref{Kind: "map"}},
	}}
}

func (p phpTypes) typeDoc(t Type) string {
	d := docPHP{}
	d.text(t.Doc)
	if t.Doc != "" {
		d.line("")
	}
	for _, f := range t.Fields {
		kind := p.answer(f.Ref)
		if f.Money {
			kind = "string"
		}
		if !f.Required || f.Nullable {
			kind += "|null"
		}
		d.tag("@property " + kind + " $" + f.Name + " " + f.Doc)
	}
	return d.String()
}

// typesOf returns the PHP classes of fields that hold objects.
func (p phpTypes) typesOf(t Type) string {
	var types []string
	for _, f := range t.Fields {
		ref := f.Ref
		if ref.Kind == "array" {
			ref = *ref.Items
		}
		if ref.Kind == "ref" && p[ref.Name].Enum == nil {
			types = append(types, "'"+f.Name+"' => "+ref.Name+"::class")
		}
	}
	if len(types) == 0 {
		return ""
	}
	return "\n        " + strings.Join(types, ",\n        ") + ",\n    "
}

func enumDocPHP(t Type) string {
	d := docPHP{}
	d.text(t.Doc)
	return "/**\n" + d.String() + "\n */"
}

// constantPHP returns a text's PHP constant: rental_operator.linked becomes RENTAL_OPERATOR_LINKED.
func constantPHP(text string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(text))
}
