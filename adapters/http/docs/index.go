package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// entry is a place that the documentation's search finds. A match in the title counts most, then in the route, the
// names, and the text.
type entry struct {
	Href  string `json:"href"`
	Title string `json:"title"`
	// The API route of a search result, or its page's title.
	Route string `json:"route"`
	Names string `json:"names,omitempty"`
	Text  string `json:"text"`
}

func index(pages []*page) ([]byte, error) {
	var all []entry
	for _, p := range pages {
		all = append(all, p.entries...)
	}
	var out bytes.Buffer
	out.WriteString("export const entries = ")
	if err := json.NewEncoder(&out).Encode(all); err != nil {
		return nil, fmt.Errorf("docs: search: %w", err)
	}
	return out.Bytes(), nil
}

// sectionsOf splits a page at its headings into search entries.
func sectionsOf(p *page, content string, headings []heading) (entries []entry) {
	for i, h := range headings {
		from := strings.Index(content, fmt.Sprintf("<h%d id=%q>", h.Level, h.ID))
		to := len(content)
		if i+1 < len(headings) {
			next := headings[i+1]
			to = strings.Index(content, fmt.Sprintf("<h%d id=%q>", next.Level, next.ID))
		}
		href := p.Path()
		if i > 0 {
			href += "#" + h.ID
		}
		entries = append(entries, entry{Href: href, Title: h.Title, Route: p.Title, Text: words(content[from:to])})
	}
	return entries
}

var tag = regexp.MustCompile(`<[^>]*>`)

func words(content string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(content, " "))), " ")
}
