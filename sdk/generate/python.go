package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed python.tmpl
var pythonCode string

// pythonOwn lists the Python library's exports that are not from the OpenAPI document.
var pythonOwn = strings.Fields("Answer ApiConnectionError ApiError AsyncPages AsyncPartnerDeposits EnsuredWebhook " +
	"FollowedEvent LinkReturn Money Page Pages Pagination PartnerDeposits PartnerDepositsError Time VERSION " +
	"WebhookEvent is_newer")

func python(api *API) (map[string][]byte, error) {
	p := pythonModel{answers: map[string]bool{}, requests: map[string]bool{}, types: map[string]Type{}}
	for _, t := range api.Types {
		p.types[t.Name] = t
		if slices.Contains(pythonOwn, t.Name) {
			return nil, fmt.Errorf("the Python library has a %s of its own", t.Name)
		}
	}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			p.reach(p.answers, m.Answer)
			if m.Body != nil {
				for _, f := range m.Body.Fields {
					p.reach(p.requests, &f.Ref)
				}
			}
		}
	}
	functions := template.FuncMap{
		"title": title, "snake": pythonName, "attribute": pythonAttribute, "quote": strconv.Quote, "doc": pythonDoc,
		"methodDoc": p.methodDoc, "answers": p.answerTypes, "requests": p.requestTypes, "kinds": p.kinds,
		"fieldType": p.fieldType, "signature": p.signature, "call": p.call, "pass": p.pass, "pages": p.pages,
		"alias": pythonAlias, "param": pythonParam, "names": p.names,
		"reasons": func() []word { return reasons }, "hints": func() []word { return hints },
		"paramType": func(f Field) string { return p.paramType(f.Ref) },
	}
	code, err := render("python", pythonCode, functions, api)
	return map[string][]byte{"python/src/partner_deposits/_api.py": code}, err
}

// pythonModel holds the API's types; those in responses become Python classes, those in requests dicts.
type pythonModel struct {
	types             map[string]Type
	answers, requests map[string]bool
}

func (p pythonModel) reach(into map[string]bool, ref *Ref) {
	if ref == nil || into[ref.Name] && ref.Name != "" {
		return
	}
	if ref.Name != "" {
		into[ref.Name] = true
	}
	p.reach(into, ref.Items)
	for _, f := range p.types[ref.Name].Fields {
		p.reach(into, &f.Ref)
	}
	// The class for a choice of types has the fields of each.
	for _, name := range p.types[ref.Name].OneOf {
		for _, f := range p.types[name].Fields {
			p.reach(into, &f.Ref)
		}
	}
}

func (p pythonModel) isObject(name string) bool { return name != "" && p.types[name].Enum == nil }

// answerTypes returns the types that become Python classes for responses.
func (p pythonModel) answerTypes(api *API) []Type {
	var out []Type
	for _, t := range api.Types {
		if !p.answers[t.Name] || !p.isObject(t.Name) {
			continue
		}
		count := map[string]int{}
		for _, name := range t.OneOf {
			for _, f := range p.types[name].Fields {
				if count[f.Name]++; count[f.Name] == 1 {
					t.Fields = append(t.Fields, f)
				}
			}
		}
		for i, f := range t.Fields {
			if t.OneOf != nil {
				t.Fields[i].Required = f.Required && count[f.Name] == len(t.OneOf)
			}
		}
		out = append(out, t)
	}
	return out
}

func (p pythonModel) requestTypes(api *API) []Type {
	return slices.DeleteFunc(slices.Clone(api.Types), func(t Type) bool { return !p.requests[t.Name] || t.Fields == nil })
}

// pages returns the types of which there are paged lists.
func (p pythonModel) pages(api *API) []string {
	var out []string
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			if m.Shape == ShapePage && !slices.Contains(out, m.Answer.Name) {
				out = append(out, m.Answer.Name)
			}
		}
	}
	return out
}

