package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"partnerdeposits/adapters/http/partnerapi"
)

// reference is the content of openapi.yaml for the API reference.
type reference struct {
	Title   string
	Version string
	BaseURL string
	Intro   []section
	Groups  []group
	Events  []operation
	Errors  []errorCode
	Changes []section
	// JSON for "Try it" of the list route per path parameter, such as {"depositId": "/api/partner/v1/deposits"}; ""
	// without that form.
	Lists string
}

// section is a heading of the reference's introduction or changelog, with its text.
type section struct {
	ID, Title string
	Text      markdownText
}

// group is a tag of openapi.yaml (a heading of the API reference) with its operations.
type group struct {
	ID, Title  string
	Text       markdownText
	Operations []operation
}

// operation is an API route or webhook event, as a page of the reference shows it.
type operation struct {
	ID, Title  string
	Method     string
	Path       []pathPart
	Event      string // Summary of the event that the service sends; "" for a route.
	Deprecated bool
	Try        *attempt
	Text       markdownText
	Params     []paramGroup
	Body       []field
	BodyNote   string
	Responses  []response
	Errors     []errorCode
	Common     []errorCode
	Request    codeSample
	// The route's example request, written with each client library.
	Libraries []codeSample
	Answer    *codeSample
	AnswerAs  string
}

type pathPart struct {
	Text  string
	Param bool
}

type paramGroup struct {
	Title  string
	Fields []field
}

type response struct {
	Status string
	Text   markdownText
	Fields []field
}

type errorCode struct {
	Code    string
	Status  string
	Summary string
	Message string
}

func newReference(doc *openapi3.T, baseURL string, tryIt bool) (*reference, error) {
	p := &reference{Title: doc.Info.Title, Version: doc.Info.Version, BaseURL: baseURL}
	p.Intro = sections("Introduction", strings.ReplaceAll(doc.Info.Description, "{base_url}", baseURL))
	p.Changes = sections("Changes", partnerapi.Changelog)
	groups := map[string]*group{}
	p.Groups = make([]group, len(doc.Tags))
	for i, tag := range doc.Tags {
		p.Groups[i] = group{ID: "tag-" + slug(tag.Name), Title: tag.Name, Text: markdownText(tag.Description)}
		groups[tag.Name] = &p.Groups[i]
	}
	libraries, err := requestsOf(baseURL)
	if err != nil {
		return nil, err
	}
	codes := map[string]errorCode{}
	for _, r := range routesOf(doc) {
		g := groups[r.op.Tags[0]]
		if g == nil {
			return nil, fmt.Errorf("docs: %s has an unknown tag", r.op.OperationID)
		}
		op := r.render(baseURL)
		for _, l := range languages[1:] {
			if text, ok := libraries[op.ID][l.Name]; ok {
				op.Libraries = append(op.Libraries, codeSample{l.marks[0], strings.TrimSpace(text)})
			}
		}
		if tryIt {
			op.Try = attemptOf(r)
		}
		g.Operations = append(g.Operations, op)
		for _, e := range slices.Concat(op.Errors, op.Common) {
			codes[e.Code] = e
		}
		for _, e := range errorsOf(r.op.Responses.Default(), "") {
			codes[e.Code] = withStatus(e)
		}
	}
	if tryIt {
		lists, err := json.Marshal(listsOf(routesOf(doc)))
		if err != nil {
			return nil, fmt.Errorf("docs: lists: %w", err)
		}
		p.Lists = string(lists)
	}
	p.Events = eventsOf(doc)
	p.Errors = slices.SortedFunc(maps.Values(codes), func(a, b errorCode) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Code, b.Code))
	})
	return p, nil
}

func withStatus(e errorCode) errorCode {
	switch e.Code {
	case "route_not_found":
		e.Status = "404"
	case "method_not_allowed":
		e.Status = "405"
	}
	return e
}

type route struct {
	method, path string
	item         *openapi3.PathItem
	op           *openapi3.Operation
}

// routesOf lists the operations in the order of openapi.yaml.
func routesOf(doc *openapi3.T) []route {
	var out []route
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			out = append(out, route{method: method, path: path, item: item, op: op})
		}
	}
	slices.SortFunc(out, func(a, b route) int { return byOrigin(a.op.Origin, b.op.Origin) })
	return out
}

// byOrigin compares two positions in openapi.yaml by line and column.
func byOrigin(a, b *openapi3.Origin) int {
	if a == nil || b == nil || a.Key == nil || b.Key == nil {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Key.Line, b.Key.Line), cmp.Compare(a.Key.Column, b.Key.Column))
}

