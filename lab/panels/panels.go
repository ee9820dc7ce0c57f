// Package panels reads the dashboards of deployments/grafana, asks Prometheus for the series of their panels as Grafana does, and
// draws the series. Grafana itself is not needed.
package panels

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Dashboard is the part of a dashboard that has queries.
type Dashboard struct {
	UID, Title, Description string
	Templating              struct{ List []Variable }
	Panels                  []Panel
}

// Variable is a variable of a dashboard. Its query is label_values(selector, label), or the type of a data source.
type Variable struct{ Name, Type, Query string }

// Panel is a panel with its queries.
type Panel struct {
	Title, Type string
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []Target
}

// Target is a query of a panel.
type Target struct{ Expr, LegendFormat string }

// Load reads the dashboards of a directory, in the order of their files.
func Load(dir string) (all []Dashboard, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		content, err := os.ReadFile(path) //nolint:gosec // a file of this repository
		if err != nil {
			return nil, err
		}
		var d Dashboard
		if err := json.Unmarshal(content, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// Span is the time that a dashboard shows.
type Span struct {
	From, To     time.Time
	Step         time.Duration
	RateInterval time.Duration // $__rate_interval: four scrapes at least
}

// Fill replaces Grafana's variables in a query. Variables of the dashboard have their value for all.
func (d Dashboard) Fill(expr string, s Span) string {
	pairs := []string{
		"$__rate_interval", seconds(s.RateInterval), "$__range", seconds(s.To.Sub(s.From)), "$__interval", seconds(s.Step),
	}
	for _, v := range d.Templating.List {
		pairs = append(pairs, "$"+v.Name, ".*", "${"+v.Name+"}", ".*")
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%ds", max(int(d.Seconds()), 1)) }

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// Values returns the values that the variable offers.
func (v Variable) Values(p Prometheus, s Span) ([]string, error) {
	m := labelValues.FindStringSubmatch(v.Query)
	if m == nil {
		return nil, fmt.Errorf("variable %s: not a query for the values of a label: %s", v.Name, v.Query)
	}
	return p.LabelValues(m[1], m[2], s)
}

// Line is a drawn series.
type Line struct {
	Name   string
	At     []time.Time
	Values []float64 // without NaN and infinities
}

// Lines asks for the series of a panel. A series without a finite sample is left out.
func (d Dashboard) Lines(p Prometheus, panel Panel, s Span) (lines []Line, err error) {
	for _, target := range panel.Targets {
		series, err := p.Range(d.Fill(target.Expr, s), s)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", d.Title, panel.Title, err)
		}
		for _, one := range series {
			line := Line{Name: legend(target.LegendFormat, one.Labels)}
			for i, v := range one.Values {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					line.At, line.Values = append(line.At, one.At[i]), append(line.Values, v)
				}
			}
			if len(line.Values) > 0 {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(a, b Line) int { // the greatest first, since legends are short
		return cmp.Or(cmp.Compare(slices.Max(b.Values), slices.Max(a.Values)), cmp.Compare(a.Name, b.Name))
	})
	return lines, nil
}

var inLegend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

func legend(format string, labels map[string]string) string {
	return strings.TrimSpace(inLegend.ReplaceAllStringFunc(format, func(m string) string {
		return labels[inLegend.FindStringSubmatch(m)[1]]
	}))
}
