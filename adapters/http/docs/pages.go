package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/site"
	"partnerdeposits/docs/guides"
	"partnerdeposits/sdk/verify"
)

// Pages to which others link.
const (
	pageHome      = ""
	pageReference = "reference"
	pageEvents    = "events"
	pageErrors    = "errors"
	pageChangelog = "changelog"
)

// chapter is a part of the contents of the site.
type chapter struct {
	Title string
	Pages []*page
}

// contents is the map of the site. Every other page is the file of its name in docs/guides.
func contents() []chapter {
	return []chapter{
		{"Start here", []*page{
			{Name: pageHome, Label: "Overview"},
			{Name: "start-php", Label: "PHP", Language: true},
			{Name: "start-node", Label: "Node", Language: true},
			{Name: "start-python", Label: "Python", Language: true},
			{Name: "start-go", Label: "Go", Language: true},
			{Name: "quickstart", Label: "curl", Language: true},
		}},
		{"Guides", []*page{
			{Name: "connect", Label: "Connecting an operator"},
			{Name: "webhooks", Label: "Webhooks"},
			{Name: "feed", Label: "The feed"},
			{Name: "retries", Label: "Retries"},
			{Name: "collections", Label: "Captures and refunds"},
			{Name: "testing", Label: "Testing"},
			{Name: "going-live", Label: "Going live"},
		}},
		{"Reference", []*page{
			{Name: pageReference, Label: "Requests"},
			{Name: pageEvents, Label: "Events"},
			{Name: pageErrors, Label: "Errors"},
			{Name: pageChangelog, Label: "Changelog"},
		}},
	}
}

// page is a page of the site.
type page struct {
	Name     string // in the URL
	Label    string // in the contents
	Language bool   // leads to a first deposit in a language

	Title    string
	Lead     string // the first sentence
	Main     template.HTML
	Parts    []part // the contents of the page itself
	Markdown string
	entries  []entry // for the search
}

// Path is where the page stands, as HTML.
func (p *page) Path() string {
	if p.Name == pageHome {
		return site.Docs
	}
	return site.Docs + "/" + p.Name
}

// File is where the page stands as Markdown.
func (p *page) File() string {
	if p.Name == pageHome {
		return site.Docs + "/index.md"
	}
	return p.Path() + ".md"
}

// part is a heading of the contents of a page with the links below it.
type part struct {
	Title string
	Links []link
}

type link struct{ Href, Title, Verb string }

// sources are the files outside docs/guides to which a guide may link.
var sources = map[string]string{
	"../../adapters/http/partnerapi/openapi.yaml": site.Docs + "/" + pageReference,
	"../../adapters/http/partnerapi/changelog.md": site.Docs + "/" + pageChangelog,
}

// libraries begins the links to files of the libraries, which come with the library and not with the site.
const libraries = "../../sdk/"

// destination gives the place on the site to which a link of a file leads, or "" for a file of a library. Any other
// link that leaves the site is an error: a partner has no other file.
func destination(to string) (string, error) {
	if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "https://") || strings.HasPrefix(to, site.Docs) {
		return to, nil
	}
	if strings.HasPrefix(to, libraries) {
		return "", nil
	}
	file, anchor, cut := strings.Cut(to, "#")
	if cut {
		anchor = "#" + anchor
	}
	if at, ok := sources[file]; ok {
		return at + anchor, nil
	}
	for _, c := range contents() {
		for _, p := range c.Pages {
			if p.Name+".md" == file {
				return p.Path() + anchor, nil
			}
		}
	}
	return "", fmt.Errorf("docs: a page links to %s, which is not on the site", to)
}

//go:embed assets/*.gohtml
var templates embed.FS

// builder holds what the templates of pages read.
type builder struct {
	Reference *reference
	Chapters  []chapter
	Style     string   // path
	Scripts   []string // paths
	Index     string   // path of the search's entries
	TryIt     bool
	Page      *page // which is being made
	template  *template.Template
}

