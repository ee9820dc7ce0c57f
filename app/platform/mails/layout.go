package mails

import (
	"html/template"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/oneline"
	ports "partnerdeposits/ports/platform"
)

// letter is the content of a mail in a language. Each text becomes a single line, so that a name chosen by another
// person begins no line or header.
type letter struct {
	subject string
	// The headline of a mail's HTML; with "", the subject is used.
	heading    string
	paragraphs []string
	facts      []fact
	button     button
	after      []string // The paragraphs below the table and button of a mail.
	why        string   // The sentence about why the reader gets the mail.
	// secret reports whether the footer warns not to pass the mail on, because of a secret link.
	secret bool
}

// fact is a line of a mail's table; without a value it is left out.
type fact struct{ Name, Value string }

// button leads to a page of the service; without a URL, the mail has none.
type button struct{ Label, URL string }

// write makes the text and HTML of a mail: French for fr, English for every other locale, both for "".
func write(mailID id.ID, to, locale string, now time.Time, in func(*language) letter) ports.Mail {
	var subjects, texts, parts []string
	languages := languagesOf(locale)
	for _, l := range languages {
		content := in(l)
		content.clean()
		if subject := content.subject; len(subjects) == 0 || subjects[0] != subject {
			subjects = append(subjects, subject)
		}
		texts = append(texts, content.text(l))
		parts = append(parts, content.html(l))
	}
	subject := strings.Join(subjects, " / ")
	return ports.Mail{
		ID: mailID, To: to, CreatedAt: now, Subject: subject,
		Body: strings.Join(texts, "\n\n* * *\n\n"), HTML: page(languages[0], subject, parts),
	}
}

// clean makes each text of a letter a single line and drops empty ones.
func (c *letter) clean() {
	if c.heading == "" {
		c.heading = c.subject
	}
	for _, text := range []*string{&c.subject, &c.heading, &c.why, &c.button.Label, &c.button.URL} {
		*text = oneline.Clean(*text)
	}
	c.paragraphs, c.after = lines(c.paragraphs), lines(c.after)
	var facts []fact
	for _, f := range c.facts {
		if f.Value != "" {
			facts = append(facts, fact{oneline.Clean(f.Name), oneline.Clean(f.Value)})
		}
	}
	c.facts = facts
}

// lines returns the non-empty texts, each as a single line.
func lines(texts []string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, oneline.Clean(text))
		}
	}
	return out
}

func (c *letter) text(l *language) string {
	parts := []string{l.greeting}
	parts = append(parts, c.paragraphs...)
	if len(c.facts) > 0 {
		rows := make([]string, 0, len(c.facts))
		for _, f := range c.facts {
			rows = append(rows, "  "+f.Name+l.colon+" "+f.Value)
		}
		parts = append(parts, strings.Join(rows, "\n"))
	}
	if c.button.URL != "" {
		parts = append(parts, c.button.Label+l.colon+"\n"+c.button.URL)
	}
	parts = append(parts, c.after...)
	foot := []string{"--", l.brand}
	for _, line := range []string{c.why, c.warning(l)} {
		if line != "" {
			foot = append(foot, line)
		}
	}
	return strings.Join(append(parts, strings.Join(foot, "\n")), "\n\n") + "\n"
}

func (c *letter) warning(l *language) string {
	if !c.secret {
		return ""
	}
	return l.warning
}

// html returns a letter as a part of the HTML page.
func (c *letter) html(l *language) string {
	return execute(letterHTML, struct {
		Lang, Brand, Heading, Greeting, Fallback, Why, Warning string
		Paragraphs, After                                      []string
		Facts                                                  []fact
		Button                                                 button
	}{l.tag, l.brand, c.heading, l.greeting, l.fallback, c.why, c.warning(l), c.paragraphs, c.after, c.facts, c.button})
}

