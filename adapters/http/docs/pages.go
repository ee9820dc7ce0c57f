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

const (
	pageHome      = ""
	pageReference = "reference"
	pageEvents    = "events"
	pageErrors    = "errors"
	pageChangelog = "changelog"
)

type chapter struct {
	Title string
	Pages []*page
}

// contents returns the site's table of contents. Pages without a name constant are files in docs/guides.
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

type page struct {
	Name  string
	Label string
	// Whether the page is a quick start in a programming language.
	Language bool

	Title    string
	Lead     string
	Main     template.HTML
	Parts    []part
	Markdown string
	entries  []entry
}

func (p *page) Path() string {
	if p.Name == pageHome {
		return site.DocsPath
	}
	return site.DocsPath + "/" + p.Name
}

func (p *page) File() string {
	if p.Name == pageHome {
		return site.DocsPath + "/index.md"
	}
	return p.Path() + ".md"
}

// part is a heading in a page's table of contents, with the links below.
type part struct {
	Title string
	Links []link
}

type link struct{ Href, Title, Verb string }

// sources maps files outside docs/guides to which guides may link to their URL on the site.
var sources = map[string]string{
	"../../adapters/http/partnerapi/openapi.yaml": site.DocsPath + "/" + pageReference,
	"../../adapters/http/partnerapi/changelog.md": site.DocsPath + "/" + pageChangelog,
}

// libraries begins links to client library files, which are published with the library and not on the site.
const libraries = "../../sdk/"

// destination returns the URL on the site for a link in a guide; "" for a library's file. Other links out of the
// site are errors, since partners cannot open the repository.
func destination(to string) (string, error) {
	if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "https://") || strings.HasPrefix(to, site.DocsPath) {
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

// builder builds the documentation pages and holds their template data.
type builder struct {
	Reference *reference
	Chapters  []chapter
	Style     string
	Scripts   []string
	Index     string
	TryIt     bool
	Page      *page
	template  *template.Template
}

// build returns every file of the documentation site but assets, by URL path.
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
	// The home page lists the other pages' titles, so it is built last.
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
	out[site.LLMsTextPath] = []byte(b.Home().Markdown)
	out[site.DocsPath+site.LLMsTextPath] = out[site.LLMsTextPath]
	out[b.Index], err = index(b.pages())
	return out, err
}

func (b *builder) pages() (all []*page) {
	for _, c := range b.Chapters {
		all = append(all, c.Pages...)
	}
	return all
}

func (b *builder) Home() *page { return b.Chapters[0].Pages[0] }

// At returns the URL path of the documentation page of a name, for links in templates.
func (b *builder) At(name string) string { return site.DocsPath + "/" + name }

func (b *builder) execute(name string) (template.HTML, error) {
	var out bytes.Buffer
	if err := b.template.ExecuteTemplate(&out, name, b); err != nil {
		return "", fmt.Errorf("docs: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // made by html/template
}

// fill builds title, content and search entries of a documentation page.
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

// linkToFile matches a line that only links to a file of sdk/verify, under the name by which a partner saves it.
var linkToFile = regexp.MustCompile(`(?m)^\[([\w./]+)\]\(\.\./\.\./sdk/verify/(\w+\.(\w+))\)$`)

// withFiles replaces links to files of sdk/verify by their text, since readers have no other copy.
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

func (p *page) read(text string) error {
	html, headings, err := markdownText(text).render()
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
