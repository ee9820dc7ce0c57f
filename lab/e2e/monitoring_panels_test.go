package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// The dashboards of deployments/grafana ask Prometheus for the series of their panels. These tests ask as Grafana does,
// and draw the series. Grafana itself is not needed.

// dashboard is the part of a dashboard that has queries.
type dashboard struct {
	UID, Title, Description string
	Templating              struct{ List []variable }
	Panels                  []panel
}

// variable is a variable of a dashboard. Its query is label_values(selector, label), or the type of a data source.
type variable struct{ Name, Type, Query string }

// panel is a panel with its queries.
type panel struct {
	Title, Type string
	FieldConfig struct {
		Defaults struct {
			Unit, NoValue string
			Thresholds    struct{ Steps []threshold }
		}
	}
	Targets []struct{ Expr, LegendFormat string }
	Panels  []panel // of a collapsed row
}

// threshold is the value from which a panel has a colour; nil: from below.
type threshold struct {
	Color string
	Value *float64
}

// Parts of queries that have no sample while all is well. Their panels say so (noValue).
const (
	aboveZero = " > 0"
	ofAlerts  = "ALERTS{"
)

// unfiltered is the panel with its series that are 0.
func (p panel) unfiltered() panel {
	p.Targets = slices.Clone(p.Targets)
	for i, target := range p.Targets {
		p.Targets[i].Expr = strings.TrimSuffix(target.Expr, aboveZero)
	}
	return p
}

// mayBeEmpty reports whether the panel has no sample while no alert fires.
func (p panel) mayBeEmpty() bool {
	return strings.Contains(p.Targets[0].Expr, ofAlerts)
}

// dashboards reads the dashboards of deployments/grafana, in the order of their files. Rows are left out.
func dashboards(t testing.TB) (all []dashboard) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), dashboardsDir, "*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var d dashboard
		require.NoError(t, json.Unmarshal(content, &d), path)
		var panels []panel
		for _, p := range d.Panels {
			if p.Type != "row" {
				panels = append(panels, p)
			}
			panels = append(panels, p.Panels...)
		}
		d.Panels = panels
		all = append(all, d)
	}
	return all
}

// shownSpan is the time that a dashboard shows.
type shownSpan struct {
	from, to     time.Time
	step         time.Duration
	rateInterval time.Duration // $__rate_interval: four scrapes at least
}

// fill replaces Grafana's variables in a query. Variables of the dashboard have their value for all.
func (d dashboard) fill(expr string, s shownSpan) string {
	pairs := []string{
		"$__rate_interval", inSeconds(s.rateInterval), "$__range", inSeconds(s.to.Sub(s.from)), "$__interval",
		inSeconds(s.step),
	}
	for _, v := range d.Templating.List {
		pairs = append(pairs, "$"+v.Name, ".*", "${"+v.Name+"}", ".*")
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%ds", max(int(d.Seconds()), 1)) }

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// values returns the values that the variable offers.
func (v variable) values(t testing.TB, p prometheus, s shownSpan) (values []string) {
	t.Helper()
	m := labelValues.FindStringSubmatch(v.Query)
	require.NotNil(t, m, "variable %s: not a query for the values of a label: %s", v.Name, v.Query)
	p.ask(t, "label/"+m[2]+"/values", url.Values{"match[]": {m[1]}, "start": {unixTime(s.from)}, "end": {unixTime(s.to)}},
		&values)
	return values
}

// drawnLine is a drawn series.
type drawnLine struct {
	name   string
	at     []time.Time
	values []float64 // without NaN and infinities
}

// lines asks for the series of a panel. A series without a finite sample is left out.
func (d dashboard) lines(t testing.TB, p prometheus, of panel, s shownSpan) (lines []drawnLine) {
	t.Helper()
	for _, target := range of.Targets {
		for _, one := range p.evaluate(t, d.fill(target.Expr, s), s) {
			line := drawnLine{name: legend(target.LegendFormat, one.Metric)}
			for _, sample := range one.Values {
				at, v := sample.read(t)
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					line.at, line.values = append(line.at, at), append(line.values, v)
				}
			}
			if len(line.values) > 0 {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(a, b drawnLine) int { // the greatest first, since legends are short
		return cmp.Or(cmp.Compare(slices.Max(b.values), slices.Max(a.values)), cmp.Compare(a.name, b.name))
	})
	return lines
}

var inLegend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

func legend(format string, labels map[string]string) string {
	return strings.TrimSpace(inLegend.ReplaceAllStringFunc(format, func(m string) string {
		return labels[inLegend.FindStringSubmatch(m)[1]]
	}))
}

func TestPanels_Filled_ReplacesGrafanasVariables(t *testing.T) {
	t.Parallel()
	var d dashboard
	d.Templating.List = []variable{{Name: "event", Type: "query"}}
	from := time.Unix(1000, 0)
	s := shownSpan{from: from, to: from.Add(time.Minute), step: time.Second, rateInterval: 4 * time.Second}
	require.Equal(t, `rate(x{event=~".*"}[4s]) + increase(y[60s])`,
		d.fill(`rate(x{event=~"$event"}[$__rate_interval]) + increase(y[$__range])`, s))
}