// names returns the generated names that the Python package exports.
func (p pythonModel) names(api *API) []string {
	names := slices.Clone(pythonOwn)
	for _, t := range api.Types {
		if p.answers[t.Name] || t.Enum != nil {
			names = append(names, t.Name)
		}
	}
	for _, t := range p.requestTypes(api) {
		names = append(names, pythonParam(t.Name))
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	return strings.Split(pythonFold("    ", names, ","), "\n")
}

// kinds returns Python code that maps each field with objects to their class.
func (p pythonModel) kinds(t Type) string {
	var pairs []string
	for _, f := range t.Fields {
		ref, kind := f.Ref, "Answer"
		for ref.Kind == "array" {
			ref = *ref.Items
		}
		switch {
		case ref.Kind == "map":
			kind = "dict"
		case p.isObject(ref.Name):
			kind = ref.Name
		}
		pairs = append(pairs, strconv.Quote(f.Name)+": "+kind)
	}
	return pythonFold("    ", pairs, ",")
}

func (p pythonModel) answer(m Method) string {
	switch {
	case m.Answer == nil:
		return "None"
	case m.Shape == ShapePage:
		return "Pages[" + p.answerType(*m.Answer) + "]"
	}
	return p.answerType(*m.Answer)
}

func (p pythonModel) fieldType(t Type, f Field) string {
	name := p.answerType(f.Ref)
	if f.Name == "amount" && slices.ContainsFunc(t.Fields, func(o Field) bool { return o.Name == "amountCents" }) {
		name = "Decimal" // The Python class Answer turns this field into a Decimal.
	}
	if !f.Required || f.Nullable {
		return "Optional[" + name + "]"
	}
	return name
}

// answerType returns a response value's Python type; an enumeration allows texts that may be added later.
func (p pythonModel) answerType(ref Ref) string {
	switch ref.Kind {
	case "array":
		return "List[" + p.answerType(*ref.Items) + "]"
	case "map":
		return "Dict[str, " + p.answerType(*ref.Items) + "]"
	case "ref":
		if p.isObject(ref.Name) {
			return ref.Name
		}
		return "str"
	}
	return pythonScalar(ref, "str")
}

func (p pythonModel) paramType(ref Ref) string {
	switch {
	case ref.Kind == "array":
		return "Sequence[" + p.paramType(*ref.Items) + "]"
	case ref.Kind == "map":
		return "Mapping[str, " + p.paramType(*ref.Items) + "]"
	case ref.Kind == "ref" && p.isObject(ref.Name):
		return pythonParam(ref.Name)
	case ref.Kind == "ref":
		return ref.Name
	case len(ref.Enum) > 0:
		return pythonLiteral(ref.Enum)
	}
	return pythonScalar(ref, "Time")
}

func pythonScalar(ref Ref, instant string) string {
	return map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "time": instant,
		"any": "Any"}[ref.Kind]
}

func pythonLiteral(values []string) string {
	return "Literal[\"" + strings.Join(values, "\", \"") + "\"]"
}

func pythonAlias(t Type) string {
	return pythonFold(t.Name+" = Literal[", strings.Split("\""+strings.Join(t.Enum, "\",\"")+"\"", ","), "]")
}

// pythonParam returns the TypedDict for an object inside a request.
func pythonParam(name string) string { return strings.TrimSuffix(name, "Request") + "Param" }

// fields returns the fields of a method's body, or of its query without one.
func (m Method) fields() []Field {
	if m.Body != nil {
		return m.Body.Fields
	}
	return m.Query
}

// signature returns a method's Python declaration: ids are positional, others keyword parameters.
func (p pythonModel) signature(kind string, m Method) string {
	out := []string{"self"}
	for _, f := range m.PathParams {
		out = append(out, pythonName(f.Name)+": str")
	}
	out = append(out, "*")
	for _, f := range m.fields() {
		kind := p.paramType(f.Ref)
		if f.Money {
			kind = "Money"
		}
		if f.Nullable || !f.Required && !f.Money {
			kind = "Optional[" + kind + "]"
		}
		switch {
		case f.Required:
		case f.Nullable || f.Money:
			kind += " = OMIT"
		default:
			kind += " = None"
		}
		out = append(out, pythonName(f.Name)+": "+kind)
	}
	if m.Keyed {
		out = append(out, "idempotency_key: Optional[str] = None")
	}
	head, answer := "    def ", p.answer(m)
	switch {
	case kind == "async" && m.Shape == ShapePage:
		answer = "Async" + answer
	case kind == "async":
		head = "    async def "
	}
	return pythonFold(head+pythonName(m.Name)+"(", append(out, "timeout: Optional[float] = None"), ") -> "+answer+":")
}

