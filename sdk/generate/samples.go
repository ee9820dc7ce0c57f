package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// samples returns each operation's code sample in each language, from the OpenAPI document's example.
func samples(api *API) (map[string][]byte, error) {
	w := sampleWriter{&goWriter{map[string]Type{}, map[string]bool{}, map[string]bool{}}}
	for _, t := range api.Types {
		w.goTypes.types[t.Name] = t
	}
	all := map[string]map[string]string{}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			inGo, err := format.Source([]byte(w.golang(r, m)))
			if err != nil {
				return nil, fmt.Errorf("the sample of %s in Go: %w", m.OperationID, err)
			}
			all[m.OperationID] = map[string]string{
				"php": w.php(r, m), "node": w.node(r, m), "python": w.python(r, m), "go": string(inGo),
			}
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(all)
	return map[string][]byte{"samples/samples.gen.json": out.Bytes()}, err
}

type sampleWriter struct{ goTypes *goWriter }

// argument is a request's field with its value in the example.
type argument struct {
	Field
	value any
}

// arguments returns a request's fields in the example, in the type's order.
func arguments(fields []Field, example any) (found []argument) {
	values, _ := example.(map[string]any)
	for _, f := range fields {
		if value, ok := values[f.Name]; ok {
			found = append(found, argument{f, value})
		}
	}
	return found
}

func (w sampleWriter) body(m Method) []argument {
	if m.Body == nil {
		return nil
	}
	return arguments(m.Body.Fields, m.Example)
}

// ids returns the quoted example ids of a method's path.
func ids(m Method, quote func(string) string) (all []string) {
	for _, p := range m.PathParams {
		if p.Example == nil {
			p.Example = "{" + p.Name + "}"
		}
		all = append(all, quote(fmt.Sprint(p.Example)))
	}
	return all
}

const lineLength = 72

// joined writes a sample's items on one line if they fit, else on lines of their own.
func joined(open string, items []string, end, indent string) string {
	line := open + strings.Join(items, ", ") + end
	if len(items) == 0 || len(line) <= lineLength && !strings.Contains(line, "\n") {
		return line
	}
	text := strings.TrimRight(open, " ") + "\n"
	for _, item := range items {
		text += indent + strings.ReplaceAll(item, "\n", "\n"+indent) + ",\n"
	}
	return text + strings.TrimLeft(end, " ")
}

// notation holds how a language writes values in code.
type notation struct {
	open, between, end string // The texts that open a map, stand between key and value, and end the map.
	key, quote         func(string) string
	list               [2]string
	yes, no, none      string
	indent             string
}

func (n notation) object(items []argument) string {
	var pairs []string
	for _, a := range items {
		pairs = append(pairs, n.key(a.Name)+n.between+n.value(a))
	}
	return joined(n.open, pairs, n.end, n.indent)
}

func (n notation) value(a argument) string {
	switch v := a.value.(type) {
	case nil:
		return n.none
	case bool:
		if v {
			return n.yes
		}
		return n.no
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, n.value(argument{value: item}))
		}
		return joined(n.list[0], items, n.list[1], n.indent)
	case map[string]any:
		var items []argument
		for _, name := range slices.Sorted(maps.Keys(v)) {
			items = append(items, argument{Field{Name: name}, v[name]})
		}
		return n.object(items)
	case string:
		return n.quote(v)
	case time.Time:
		return n.quote(v.Format(time.RFC3339))
	}
	if a.Money {
		return n.quote(euros(a.value))
	}
	return fmt.Sprint(a.value)
}

// euros returns an example's amount as the text that libraries accept.
func euros(value any) string {
	number, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	// The error is ignored: a test compares examples with their types.
	if err != nil {
		panic(err)
	}
	return strconv.FormatFloat(number, 'f', 2, 64)
}

func single(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

	inPHP = notation{"[", " => ", "]", single, single, [2]string{"[", "]"}, "true", "false", "null", "    "}
	inJS  = notation{"{ ", ": ", " }", func(name string) string {
		if identifier.MatchString(name) {
			return name
		}
		return single(name)
	}, single, [2]string{"[", "]"}, "true", "false", "null", "  "}
	inPython = notation{"{", ": ", "}", strconv.Quote, strconv.Quote, [2]string{"[", "]"}, "True", "False", "None", "    "}
)

func (w sampleWriter) php(r Resource, m Method) string {
	args := ids(m, single)
	if body := w.body(m); len(body) > 0 {
		args = append(args, inPHP.object(body))
	}
	call := "$client->" + r.Name + "->" + m.Name + "(" + strings.Join(args, ", ") + ")"
	text := "$client = new PartnerDeposits\\Client(getenv('API_KEY'), ['baseUrl' => '{base_url}']);\n"
	switch m.Shape {
	case ShapePage:
		return text + "foreach (" + call + " as $each) {\n    print_r($each);\n}\n"
	case ShapeNone:
		return text + call + ";\n"
	}
	return text + "print_r(" + call + ");\n"
}