func page(l *language, title string, parts []string) string {
	escaped := make([]template.HTML, len(parts))
	for i, part := range parts {
		escaped[i] = template.HTML(part) //nolint:gosec // html/template made the part
	}
	return execute(pageHTML, struct {
		Lang, Title string
		Parts       []template.HTML
	}{l.tag, title, escaped})
}

// execute fills an HTML template, which escapes every value.
func execute(t *template.Template, values any) string {
	var b strings.Builder
	// The template is in this package and is written to memory, so no error occurs.
	if err := t.Execute(&b, values); err != nil {
		panic("mails: " + err.Error())
	}
	return b.String()
}

// Mails load nothing, so that their opening cannot be tracked. Tables and inline styles work in all mail programs;
// the style element only adds what a program may omit.
var (
	pageHTML = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="{{.Lang}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; }
@media (max-width: 480px) {
.fact { display: block !important; text-align: left !important; }
.value { padding-top: 0 !important; border-top: 0 !important; }
}
@media (prefers-color-scheme: dark) {
.ground { background: #131917 !important; }
.card { background: #1c2422 !important; border-color: #36413e !important; }
.ink { color: #eaf0ee !important; }
.soft { color: #a5b2ae !important; }
.line { border-color: #36413e !important; }
.mark { background: #5eead4 !important; }
.button { background: #5eead4 !important; color: #06302b !important; }
.link { color: #5eead4 !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f5f6f4">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f5f6f4"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px">
{{range .Parts}}{{.}}{{end}}</table>
</td></tr></table>
</body>
</html>
`))

	letterHTML = template.Must(
		template.New("letter").Parse(
			`<tr><td lang="{{.Lang}}" style="padding:0 0 24px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;text-align:left">
<p class="ink" style="margin:0 0 12px;padding:0 4px;font-weight:700;color:#1b2422"><span class="mark" aria-hidden="true" style="display:inline-block;width:12px;height:14px;margin:0 8px -1px 0;background:#0f766e;border-radius:3px 3px 7px 7px"></span>{{.Brand}}</p>
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#ffffff;border:1px solid #d5dbd8;border-radius:12px"><tr><td style="padding:28px 24px">
<h1 class="ink" style="margin:0 0 16px;font-size:22px;line-height:1.3;color:#1b2422">{{.Heading}}</h1>
<p class="ink" style="margin:0 0 16px;color:#1b2422">{{.Greeting}}</p>
{{range .Paragraphs}}<p class="ink" style="margin:0 0 16px;color:#1b2422">{{.}}</p>
{{end}}{{if .Facts}}<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px;border-collapse:collapse">
{{range .Facts}}<tr><th scope="row" class="soft line fact" style="padding:8px 16px 8px 0;border-top:1px solid #d5dbd8;font-weight:400;text-align:left;vertical-align:top;color:#55615e">{{.Name}}</th><td class="ink line fact value" style="padding:8px 0;border-top:1px solid #d5dbd8;text-align:right;vertical-align:top;color:#1b2422;overflow-wrap:anywhere">{{.Value}}</td></tr>
{{end}}</table>
{{end}}{{with .Button}}{{if .URL}}<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 20px"><tr><td class="button" style="background:#0f766e;border-radius:8px"><a class="button" href="{{.URL}}" style="display:inline-block;padding:12px 22px;font-weight:600;color:#ffffff;background:#0f766e;border-radius:8px;text-decoration:none">{{.Label}}</a></td></tr></table>
{{end}}{{end}}{{range .After}}<p class="ink" style="margin:0 0 16px;color:#1b2422">{{.}}</p>
{{end}}{{if .Button.URL}}<p class="soft" style="margin:0;font-size:14px;color:#55615e">{{.Fallback}}<br><span style="overflow-wrap:anywhere;word-break:break-all">{{.Button.URL}}</span></p>
{{end}}</td></tr></table>
<p class="soft" style="margin:12px 0 0;padding:0 4px;font-size:14px;color:#55615e">{{.Why}}{{with .Warning}} {{.}}{{end}}</p>
</td></tr>
`))
)
