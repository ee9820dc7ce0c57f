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

// language is a tab of samples.
type language struct {
	Name, Title string
	marks       []string // of fenced code
}

// languages are in the order of the tabs.
var languages = []language{
	{"curl", "curl", []string{"sh"}},
	{"php", "PHP", []string{"php"}},
	{"node", "Node", []string{"js"}},
	{"python", "Python", []string{"python"}},
	{"go", "Go", []string{"go"}},
}

// languageOf gives the language that a mark of fenced code stands for, or nil.
func languageOf(mark string) *language {
	at := slices.IndexFunc(languages, func(l language) bool { return slices.Contains(l.marks, mark) })
	if at < 0 {
		return nil
	}
	return &languages[at]
}

// sample is code that a reader copies.
type sample struct {
	Language *language     // nil: has no tab
	File     string        // the name under which the reader saves the code, or ""
	HTML     template.HTML // escaped
}

// The radio buttons work without scripts; assets/docs.js keeps the choice and makes it everywhere at once.
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

// tabs shows a sample of each language under its tab. name tells the group from others on the page.
func tabs(name string, row []sample) template.HTML {
	return executed("tabs", struct {
		Name    string
		Samples []sample
	}{name, row})
}

func executed(name string, data any) template.HTML {
	var b strings.Builder
	if err := samplesTemplate().ExecuteTemplate(&b, name, data); err != nil { // cannot happen: the data fits the template
		panic("docs: " + err.Error())
	}
	return template.HTML(b.String()) //nolint:gosec // made by html/template
}

// requestsOf gives the samples of the libraries, by operation and language.
func requestsOf(baseURL string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	if err := json.Unmarshal(bytes.ReplaceAll(samples.JSON, []byte("{base_url}"), []byte(baseURL)), &all); err != nil {
		return nil, fmt.Errorf("docs: samples: %w", err)
	}
	return all, nil
}
