package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

type markdownText string

// HTML renders Markdown as HTML, with HTML tags in it shown as text.
func (p markdownText) HTML() (template.HTML, error) {
	out, _, err := p.render()
	return out, err
}

func (p markdownText) render() (out template.HTML, headings []heading, err error) {
	source := []byte(comment.ReplaceAllString(string(p), ""))
	context := parser.NewContext(parser.WithIDs(headingIDs{}))
	tree := converter().Parser().Parse(text.NewReader(source), parser.WithContext(context))
	// Links without a target on this site, of which only the text is kept.
	var words []*ast.Link
	err = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, headingOf(n, source))
		case *ast.Link:
			to, err := destination(string(n.Destination))
			if n.Destination = []byte(to); to == "" {
				words = append(words, n)
			}
			return ast.WalkContinue, err
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", nil, err
	}
	for _, link := range words {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	var b bytes.Buffer
	if err := converter().Renderer().Render(&b, source, tree); err != nil {
		return "", nil, fmt.Errorf("docs: Markdown: %w", err)
	}
	return template.HTML(b.String()), headings, nil //nolint:gosec // no parser of HTML: the renderer escapes all text
}

// comment matches an HTML comment on its own line, for tests and not readers.
var comment = regexp.MustCompile(`(?m)^<!--.*-->\n`)

type heading struct {
	Level     int
	ID, Title string
}

func headingOf(n *ast.Heading, source []byte) heading {
	id, _ := n.AttributeString("id")
	name, _ := id.([]byte)
	return heading{Level: n.Level, ID: string(name), Title: string(plain(n, source))}
}

func plain(n ast.Node, source []byte) (out []byte) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			out = append(out, child.Segment.Value(source)...)
		default:
			out = append(out, plain(child, source)...)
		}
	}
	return out
}

// headingIDs generates anchors of headings as GitHub does, so that links work on both sites.
type headingIDs struct{}

var notInID = regexp.MustCompile(`[^\pL\pN _-]`)

func (headingIDs) Generate(title []byte, _ ast.NodeKind) []byte {
	return []byte(slug(notInID.ReplaceAllString(string(title), "")))
}

func (headingIDs) Put([]byte) {}

// converter converts Markdown with tables and task lists to HTML, without passing HTML tags through.
var converter = sync.OnceValue(func() goldmark.Markdown {
	drop := func(parsers []util.PrioritizedValue, types ...any) []util.PrioritizedValue {
		return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool {
			return slices.ContainsFunc(types, func(t any) bool { return fmt.Sprintf("%T", t) == fmt.Sprintf("%T", p.Value) })
		})
	}
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(drop(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(drop(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithAutoHeadingID(),
		)),
		goldmark.WithExtensions(extension.Table, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 1))),
	)
})

// blockRenderer renders code with a copy button, and tables in a box that scrolls.
type blockRenderer struct{}

func (blockRenderer) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, fence)
	register.Register(east.KindTable, around(`<div class="table" tabindex="0"><table>`, `</table></div>`))
	register.Register(east.KindTaskCheckBox, around(`<span class="box" aria-hidden="true"></span>`, ""))
}

// around returns a renderer that puts tags around a Markdown node's children.
func around(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tags := after
		if entering {
			tags = before
		}
		_, err := w.WriteString(tags)
		return ast.WalkContinue, err
	}
}

// fence renders a fenced code block; successive samples in several languages become tabs.
func fence(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering || inRow(n.PreviousSibling(), source) && inRow(n, source) {
		return ast.WalkSkipChildren, nil
	}
	row := []sample{sampleOf(n, source)}
	for next := n.NextSibling(); inRow(n, source) && inRow(next, source); next = next.NextSibling() {
		row = append(row, sampleOf(next, source))
	}
	if len(row) > 1 {
		_, err := w.WriteString(string(tabs("at-"+fmt.Sprint(n.Pos()), row)))
		return ast.WalkSkipChildren, err
	}
	_, err := w.WriteString(string(row[0].figure()))
	return ast.WalkSkipChildren, err
}

// inRow reports whether a Markdown node is code for a tab: in a language with a tab, and not a file to save.
func inRow(n ast.Node, source []byte) bool {
	if _, ok := n.(*ast.FencedCodeBlock); !ok {
		return false
	}
	s := sampleOf(n, source)
	return s.Language != nil && s.File == ""
}

func sampleOf(n ast.Node, source []byte) sample {
	block := n.(*ast.FencedCodeBlock)
	lines := strings.TrimSuffix(string(block.Lines().Value(source)), "\n")
	var info string
	if block.Info != nil {
		info = string(block.Info.Value(source))
	}
	name, file, _ := strings.Cut(info, " ")
	s := sample{Language: languageOf(name), File: file}
	s.HTML = codeSample{Mark: name, Text: lines}.HTML()
	return s
}