// build makes every file of the site that is not an asset, by path.
func build(doc *openapi3.T, baseURL string, b *builder) (map[string][]byte, error) {
	var err error
	if b.Reference, err = newReference(doc, baseURL, b.TryIt); err != nil {
		return nil, err
	}
	if b.template, err = template.ParseFS(templates, "assets/*.gohtml"); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	b.Chapters = contents()
	out := map[string][]byte{}
	// The home page names the titles of the others, so it comes last.
	for _, p := range append(b.pages()[1:], b.pages()[0]) {
		if err := b.fill(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	for _, p := range b.pages() {
		b.Page = p
		html, err := b.execute("frame")
		if err != nil {
			return nil, err
		}
		out[p.Path()], out[p.File()] = []byte(html), []byte(p.Markdown)
	}
	out[site.LLMs] = []byte(b.Home().Markdown)
	out[site.Docs+site.LLMs] = out[site.LLMs]
	out[b.Index], err = index(b.pages())
	return out, err
}

func (b *builder) pages() (all []*page) {
	for _, c := range b.Chapters {
		all = append(all, c.Pages...)
	}
	return all
}

// Home is the first page.
func (b *builder) Home() *page { return b.Chapters[0].Pages[0] }

// At gives the path of the page with this name.
func (b *builder) At(name string) string { return site.Docs + "/" + name }

func (b *builder) execute(name string) (template.HTML, error) {
	var out bytes.Buffer
	if err := b.template.ExecuteTemplate(&out, name, b); err != nil {
		return "", fmt.Errorf("docs: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // made by html/template
}

// fill makes the content of a page.
func (b *builder) fill(p *page) (err error) {
	b.Page = p
	switch p.Name {
	case pageHome:
		p.Title = "Documentation for partners"
		p.Markdown = b.llms()
	case pageReference:
		p.Title, p.Lead = "Requests", "Every request, field and answer of the API."
		p.Markdown = b.Reference.markdown()
		p.Parts, p.entries = b.Reference.contents()
	case pageEvents:
		p.Title, p.Lead = "Events", "Every event that we send to your endpoint, with its body."
		p.Markdown = b.Reference.eventsMarkdown()
		p.Parts, p.entries = b.Reference.eventContents()
	case pageChangelog:
		return p.read("# Changelog\n\n" + partnerapi.Changelog)
	default:
		text, err := guides.Files.ReadFile(p.Name + ".md")
		if err != nil {
			return fmt.Errorf("docs: %w", err)
		}
		whole, err := withFiles(string(text))
		if err != nil {
			return err
		}
		return p.read(whole)
	}
	p.Main, err = b.execute("page-" + p.Name)
	return err
}

var (
	firstSentence = regexp.MustCompile(`(?s)^(.*?\.)(\s|$)`)
	linkInText    = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
)

// linkToFile is a line that is nothing but a link to a file of sdk/verify, under the name by which a partner saves it.
var linkToFile = regexp.MustCompile(`(?m)^\[([\w./]+)\]\(\.\./\.\./sdk/verify/(\w+\.(\w+))\)$`)

// withFiles puts the files of sdk/verify in place of the links to them: a reader of the site has no other copy.
func withFiles(text string) (string, error) {
	marks := map[string]string{"php": "php", "mjs": "js", "py": "python", "go": "go"}
	var failed error
	text = linkToFile.ReplaceAllStringFunc(text, func(found string) string {
		m := linkToFile.FindStringSubmatch(found)
		file, err := verify.Files.ReadFile(m[2])
		if err != nil {
			failed = fmt.Errorf("docs: %w", err)
		}
		return "```" + marks[m[3]] + " " + m[1] + "\n" + string(file) + "```"
	})
	return text, failed
}

// read makes a page of Markdown.
func (p *page) read(text string) error {
	html, headings, err := prose(text).render()
	if err != nil {
		return err
	}
	if len(headings) == 0 || headings[0].Level != 1 {
		return fmt.Errorf("docs: the page does not begin with its title")
	}
	p.Title, p.Main = headings[0].Title, html
	_, body, _ := strings.Cut(strings.TrimSpace(comment.ReplaceAllString(text, "")), "\n")
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n\n")
	if sentence := firstSentence.FindStringSubmatch(first); sentence != nil {
		lead := strings.ReplaceAll(linkInText.ReplaceAllString(sentence[1], "$1"), "`", "")
		p.Lead = strings.Join(strings.Fields(lead), " ")
	}
	links := []link{}
	for _, h := range headings[1:] {
		if h.Level == 2 {
			links = append(links, link{Href: "#" + h.ID, Title: h.Title})
		}
	}
	p.Parts = []part{{Links: links}}
	p.entries = sectionsOf(p, string(html), headings)
	p.Markdown = linkInText.ReplaceAllStringFunc(comment.ReplaceAllString(text, ""), func(found string) string {
		m := linkInText.FindStringSubmatch(found)
		if at, ok := sources[m[2]]; ok {
			return "[" + m[1] + "](" + path.Base(at) + ".md)"
		}
		if strings.HasPrefix(m[2], libraries) {
			return m[1]
		}
		return found
	})
	return nil
}