func (r route) render(baseURL string) operation {
	out := operation{
		ID: r.op.OperationID, Title: r.op.Summary, Method: r.method, Path: splitPath(r.path),
		Text: markdownText(r.op.Description), Params: r.params(), Deprecated: r.op.Deprecated,
		Request: codeSample{"sh", curl(r, baseURL)},
	}
	if r.op.RequestBody != nil {
		out.Body = fieldsOf(jsonSchema(r.op.RequestBody.Value.Content))
		if !r.op.RequestBody.Value.Required {
			out.BodyNote = "The body is optional."
		}
	}
	out.Responses, out.AnswerAs, out.Answer = answersOf(r.op)
	out.Errors, out.Common = refusalsOf(r.op)
	return out
}

func splitPath(path string) []pathPart {
	var out []pathPart
	for path != "" {
		open := strings.IndexByte(path, '{')
		if open < 0 {
			return append(out, pathPart{Text: path})
		}
		end := strings.IndexByte(path, '}') + 1
		out = append(out, pathPart{Text: path[:open]}, pathPart{Text: path[open:end], Param: true})
		path = path[end:]
	}
	return out
}

func (r route) params() []paramGroup {
	kinds := []struct{ in, title string }{
		{openapi3.ParameterInPath, "Path"}, {openapi3.ParameterInQuery, "Query"}, {openapi3.ParameterInHeader, "Headers"},
	}
	var out []paramGroup
	for _, kind := range kinds {
		g := paramGroup{Title: kind.title}
		for _, ref := range append(append(openapi3.Parameters{}, r.item.Parameters...), r.op.Parameters...) {
			if p := ref.Value; p.In == kind.in {
				g.Fields = append(g.Fields, paramField(p))
			}
		}
		if len(g.Fields) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// answersOf returns an operation's successful responses, and status and example of the last.
func answersOf(op *openapi3.Operation) (successes []response, as string, example *codeSample) {
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		r := op.Responses.Value(status).Value
		schema := jsonSchema(r.Content)
		successes = append(successes, response{Status: status, Text: markdownText(*r.Description), Fields: fieldsOf(schema)})
		as = status
		if media := r.Content.Get("application/json"); media != nil {
			example = &codeSample{"json", pretty(media.Example, schema)}
		}
	}
	return successes, as, example
}

// commonStatuses lists the HTTP statuses of errors that do not depend on the operation.
var commonStatuses = []string{"401", "413", "415", "429", "500", "503"}

// refusalsOf returns an operation's own errors, and those that most operations share.
func refusalsOf(op *openapi3.Operation) (own, common []errorCode) {
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		switch errs := op.Responses.Value(status); {
		case strings.HasPrefix(status, "2"), status == "default":
		case slices.Contains(commonStatuses, status):
			common = append(common, errorsOf(errs, status)...)
		default:
			own = append(own, errorsOf(errs, status)...)
		}
	}
	return own, common
}

func errorsOf(ref *openapi3.ResponseRef, status string) []errorCode {
	var out []errorCode
	examples := ref.Value.Content.Get("application/json").Examples
	for _, name := range slices.SortedFunc(maps.Keys(examples),
		func(a, b string) int { return byOrigin(examples[a].Value.Origin, examples[b].Value.Origin) }) {
		example := examples[name].Value
		value, _ := example.Value.(map[string]any)
		detail, _ := value["error"].(map[string]any)
		code, _ := detail["code"].(string)
		message, _ := detail["message"].(string)
		out = append(out, errorCode{Code: code, Status: status, Summary: example.Summary, Message: message})
	}
	return out
}

func eventsOf(doc *openapi3.T) []operation {
	names := slices.Collect(maps.Keys(doc.Webhooks))
	slices.SortFunc(names, func(a, b string) int {
		return byOrigin(doc.Webhooks[a].Post.Origin, doc.Webhooks[b].Post.Origin)
	})
	out := make([]operation, len(names))
	for i, name := range names {
		item := doc.Webhooks[name]
		sent := route{method: http.MethodPost, item: item, op: item.Post}
		media := item.Post.RequestBody.Value.Content.Get("application/json")
		out[i] = operation{
			ID: "event-" + name, Title: name, Event: item.Post.Summary, Text: markdownText(item.Post.Description),
			Params: sent.params(), Body: fieldsOf(media.Schema.Value),
			Request: codeSample{"json", pretty(media.Example, media.Schema.Value)},
		}
	}
	return out
}

func jsonSchema(content openapi3.Content) *openapi3.Schema {
	media := content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return media.Schema.Value
}

// sections splits Markdown at its headings of level 2; the part before the first gets the given title.
func sections(first, text string) []section {
	var out []section
	for i, part := range strings.Split("\n"+text, "\n## ") {
		if i == 0 {
			out = append(out, section{ID: slug(first), Title: first, Text: markdownText(part)})
			continue
		}
		title, body, _ := strings.Cut(part, "\n")
		out = append(out, section{ID: slug(title), Title: title, Text: markdownText(body)})
	}
	return out
}

func slug(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
}
