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

// language is a programming language of the code samples, with a tab on the pages.
type language struct {
	Name, Title string
	// Names after a Markdown code fence that select this language's tab, such as js.
	marks []string
}

var languages = []language{
	{"curl", "curl", []string{"sh"}},
	{"php", "PHP", []string{"php"}},
	{"node", "Node", []string{"js"}},
	{"python", "Python", []string{"python"}},
	{"go", "Go", []string{"go"}},
}

// languageOf returns the language for the name after a Markdown code fence, such as js; nil without a tab.
func languageOf(mark string) *language {
	at := slices.IndexFunc(languages, func(l language) bool { return slices.Contains(l.marks, mark) })
	if at < 0 {
		return nil
	}
	return &languages[at]
}

type sample struct {
	Language *language // Programming language of the sample's tab; nil outside of tabs.
	// The file name under which the reader saves the code sample; "" for no file.
	File string
	HTML template.HTML
}

// samplesTemplate renders code samples and tabs, which are radio buttons and work without scripts; assets/docs.js
// remembers the chosen language.
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

// tabs returns HTML with a tab for each language's sample; name tells the group from others on the page.
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

// requestsOf returns the example requests with client libraries, by API operation and language.
func requestsOf(baseURL string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	if err := json.Unmarshal(bytes.ReplaceAll(samples.JSON, []byte("{base_url}"), []byte(baseURL)), &all); err != nil {
		return nil, fmt.Errorf("docs: samples: %w", err)
	}
	return all, nil
}