func (w sampleWriter) node(r Resource, m Method) string {
	args := ids(m, single)
	if body := w.body(m); len(body) > 0 {
		args = append(args, inJS.object(body))
	}
	call := "client." + r.Name + "." + m.Name + "(" + strings.Join(args, ", ") + ")"
	text := "import PartnerDeposits from 'partner-deposits';\n\n" +
		"const client = new PartnerDeposits(process.env.API_KEY, { baseUrl: '{base_url}' });\n"
	switch m.Shape {
	case ShapePage:
		return text + "for await (const each of " + call + ") {\n  console.log(each);\n}\n"
	case ShapeNone:
		return text + "await " + call + ";\n"
	}
	return text + "console.log(await " + call + ");\n"
}

func (w sampleWriter) python(r Resource, m Method) string {
	args := ids(m, strconv.Quote)
	for _, a := range w.body(m) {
		args = append(args, pythonName(a.Name)+"="+inPython.value(a))
	}
	call := joined("client."+pythonName(r.Name)+"."+pythonName(m.Name)+"(", args, ")", "    ")
	text := "import os\nfrom partner_deposits import PartnerDeposits\n\n" +
		"client = PartnerDeposits(os.environ[\"API_KEY\"], base_url=\"{base_url}\")\n"
	switch m.Shape {
	case ShapePage:
		return text + "for each in " + call + ":\n    print(each)\n"
	case ShapeNone:
		return text + call + "\n"
	}
	return text + "print(" + call + ")\n"
}

func (w sampleWriter) golang(r Resource, m Method) string {
	args := append([]string{"ctx"}, ids(m, strconv.Quote)...)
	switch {
	case m.Body != nil && len(w.body(m)) > 0:
		fields := w.goTypes.params(m.Body.Fields, m.HTTP == "PATCH")
		args = append(args, w.goStruct("&deposits."+goName(m.Body.Name), fields, m.Example))
	case m.Body != nil || len(m.Query) > 0:
		args = append(args, "nil")
	}
	call := "client." + goName(r.Name) + "." + goName(m.Name) + "(" + strings.Join(args, ", ") + ")"
	text := "client := deposits.New(os.Getenv(\"API_KEY\"), deposits.WithBaseURL(\"{base_url}\"))\n"
	const failed = "if err != nil {\n\treturn err\n}\n"
	switch m.Shape {
	case ShapePage:
		return text + "for each, err := range " + call + " {\n\tif err != nil {\n\t\treturn err\n\t}\n\tfmt.Println(each)\n}\n"
	case ShapeNone:
		return text + "if err := " + call + "; err != nil {\n\treturn err\n}\n"
	}
	return text + "answer, err := " + call + "\n" + failed + "fmt.Println(answer)\n"
}

// goStruct returns the Go code of a struct with an example's fields.
func (w sampleWriter) goStruct(name string, fields []goField, example any) string {
	values, _ := example.(map[string]any)
	var items []string
	for _, f := range fields {
		value, given := values[f.Name]
		if !given {
			continue
		}
		text := w.goValue(f.Ref, value)
		switch {
		case value == nil:
			text = "deposits.Null[" + w.goType(f.Ref) + "]()"
		case f.Money:
			text = "deposits.Euros(" + strconv.Quote(euros(value)) + ")"
		case strings.HasPrefix(f.Type, "Nullable["):
			text = "deposits.Set(" + w.goTyped(f.Ref, text) + ")"
		case strings.HasPrefix(f.Type, "*"):
			text = "deposits.Ptr(" + w.goTyped(f.Ref, text) + ")"
		}
		items = append(items, f.Go+": "+text)
	}
	return joined(name+"{", items, "}", "\t")
}

// goTyped converts an enumeration's text to its Go type.
func (w sampleWriter) goTyped(ref Ref, text string) string {
	if name := w.goType(ref); strings.HasPrefix(name, "deposits.") && strings.HasPrefix(text, `"`) {
		return name + "(" + text + ")"
	}
	return text
}

var ofPackage = regexp.MustCompile(`\b(time\.)?[A-Z]\w*`)

func (w sampleWriter) goType(ref Ref) string {
	return ofPackage.ReplaceAllStringFunc(w.goTypes.typeOf(ref), func(name string) string {
		if strings.HasPrefix(name, "time.") {
			return name
		}
		return "deposits." + name
	})
}

func (w sampleWriter) goValue(ref Ref, value any) string {
	if ref.Kind == "time" {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(value))
		if moment, ok := value.(time.Time); ok {
			at, err = moment, nil
		}
		// The error is ignored: a test compares examples with their types.
		if err != nil {
			panic(err)
		}
		return at.UTC().Format("time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)")
	}
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, strings.TrimPrefix(w.goValue(*ref.Items, item), w.goType(*ref.Items)))
		}
		return joined(w.goType(ref)+"{", items, "}", "\t")
	case map[string]any:
		if ref.Kind == "ref" {
			return w.goStruct(w.goType(ref), w.goTypes.params(w.goTypes.types[ref.Name].Fields, false), v)
		}
		var items []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			items = append(items, strconv.Quote(name)+": "+w.goValue(Ref{}, v[name]))
		}
		return joined(w.goType(ref)+"{", items, "}", "\t")
	}
	return fmt.Sprint(value)
}