// pass returns the Python code that passes all parameters to the synchronous method.
func (p pythonModel) pass(m Method) string {
	head, tail := "        return await in_thread(", ")"
	out := []string{"self._resource." + pythonName(m.Name)}
	switch m.Shape {
	case ShapePage:
		head, tail, out = "        return AsyncPages("+out[0]+"(", "))", nil
	case ShapeNone:
		head = "        await in_thread("
	}
	for _, f := range m.PathParams {
		out = append(out, pythonName(f.Name))
	}
	for _, f := range m.fields() {
		out = append(out, pythonName(f.Name)+"="+pythonName(f.Name))
	}
	if m.Keyed {
		out = append(out, "idempotency_key=idempotency_key")
	}
	return pythonFold(head, append(out, "timeout=timeout"), tail)
}

// call returns the Python code that sends a method's request.
func (p pythonModel) call(m Method) string {
	path, kind, shape := m.Path, "None", m.Shape
	var ids, fields, money, nullable []string
	for _, f := range m.PathParams {
		path = strings.ReplaceAll(path, "{"+f.Name+"}", "{}")
		ids = append(ids, pythonName(f.Name))
	}
	for _, f := range m.fields() {
		fields = append(fields, strconv.Quote(f.Name)+": "+pythonName(f.Name))
		if f.Money {
			money = append(money, strconv.Quote(f.Name)+",")
		}
		if f.Nullable {
			nullable = append(nullable, strconv.Quote(f.Name)+",")
		}
	}
	if m.Answer != nil {
		kind = m.Answer.Name
		if m.Answer.Kind == "array" {
			shape, kind = "list", m.Answer.Items.Name
		}
	}
	head := "        answer: " + p.answer(m) + " = self._core._call("
	out := []string{strconv.Quote(shape), kind, strconv.Quote(m.HTTP), strconv.Quote(path)}
	switch m.Shape {
	case ShapePage:
		head, out = "        return Pages(", []string{"self._core", kind + "Page", strconv.Quote(path)}
	case ShapeNone:
		head = "        self._core._call("
	}
	out = append(out, ids...)
	place := map[bool]string{true: "body", false: "query"}[m.Body != nil]
	if len(fields) > 0 {
		fields[0] = place + "={" + fields[0]
		fields[len(fields)-1] += "}"
		out = append(out, fields...)
	}
	if len(money) > 0 {
		out = append(out, "money=("+strings.Join(money, " ")+")")
	}
	if len(nullable) > 0 {
		out = append(out, "nullable=("+strings.Join(nullable, " ")+")")
	}
	if m.Keyed {
		out = append(out, "key=idempotency_key or str(uuid.uuid4())")
	}
	return pythonFold(head, append(out, "timeout=timeout"), ")")
}

func (p pythonModel) methodDoc(m Method) string {
	var params []string
	for _, f := range m.fields() {
		if f.Doc != "" {
			params = append(params, "- "+pythonName(f.Name)+": "+strings.Join(strings.Fields(f.Doc), " "))
		}
	}
	parts := []string{m.Summary + ".", m.Doc, strings.Join(params, "\n")}
	if len(m.Codes) > 0 {
		parts = append(parts, "Codes of its ApiError: "+strings.Join(m.Codes, ", ")+".")
	}
	if m.Deprecated {
		parts = append(parts, "Deprecated.")
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return pythonDoc("        ", strings.Join(parts, "\n\n"))
}
