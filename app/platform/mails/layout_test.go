package mails_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	xhtml "golang.org/x/net/html"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// plain replaces the no-break spaces of a text, which nobody can see in a test.
func plain(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// hostileNames are names that try to begin a header, a line, a link or an element of a mail.
var hostileNames = []string{
	"a\r\nBcc: victim@example.com", "a\n\nhttps://evil.example", "a\u202elive", "a\u2028b", "a\x00b", "\xff",
	"<a href=https://evil.example>x</a>",
	`"><script>alert(1)</script>`, "{{.URL}}", "<img src=x onerror=alert(1)>", "</td></tr></table>", "<!--", "%s%d%!v",
	"javascript:alert(1)", "</style><style>*{display:none}",
}

// requireHarmless fails when a name has become more than words between those of the service.
func requireHarmless(t *testing.T, m ports.Mail, name string) {
	t.Helper()
	require.NotRegexp(t, "[\r\n\u202e\u2028\x00]", m.Subject, "%q", name)
	require.NotRegexp(t, "[\r\u202e\u2028\x00]", m.Body+m.HTML, "%q", name)
	require.NotContains(t, m.Body, "\nBcc:")
	require.NotContains(t, m.Body, "\nhttps://evil.example")
	require.NotContains(t, m.Subject+m.Body+m.HTML, "%!(", "a name is no format: %q", name)
	tree, err := xhtml.Parse(strings.NewReader(m.HTML))
	require.NoError(t, err)
	tables, styles := 0, 0
	for n := range tree.Descendants() {
		if n.Type == xhtml.CommentNode {
			t.Errorf("%q begins a comment", name)
		}
		switch n.Data {
		case "script", "img", "iframe", "object", "svg", "form", "input", "base":
			if n.Type == xhtml.ElementNode {
				t.Errorf("%q makes an element %s", name, n.Data)
			}
		case "style":
			styles++
		case "table":
			tables++
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on"), "%q makes an attribute %s", name, a.Key)
			if a.Key == "href" {
				require.True(t, strings.HasPrefix(a.Val, "https://dash.example/"), "%q leads to %s", name, a.Val)
			}
		}
	}
	require.Equal(t, 1, styles, "%q", name)
	require.GreaterOrEqual(t, tables, 3)
	visible := plain(html.UnescapeString(m.HTML))
	require.Contains(t, visible, "Rental deposits", "what stands around the name is still there: %q", name)
}

func countLinks(page string) int { return strings.Count(page, "<a ") }

func TestLayout_IsAccessibleAndLoadsNothing(t *testing.T) {
	mail := mails.LinkEnded{Operator: ada(""), PartnerName: "Acme", By: connect.RevokedByAdmin,
		DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
	tree, err := xhtml.Parse(strings.NewReader(mail.HTML))
	require.NoError(t, err)
	langs, headings := []string{}, 0
	for n := range tree.Descendants() {
		if n.Type != xhtml.ElementNode {
			continue
		}
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
			require.NotContains(t, []string{"src", "background", "srcset"}, a.Key, "opening a mail tells nobody")
		}
		if lang := attrs["lang"]; lang != "" {
			langs = append(langs, lang)
		}
		switch n.Data {
		case "table":
			require.Equal(t, "presentation", attrs["role"], "a table of the layout is none for a screen reader")
		case "h1":
			headings++
		case "link", "img":
			t.Errorf("the mail loads something: %s", n.Data)
		}
	}
	require.Equal(t, []string{"en", "en", "fr"}, langs, "of the page and of its parts")
	require.Equal(t, 2, headings)
	require.NotContains(t, mail.HTML, "url(")
	require.NotContains(t, mail.HTML, "@import")
	require.Contains(t, mail.HTML, "prefers-color-scheme: dark")
	require.Less(t, len(mail.HTML), 20_000, "mail programs cut long mails")
}

// Each inline colour has a class whose dark colour replaces it, or dark letters would stand on a dark ground.
func TestLayout_EveryColourHasADarkForm(t *testing.T) {
	page := mails.DepositLink(link("en")).Mail(id.ID{1}, now).HTML
	coloured := regexp.MustCompile(`<([a-z0-9]+)([^>]*)style="([^"]*)"`).FindAllStringSubmatch(page, -1)
	require.Greater(t, len(coloured), 10)
	for _, found := range coloured {
		if regexp.MustCompile(`(^|;|-)color:|background:|border[a-z-]*:1px`).MatchString(found[3]) {
			require.Regexp(t, `class="`, found[2], "%s with %s", found[1], found[3])
		}
	}
}
