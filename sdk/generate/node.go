package main

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed node.js.tmpl
var nodeCode string

//go:embed node.d.ts.tmpl
var nodeTypes string

func node(api *API) (map[string][]byte, error) {
	asked := nodeAsked(api)
	functions := template.FuncMap{
		"title": title, "quote": strconv.Quote, "path": nodePath, "args": nodeArgs, "route": nodeRoute, "params": nodeParams,
		"doc":       nodeDoc,
		"methodDoc": nodeMethodDoc,
		"reasons":   func() []word { return reasons },
		"hints":     func() []word { return hints },
		"type":      func(owner string, f Field) string { return nodeType(f, asked[owner]) },
		"answer": func(m Method) string {
			if m.Answer == nil {
				return "void"
			}
			return nodeType(Field{Ref: *m.Answer}, false)
		},
		"query": func(m Method) Type { return Type{Name: nodeQueryName(m), Fields: m.Query} },
	}
	code, err := render("node.js", nodeCode, functions, api)
	if err != nil {
		return nil, err
	}
	types, err := render("node.d.ts", nodeTypes, functions, api)
	return map[string][]byte{"node/src/api.gen.js": code, "node/src/api.gen.d.ts": types}, err
}

// nodeAsked returns the types in requests, which accept a Date and amounts in every exact form.
func nodeAsked(api *API) map[string]bool {
	types, asked := map[string]Type{}, map[string]bool{}
	for _, t := range api.Types {
		types[t.Name] = t
	}
	var mark func(ref *Ref)
	mark = func(ref *Ref) {
		if ref == nil || asked[ref.Name] {
			return
		}
		if ref.Name != "" {
			asked[ref.Name] = true
		}
		mark(ref.Items)
		for _, f := range types[ref.Name].Fields {
			mark(&f.Ref)
		}
	}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			asked[nodeQueryName(m)] = true
			if m.Body != nil {
				mark(&Ref{Name: m.Body.Name})
			}
		}
	}
	return asked
}

func nodeQueryName(m Method) string { return title(m.OperationID) + "Query" }

// nodePath returns a method's path as a JavaScript text with ids.
func nodePath(m Method) string {
	if len(m.PathParams) == 0 {
		return "'" + m.Path + "'"
	}
	path := m.Path
	for _, p := range m.PathParams {
		path = strings.ReplaceAll(path, "{"+p.Name+"}", "${id('"+p.Name+"', "+p.Name+")}")
	}
	return "`" + path + "`"
}

func nodeArgs(m Method) string {
	var args []string
	for _, p := range m.PathParams {
		args = append(args, p.Name)
	}
	switch {
	case m.Body != nil:
		args = append(args, "body")
	case len(m.Query) > 0:
		args = append(args, "query")
	}
	return strings.Join(append(args, "options"), ", ")
}

// nodeRoute returns what the Node client needs for a method besides its path.
func nodeRoute(m Method) string {
	var parts, money []string
	switch {
	case m.Body != nil:
		parts = append(parts, "body")
		for _, f := range m.Body.Fields {
			if f.Money {
				money = append(money, "'"+f.Name+"'")
			}
		}
	case len(m.Query) > 0:
		parts = append(parts, "query")
	}
	if money != nil {
		parts = append(parts, "money: ["+strings.Join(money, ", ")+"]")
	}
	if m.Keyed {
		parts = append(parts, "keyed: true")
	}
	return strings.Join(append(parts, "shape: '"+m.Shape+"'"), ", ")
}

// nodeParams returns a method's parameters in TypeScript.
func nodeParams(m Method) string {
	var params []string
	for _, p := range m.PathParams {
		params = append(params, p.Name+": string")
	}
	switch {
	case m.Body != nil && m.BodyRequired:
		params = append(params, "params: "+m.Body.Name)
	case m.Body != nil:
		params = append(params, "params?: "+m.Body.Name)
	case slices.ContainsFunc(m.Query, func(f Field) bool { return f.Required }):
		params = append(params, "params: "+nodeQueryName(m))
	case len(m.Query) > 0:
		params = append(params, "params?: "+nodeQueryName(m))
	}
	options := "options?: CallOptions"
	if m.Keyed {
		options = "options?: KeyedOptions"
	}
	return strings.Join(append(params, options), ", ")
}

func nodeType(f Field, asked bool) string {
	name := nodeRef(f.Ref, asked)
	switch {
	case f.Money && asked:
		name = "Euros"
	case f.Money:
		name = "string"
	}
	if f.Nullable {
		name += " | null"
	}
	return name
}

// nodeRef returns a type in TypeScript; an enumeration in a response allows texts that may be added later.
func nodeRef(ref Ref, asked bool) string {
	switch {
	case ref.Kind == "ref":
		return ref.Name
	case ref.Kind == "array":
		return "Array<" + nodeRef(*ref.Items, asked) + ">"
	case ref.Kind == "map":
		return "{ [name: string]: " + nodeRef(*ref.Items, asked) + " }"
	case len(ref.Enum) > 0 && asked:
		return "'" + strings.Join(ref.Enum, "' | '") + "'"
	case len(ref.Enum) > 0:
		return "'" + strings.Join(ref.Enum, "' | '") + "' | Other"
	case ref.Kind == "time" && asked:
		return "string | Date"
	}
	if name, ok := map[string]string{"time": "string", "integer": "number", "any": "unknown"}[ref.Kind]; ok {
		return name
	}
	return ref.Kind
}

func nodeMethodDoc(m Method) string {
	text := m.Summary + ".\n\n" + m.Doc
	if len(m.Codes) > 0 {
		text += "\n\nCodes of its errors: " + strings.Join(m.Codes, ", ") + "."
	}
	if m.Deprecated {
		text += "\n\n@deprecated"
	}
	return nodeDoc("  ", text)
}

// nodeDoc returns a text as a JavaScript comment.
func nodeDoc(indent, text string) string {
	const width = 116
	text = strings.ReplaceAll(strings.TrimSpace(text), "*/", "* /")
	if text == "" {
		return ""
	}
	var lines []string
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		if !strings.Contains(paragraph, "\n- ") {
			paragraph = strings.ReplaceAll(paragraph, "\n", " ")
		}
		for text := range strings.SplitSeq(paragraph, "\n") {
			lines = append(lines, nodeFill(text, width-len(indent))...)
		}
	}
	if len(lines) == 1 && len([]rune(lines[0])) < width-len(indent)-2 {
		return indent + "/** " + lines[0] + " */\n"
	}
	var out strings.Builder
	out.WriteString(indent + "/**\n")
	for _, line := range lines {
		out.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	return out.String() + indent + " */\n"
}

func nodeFill(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line+" "+word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
