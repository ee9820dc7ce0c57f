package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"partnerdeposits/sdk/samples"
)

// language is a programming language of the code samples, which has a tab on the documentation pages.
type language struct {
	Name, Title string
	// Names after the fence of a Markdown code block whose code belongs into this language's tab, such as js.
	marks []string
}

// languages lists the languages in the order of the tabs.
var languages = []language{
	{"curl", "curl", []string{"sh"}},
	{"php", "PHP", []string{"php"}},
	{"node", "Node", []string{"js"}},
	{"python", "Python", []string{"python"}},
	{"go", "Go", []string{"go"}},
}

// languageOf returns the programming language for the name after the fence of a Markdown code block, such as js;
// nil for a name without a tab.
func languageOf(mark string) *language {
	at := slices.IndexFunc(languages, func(l language) bool { return slices.Contains(l.marks, mark) })
	if at < 0 {
		return nil
	}
	return &languages[at]
}

// sample is a code sample that a reader can copy.
type sample struct {
	Language *language // Programming language of the sample's tab; nil for a sample outside of tabs.
	// The file name under which the reader saves the code sample, or "" for a sample that is not a file.
	File string
	HTML template.HTML // The code of the sample as escaped HTML.
}

// samplesTemplate renders code samples and their tabs. The tabs are radio buttons, which work without scripts;
// assets/docs.js remembers the chosen language and applies it to all tabs.
var samplesTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("samples").Parse(
		`{{define "figure"}}<div class="sample" data-copy>{{with .File}}<p class="file">{{.}}</p>{{end -}}
<pre tabindex="0"><code>{{.HTML}}</code></pre></div>{{end -}}
{{define "tabs"}}<fieldset class="tabs"><legend class="unseen">Language</legend>{{$name := .Name -}}
{{range $i, $s := .Samples}}<input type="radio" name="{{$name}}" id="{{$name}}-{{.Language.Name}}" ` +
			`value="{{.Language.Name}}"{{if eq $i 0}} checked{{end}}>` +
			`<label for="{{$name}}-{{.Language.Name}}">{{.Language.Title}}</label>{{end -}}
{{range .Samples}}<div class="of-{{.Language.Name}}">{{template "figure" .}}</div>{{end}}</fieldset>{{end}}`))
})

func (s sample) figure() template.HTML { return executed("figure", s) }

// tabs returns HTML that shows a sample of each language under its tab. name distinguishes the group of tabs from
// others on the page.
func tabs(name string, row []sample) template.HTML {
	return executed("tabs", struct {
		Name    string
		Samples []sample
	}{name, row})
}

func executed(name string, data any) template.HTML {
	var b strings.Builder
	if err := samplesTemplate().ExecuteTemplate(&b, name, data); err != nil {
		panic("docs: " + err.Error())
	}
	return template.HTML(b.String()) //nolint:gosec // made by html/template
}

// requestsOf returns the example requests written with the client libraries, by API operation and programming
// language.
func requestsOf(baseURL string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	if err := json.Unmarshal(bytes.ReplaceAll(samples.JSON, []byte("{base_url}"), []byte(baseURL)), &all); err != nil {
		return nil, fmt.Errorf("docs: samples: %w", err)
	}
	return all, nil
}
