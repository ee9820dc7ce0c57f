package docs

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// markdown renders the Markdown that openapi.yaml uses: paragraphs, lists, tables, fenced code, `code`, **bold** and
// [links](url). All text is escaped first.
func markdown(text string) template.HTML {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		switch {
		case strings.TrimSpace(line) == "":
			i++
		case strings.HasPrefix(line, "```"):
			i = fence(&b, lines, i+1)
		case strings.HasPrefix(line, "- "):
			i = list(&b, lines, i)
		case strings.HasPrefix(line, "|"):
			i = table(&b, lines, i)
		default:
			i = paragraph(&b, lines, i)
		}
	}
	return template.HTML(b.String()) //nolint:gosec // every piece went through inline or html.EscapeString
}

func fence(b *strings.Builder, lines []string, i int) int {
	start := i
	for i < len(lines) && !strings.HasPrefix(lines[i], "```") {
		i++
	}
	code := strings.Join(lines[start:i], "\n")
	b.WriteString(`<div class="sample" data-copy><pre tabindex="0"><code>`)
	b.WriteString(html.EscapeString(code))
	b.WriteString("</code></pre></div>")
	return i + 1
}

func list(b *strings.Builder, lines []string, i int) int {
	b.WriteString("<ul>")
	for i < len(lines) && strings.HasPrefix(lines[i], "- ") {
		item := []string{lines[i][2:]}
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "  "); i++ {
			item = append(item, strings.TrimSpace(lines[i]))
		}
		b.WriteString("<li>" + inline(strings.Join(item, " ")) + "</li>")
	}
	b.WriteString("</ul>")
	return i
}

func table(b *strings.Builder, lines []string, i int) int {
	b.WriteString(`<div class="table" tabindex="0"><table><thead>`)
	row(b, lines[i], "th")
	b.WriteString("</thead><tbody>")
	for i += 2; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ { // skips the line of dashes
		row(b, lines[i], "td")
	}
	b.WriteString("</tbody></table></div>")
	return i
}

func row(b *strings.Builder, line, cell string) {
	b.WriteString("<tr>")
	for part := range strings.SplitSeq(strings.Trim(line, "| "), "|") {
		b.WriteString("<" + cell + ">" + inline(strings.TrimSpace(part)) + "</" + cell + ">")
	}
	b.WriteString("</tr>")
}

func paragraph(b *strings.Builder, lines []string, i int) int {
	start := i
	for i < len(lines) && strings.TrimSpace(lines[i]) != "" && !strings.HasPrefix(lines[i], "```") &&
		!strings.HasPrefix(lines[i], "- ") && !strings.HasPrefix(lines[i], "|") {
		i++
	}
	b.WriteString("<p>" + inline(strings.Join(lines[start:i], " ")) + "</p>")
	return i
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	link     = regexp.MustCompile(`\[([^\]]+)\]\(((?:https://|#)[^)\s]+)\)`)
)

func inline(text string) string {
	text = html.EscapeString(text)
	text = codeSpan.ReplaceAllString(text, "<code>$1</code>")
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	return link.ReplaceAllString(text, `<a href="$2">$1</a>`)
}
