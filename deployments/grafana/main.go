// Command grafana writes the JSON files of the Grafana dashboards, from the boards of this package.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"go.yaml.in/yaml/v3"
)

//go:generate go run .

// boards lists the Grafana dashboards in their order; the overview is the first.
var boards = []board{overview, api, delivery, backlog, endpoints, dependencies, business}

func main() {
	for _, b := range boards {
		text, err := b.json()
		must(err)
		must(os.WriteFile(b.path(), text, 0o644)) //nolint:gosec // for every reader
	}
}

func (b board) path() string { return "dashboards/" + strings.TrimPrefix(b.uid, "svc-") + ".json" }

var startOfPanel = regexp.MustCompile(` ?\{"type": "(row|stat|table|timeseries|state-timeline)"`)

// json returns the dashboard in Grafana's JSON, one line for each panel.
func (b board) json() ([]byte, error) {
	raw, err := json.Marshal(b.build())
	if err != nil {
		return nil, err
	}
	text, err := jsontext.AppendFormat(nil, raw, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	return append(startOfPanel.ReplaceAll(text, []byte("\n{\"type\": \"$1\"")), '\n'), err
}

// runbooks returns the name of the runbook page of each alert, which a table shows.
func runbooks() map[string]dashboard.ValueMappingResult {
	paths, err := filepath.Glob("../prometheus/*.alerts.yml")
	must(err)
	books := map[string]dashboard.ValueMappingResult{}
	for _, path := range paths {
		text, err := os.ReadFile(path) //nolint:gosec // the rules of this repository
		must(err)
		var file struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Annotations map[string]string
				}
			}
		}
		must(yaml.Unmarshal(text, &file))
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				page := strings.TrimSuffix(filepath.Base(r.Annotations["runbook_url"]), ".md")
				books[r.Alert] = dashboard.ValueMappingResult{Text: &page}
			}
		}
	}
	return books
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
