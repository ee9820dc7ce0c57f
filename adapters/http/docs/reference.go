package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"partnerdeposits/core/site"
)

// contents returns the API reference's table of contents and search entries.
func (r *reference) contents() (parts []part, entries []entry) {
	first := part{}
	add := func(s section) {
		first.Links = append(first.Links, link{Href: "#" + s.ID, Title: s.Title})
		entries = append(entries, r.entry(pageReference, s.ID, s.Title, r.Title, "", string(s.Text)))
	}
	for _, s := range r.Intro {
		add(s)
	}
	first.Links = append(first.Links, link{Href: "#error-codes", Title: "Error codes"})
	parts = append(parts, first)
	for _, g := range r.Groups {
		p := part{Title: g.Title}
		entries = append(entries, r.entry(pageReference, g.ID, g.Title, r.Title, "", string(g.Text)))
		for _, op := range g.Operations {
			p.Links = append(p.Links, link{Href: "#" + op.ID, Title: op.Title, Verb: op.Method})
			entries = append(entries, r.operationEntry(pageReference, op))
		}
		parts = append(parts, p)
	}
	return parts, entries
}

func (r *reference) eventContents() (parts []part, entries []entry) {
	p := part{}
	for _, e := range r.Events {
		p.Links = append(p.Links, link{Href: "#" + e.ID, Title: e.Title})
		found := r.operationEntry(pageEvents, e)
		found.Route = e.Event
		entries = append(entries, found)
	}
	return []part{p}, entries
}

func (r *reference) operationEntry(page string, op operation) entry {
	route := op.Method + " "
	for _, p := range op.Path {
		route += p.Text
	}
	var names, texts []string
	gather := func(fields []field) {
		n, t := wordsOf(fields)
		names, texts = append(names, n...), append(texts, t...)
	}
	for _, g := range op.Params {
		gather(g.Fields)
	}
	gather(op.Body)
	for _, answer := range op.Responses {
		gather(answer.Fields)
		texts = append(texts, string(answer.Text))
	}
	for _, e := range op.Errors {
		texts = append(texts, e.Code, e.Message)
	}
	slices.Sort(names)
	return r.entry(page, op.ID, op.Title, route, strings.Join(slices.Compact(names), " "),
		string(op.Text)+" "+strings.Join(texts, " "))
}

func (r *reference) entry(page, id, title, route, names, text string) entry {
	return entry{Href: site.DocsPath + "/" + page + "#" + id, Title: title, Route: route, Names: names,
		Text: strings.Join(strings.Fields(text), " ")}
}

// wordsOf returns names and descriptions of API fields, nested ones included, for the search.
func wordsOf(fields []field) (names, texts []string) {
	for _, f := range fields {
		names, texts = append(names, f.Name), append(texts, string(f.Text))
		texts = append(texts, f.Values...)
		n, t := wordsOf(f.Children)
		names, texts = append(names, n...), append(texts, t...)
	}
	return names, texts
}

func (r *reference) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\nBase URL: `%s`. As OpenAPI: [3.1](%s), [3.0](%s).\n\n",
		r.Title, r.Version, r.BaseURL, site.OpenAPI31Path, site.OpenAPI30Path)
	for i, s := range r.Intro {
		if i > 0 {
			fmt.Fprintf(&b, "## %s\n\n", s.Title)
		}
		fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(string(s.Text)))
	}
	b.WriteString("## Error codes\n\n| status | code | meaning |\n|---|---|---|\n")
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", e.Status, e.Code, e.Summary)
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", g.Title, strings.TrimSpace(string(g.Text)))
		for _, op := range g.Operations {
			op.markdown(&b, "###")
		}
	}
	return b.String()
}

func (r *reference) eventsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Events\n\nEvery event that we send to your endpoint, with its body. " +
		"[Webhooks](webhooks.md) tells how to receive them.\n")
	for _, e := range r.Events {
		e.markdown(&b, "##")
	}
	return b.String()
}

func (op operation) markdown(b *strings.Builder, level string) {
	fmt.Fprintf(b, "\n%s %s\n\n", level, op.Title)
	if op.Event != "" {
		fmt.Fprintf(b, "%s. ", op.Event)
	} else {
		path := ""
		for _, p := range op.Path {
			path += p.Text
		}
		fmt.Fprintf(b, "`%s %s`", op.Method, path)
		if op.Deprecated {
			b.WriteString(" (deprecated)")
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(b, "%s\n", strings.TrimSpace(string(op.Text)))
	for _, g := range op.Params {
		fmt.Fprintf(b, "\n**%s**\n\n", g.Title)
		writeFields(b, g.Fields, "")
	}
	if len(op.Body) > 0 {
		fmt.Fprintf(b, "\n**Body.** %s\n\n", op.BodyNote)
		writeFields(b, op.Body, "")
	}
	for _, c := range append([]codeSample{op.Request}, op.Libraries...) {
		fmt.Fprintf(b, "\n```%s\n%s\n```\n", c.Mark, c.Text)
	}
	for _, answer := range op.Responses {
		fmt.Fprintf(b, "\n**Answer %s.** %s\n\n", answer.Status, strings.TrimSpace(string(answer.Text)))
		writeFields(b, answer.Fields, "")
	}
	if op.Answer != nil {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", op.Answer.Text)
	}
	if len(op.Errors) > 0 {
		b.WriteString("\n**Errors**\n\n")
	}
	for _, e := range op.Errors {
		fmt.Fprintf(b, "- %s `%s`: %s\n", e.Status, e.Code, e.Message)
	}
}

func writeFields(b *strings.Builder, fields []field, indent string) {
	for _, f := range fields {
		facts := []string{f.Type}
		if f.Required {
			facts = append(facts, "required")
		}
		fmt.Fprintf(b, "%s- `%s` (%s)", indent, f.Name, strings.Join(append(facts, f.Facts...), ", "))
		if f.Text != "" {
			b.WriteString(": " + strings.Join(strings.Fields(string(f.Text)), " "))
		}
		if len(f.Values) > 0 {
			b.WriteString(" One of `" + strings.Join(f.Values, "`, `") + "`.")
		}
		b.WriteString("\n")
		writeFields(b, f.Children, indent+"  ")
	}
}

// llms returns the list of documentation pages for AI programs (llmstxt.org), also the home page's Markdown.
func (b *builder) llms() string {
	var out strings.Builder
	r := b.Reference
	fmt.Fprintf(&out, "# %s\n\n> %s\n", r.Title, strings.Join(strings.Fields(string(r.Intro[0].Text)), " "))
	for _, c := range b.Chapters {
		fmt.Fprintf(&out, "\n## %s\n\n", c.Title)
		for _, p := range c.Pages {
			if p.Name != pageHome {
				fmt.Fprintf(&out, "- [%s](%s%s): %s\n", p.Title, r.BaseURL, p.File(), p.Lead)
			}
		}
	}
	fmt.Fprintf(&out, "- [OpenAPI 3.1](%s%s): the contract for programs.\n", r.BaseURL, site.OpenAPI31Path)
	return out.String()
}

func (op operation) Tabs() template.HTML {
	var row []sample
	for _, c := range append([]codeSample{op.Request}, op.Libraries...) {
		row = append(row, sample{Language: languageOf(c.Mark), HTML: c.HTML()})
	}
	return tabs("in-"+op.ID, row)
}
