package main

import (
	_ "embed"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed go.tmpl
var goTemplate string

// goWriter generates the API's types in Go.
type goWriter struct {
	types    map[string]Type
	requests map[string]bool
	// The names of the PATCH requests, in which an empty value differs from an absent one.
	patches map[string]bool
}

// goField is a field of a Go struct; for a request, Given is the condition under which Value is sent.
type goField struct {
	Field
	Go, Type, Tag, Given, Value string
}

func generateGo(api *API) (map[string][]byte, error) {
	g := &goWriter{map[string]Type{}, map[string]bool{}, map[string]bool{}}
	for _, t := range api.Types {
		g.types[t.Name] = t
	}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			if m.Body != nil {
				g.note(m.Body.Name)
				g.patches[m.Body.Name] = m.HTTP == "PATCH"
			}
		}
	}
	text, err := render("go", goTemplate, template.FuncMap{
		"name": goName, "variable": goVariable, "comment": goComment, "about": about, "type": g.typeOf,
		"isRequest": func(t Type) bool { return g.requests[t.Name] }, "fields": g.fields,
		"body":  func(t Type) []goField { return g.params(t.Fields, g.patches[t.Name]) },
		"query": func(m Method) []goField { return g.params(m.Query, false) },
		"codes": codesOfAll, "options": g.options, "hasCents": hasCents,
		"words": func() []word { return slices.Concat(reasons, hints) }, "path": goPath, "lower": lowerFirst,
	}, api)
	if err != nil {
		return nil, err
	}
	formatted, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("the Go code: %w\n%s", err, text)
	}
	return map[string][]byte{"go/api.gen.go": formatted}, nil
}

func (g *goWriter) note(name string) {
	g.requests[name] = true
	for _, f := range g.types[name].Fields {
		for ref := &f.Ref; ref != nil; ref = ref.Items {
			if g.types[ref.Name].Fields != nil && !g.requests[ref.Name] {
				g.note(ref.Name)
			}
		}
	}
}

func (g *goWriter) typeOf(r Ref) string {
	switch r.Kind {
	case "array":
		return "[]" + g.typeOf(*r.Items)
	case "map":
		return "map[string]" + g.typeOf(*r.Items)
	case "ref":
		return goName(r.Name)
	}
	return map[string]string{
		"string": "string", "integer": "int64", "number": "json.Number", "boolean": "bool", "time": "time.Time",
	}[r.Kind] + map[bool]string{r.Kind == "any": "any"}[true]
}

// fields returns a response object's Go fields; only times and objects are pointers, nil when absent.
func (g *goWriter) fields(t Type) []goField {
	var fields []goField
	for _, f := range t.Fields {
		field := goField{Field: f, Go: goName(f.Name), Type: g.typeOf(f.Ref), Tag: f.Name}
		isObject := g.types[f.Ref.Name].Fields != nil
		switch {
		case f.Money && hasCents(t):
			field.Type = "Money"
		case (!f.Required || f.Nullable) && (f.Ref.Kind == "time" || isObject):
			field.Type = "*" + field.Type
		}
		if !f.Required {
			field.Tag += ",omitempty"
		}
		fields = append(fields, field)
	}
	return fields
}

// params returns a request's Go fields. A zero value is not sent; fields whose zero value has a meaning are
// pointers.
func (g *goWriter) params(fields []Field, patch bool) []goField {
	var params []goField
	for _, f := range fields {
		p := goField{Field: f, Go: goName(f.Name), Type: g.typeOf(f.Ref), Tag: f.Name + ",omitempty"}
		p.Value = "p." + p.Go
		isNumber := f.Ref.Kind == "integer" && f.Name != "limit"
		switch {
		case f.Money:
			p.Type, p.Given = "Money", p.Value+" != (Money{})"
		case f.Nullable:
			p.Type, p.Given = "Nullable["+p.Type+"]", p.Value+" != nil"
		case f.Ref.Kind == "array", f.Ref.Kind == "map", f.Ref.Kind == "any":
			p.Given = p.Value + " != nil"
		case !f.Required && (isNumber || patch):
			p.Type, p.Given, p.Value = "*"+p.Type, p.Value+" != nil", "*"+p.Value
		case f.Ref.Kind == "time":
			p.Given, p.Value = "!"+p.Value+".IsZero()", p.Value+".UTC().Format(time.RFC3339Nano)"
		case f.Ref.Kind == "boolean":
			p.Given = p.Value
		case f.Ref.Kind == "integer":
			p.Given = p.Value + " != 0"
		default:
			p.Given = p.Value + ` != ""`
		}
		if f.Required {
			p.Tag = f.Name
			if f.Money || f.Ref.Kind == "integer" || f.Ref.Kind == "boolean" {
				p.Given = "true"
			}
		}
		params = append(params, p)
	}
	return params
}

// option is a type of an event's data, recognised by its own required field.
type option struct{ Name, Type, Mark string }

func (g *goWriter) options(t Type) ([]option, error) {
	count := map[string]int{}
	for _, name := range t.OneOf {
		for _, f := range g.types[name].Fields {
			count[f.Name]++
		}
	}
	var options []option
	for _, name := range t.OneOf {
		fields := g.types[name].Fields
		at := slices.IndexFunc(fields, func(f Field) bool {
			return f.Required && f.Ref.Kind == "string" && count[f.Name] == 1
		})
		if at < 0 {
			return nil, fmt.Errorf("%s: nothing tells %s from the other types", t.Name, name)
		}
		short := strings.TrimSuffix(strings.TrimSuffix(name, t.Name), "Data")
		if short == "RentalOperatorLinked" {
			short = "Link"
		}
		options = append(options, option{short, goName(name), goName(fields[at].Name)})
	}
	return options, nil
}

func hasCents(t Type) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Name == name })
	}
	return has("amount") && has("amountCents")
}

func codesOfAll(api *API) []string {
	all := map[string]bool{}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			for _, code := range m.Codes {
				all[code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

var (
	wordOfName = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]+`)
	initialism = regexp.MustCompile(`^(Api|Id|Url|Sha256)(s?)$`)
)

// goName returns the exported Go name for a name in the API: depositUrl becomes DepositURL. Request bodies end with
// Params.
func goName(name string) string {
	out := ""
	for _, word := range wordOfName.FindAllString(name, -1) {
		word = title(word)
		if m := initialism.FindStringSubmatch(word); m != nil {
			word = strings.ToUpper(m[1]) + m[2]
		}
		out += word
	}
	if stem, found := strings.CutSuffix(out, "Request"); found {
		out = stem + "Params"
	}
	return out
}

// goVariable returns a parameter's Go name: webhookId becomes webhookID.
func goVariable(name string) string {
	return lowerFirst(goName(name))
}

func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// about returns a field's doc comment: description and possible values.
func about(f goField) string {
	text := f.Doc
	if f.Ref.Enum != nil {
		text += "\nOne of " + strings.Join(f.Ref.Enum, ", ") + "."
	}
	if text == "" {
		return ""
	}
	return goComment(text)
}

func goComment(text string) string {
	return "// " + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n// "), "// \n", "//\n")
}

// goPath returns the Go expression of a method's path.
func goPath(m Method) string {
	out := fmt.Sprintf("%q", m.Path)
	for _, p := range m.PathParams {
		out = strings.ReplaceAll(out, "{"+p.Name+"}", `" + escape(`+goVariable(p.Name)+`) + "`)
	}
	return strings.TrimSuffix(out, ` + ""`)
}
