package docs

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func pretty(value any, s *openapi3.Schema) string {
	var b strings.Builder
	writeJSON(&b, value, s, "")
	return b.String()
}

func writeJSON(b *strings.Builder, value any, s *openapi3.Schema, indent string) {
	switch v := value.(type) {
	case map[string]any:
		writeObject(b, v, s, indent)
	case []any:
		writeList(b, v, s, indent)
	default:
		out, err := json.Marshal(v)
		if err != nil {
			panic("docs: example does not encode: " + err.Error())
		}
		b.Write(out)
	}
}

func writeObject(b *strings.Builder, v map[string]any, s *openapi3.Schema, indent string) {
	if len(v) == 0 {
		b.WriteString("{}")
		return
	}
	b.WriteString("{")
	for i, key := range orderedKeys(v, s) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n%s  %q: ", indent, key)
		var child *openapi3.Schema
		if s != nil && s.Properties[key] != nil {
			child = s.Properties[key].Value
		}
		writeJSON(b, v[key], child, indent+"  ")
	}
	b.WriteString("\n" + indent + "}")
}

func writeList(b *strings.Builder, v []any, s *openapi3.Schema, indent string) {
	if len(v) == 0 {
		b.WriteString("[]")
		return
	}
	var child *openapi3.Schema
	if s != nil && s.Items != nil {
		child = s.Items.Value
	}
	b.WriteString("[")
	for i, item := range v {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n" + indent + "  ")
		writeJSON(b, item, child, indent+"  ")
	}
	b.WriteString("\n" + indent + "]")
}

func orderedKeys(v map[string]any, s *openapi3.Schema) []string {
	var keys, rest []string
	if s != nil {
		for _, name := range orderedProperties(s) {
			if _, ok := v[name]; ok {
				keys = append(keys, name)
			}
		}
	}
	for name := range v {
		if !slices.Contains(keys, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(keys, rest...)
}

var token = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b`)

// highlight escapes JSON for HTML and marks its tokens with CSS classes.
func highlight(js string) string {
	var b strings.Builder
	at := 0
	for _, m := range token.FindAllStringSubmatchIndex(js, -1) {
		b.WriteString(html.EscapeString(js[at:m[0]]))
		class, end := "n", m[1]
		if m[2] >= 0 {
			class = "s"
			if m[4] >= 0 {
				class, end = "k", m[3]
			}
		}
		b.WriteString(`<span class="` + class + `">` + html.EscapeString(js[m[0]:end]) + "</span>")
		b.WriteString(html.EscapeString(js[end:m[1]]))
		at = m[1]
	}
	b.WriteString(html.EscapeString(js[at:]))
	return b.String()
}

type codeSample struct{ Mark, Text string }

func (c codeSample) HTML() template.HTML {
	if c.Mark == "json" {
		return template.HTML(highlight(c.Text)) //nolint:gosec // highlight escapes
	}
	return template.HTML(html.EscapeString(c.Text)) //nolint:gosec // escaped
}

func curl(r route, baseURL string) string {
	path := r.path
	for _, ref := range append(append(openapi3.Parameters{}, r.item.Parameters...), r.op.Parameters...) {
		if p := ref.Value; p.In == openapi3.ParameterInPath {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		}
	}
	parts := []string{"curl " + baseURL + path}
	if r.method != http.MethodGet {
		parts = []string{"curl -X " + r.method, baseURL + path}
	}
	parts = append(parts, `-H "x-api-key: $API_KEY"`)
	for _, ref := range r.op.Parameters {
		if ref.Value.Name == "Idempotency-Key" {
			parts = append(parts, `-H "Idempotency-Key: $(uuidgen -r)"`)
		}
	}
	if r.op.RequestBody != nil {
		media := r.op.RequestBody.Value.Content.Get("application/json")
		body := strings.ReplaceAll(pretty(media.Example, media.Schema.Value), "'", `'\''`)
		parts = append(parts, `-H "Content-Type: application/json"`, "-d '"+body+"'")
	}
	return strings.Join(parts, " \\\n  ")
}
