package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

type panel struct{ dashboard.Panel }

func newPanel(kind, title, unit string, w, h uint32, queries []prometheus.Dataquery) panel {
	p := panel{Panel: dashboard.Panel{Type: kind, Title: &title, Datasource: source,
		GridPos:     &dashboard.GridPos{W: w, H: h},
		FieldConfig: &dashboard.FieldConfigSource{Overrides: []dashboard.DashboardFieldConfigSourceOverrides{}}}}
	p.FieldConfig.Defaults.Unit = &unit
	for i, query := range queries {
		query.RefId, query.Datasource = new(string(rune('A'+i))), source
		p.Targets = append(p.Targets, &query)
		if strings.HasSuffix(query.Expr, "> 0") || strings.Contains(query.Expr, "ALERTS{") {
			p = p.without("none")
		}
	}
	return p
}

// The units of Grafana panels, by Grafana's names.
const (
	plain   = "none"
	seconds = "s"
	share   = "percentunit"
	events  = "ops"
	calls   = "reqps"
	memory  = "bytes"
	euros   = "currencyEUR"
)

var (
	legend  = common.VizLegendOptions{DisplayMode: "list", Placement: "bottom", ShowLegend: true, Calcs: []string{}}
	tooltip = common.VizTooltipOptions{Mode: "multi", Sort: "desc"}
)

// The patterns of series names and values that are coloured as good, doubtful or bad.
var (
	colours     = map[string]string{"green": good, "orange": doubtful, "red": bad}
	named       = regexp.MustCompile(`^\{\{(code|mode|outcome|result|state)\}\}$`)
	checkStates = map[string]dashboard.ValueMappingResult{"0": in("fails", "red"), "1": in("passes", "green")}
)

const (
	good     = "/^(success|succeeded|sent|healthy|queue|queued|paid|ok|2..)$/"
	doubtful = "/^(slow|held|held back|waiting|retrying|parked|non_2xx|ticket|4..)$/"
	bad      = "/^(failed|disabled|direct|page|connect|dns|tls|timeout|blocked|secret|broken|5..)$/"
)

// graph returns a panel that draws lines over time.
func graph(title, unit string, queries ...prometheus.Dataquery) panel {
	p := newPanel("timeseries", title, unit, 8, 8, queries)
	p.Options = timeseries.Options{Legend: legend, Tooltip: tooltip}
	if unit != share {
		p.FieldConfig.Defaults.Min = new(0.0)
	}
	if named.MatchString(*queries[0].LegendFormat) {
		for _, colour := range []string{"green", "orange", "red"} {
			p = p.override("byRegexp", colours[colour],
				property("color", dashboard.FieldColor{Mode: "fixed", FixedColor: &colour}))
		}
	}
	return p
}

// number returns a panel with present values; a series that has ended is not shown.
func number(title, unit string, queries ...prometheus.Dataquery) panel {
	for i := range queries {
		queries[i].Instant = new(true)
	}
	p := newPanel("stat", title, unit, 4, 4, queries)
	p.Options = stat.Options{ReduceOptions: common.ReduceDataOptions{Calcs: []string{"lastNotNull"}}, ColorMode: "none",
		GraphMode: "none", JustifyMode: "auto", TextMode: "auto", WideLayout: true, PercentChangeColorMode: "standard",
		Orientation: "auto"}
	return p
}

// timeline returns a panel with the times in which checks fail.
func timeline(title string, queries ...prometheus.Dataquery) panel {
	p := newPanel("state-timeline", title, plain, 14, 9, queries)
	p.Options = statetimeline.Options{ShowValue: "never", RowHeight: 0.9, MergeValues: new(true), Legend: legend,
		Tooltip: tooltip}
	return p.mapped(checkStates)
}

// grid returns a table panel; "-" before the sorting column's name means descending.
func grid(title, unit, sorted string, columns []string, queries ...prometheus.Dataquery) panel {
	names, places := map[string]string{}, map[string]int{}
	for i, column := range columns {
		from, to, _ := strings.Cut(column, "=")
		names[from], places[from] = to, i
	}
	for i := range queries {
		queries[i].Instant, queries[i].Format = new(true), new(prometheus.PromQueryFormatTable)
	}
	p := newPanel("table", title, unit, 12, 9, queries)
	column, descending := strings.CutPrefix(sorted, "-")
	p.Options = table.Options{ShowHeader: true,
		SortBy: []common.TableSortByFieldState{{DisplayName: column, Desc: &descending}}}
	p.Transformations = []dashboard.DataTransformerConfig{{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: map[string]any{"excludeByName": map[string]bool{"Time": true}, "renameByName": names,
			"indexByName": places}}}
	return p
}

func q(expr, legend string) prometheus.Dataquery {
	return prometheus.Dataquery{Expr: expr, LegendFormat: &legend}
}

// rates returns a query of events per second by a label, without series that are 0.
func rates(label, series string) prometheus.Dataquery {
	return q(fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval])) > 0", label, series),
		"{{"+strings.ReplaceAll(label, ", ", "}} {{")+"}}")
}

// quantiles returns queries of a histogram's 50th, 95th and 99th percentiles.
func quantiles(buckets string) (queries []prometheus.Dataquery) {
	for _, p := range []int{50, 95, 99} {
		queries = append(queries, q(fmt.Sprintf("histogram_quantile(%v, sum by (le) (rate(%s[$__rate_interval])))",
			float64(p)/100, buckets), fmt.Sprintf("p%d", p)))
	}
	return queries
}

// p95 returns a query of a histogram's 95th percentile by a label.
func p95(label, buckets string) prometheus.Dataquery {
	return q(fmt.Sprintf("histogram_quantile(0.95, sum by (le, %s) (rate(%s[$__rate_interval])))", label, buckets),
		"{{"+label+"}}")
}

// read returns the PromQL of a backlog gauge's greatest value, among processes that measured it within a minute.
func read(gauge string) string {
	return "max(" + gauge + ` and on (job, instance) svc_reading_age_seconds{source="backlog"} < 60)`
}

// readBy returns the PromQL of a backlog gauge's greatest value by a label.
func readBy(label, gauge string) string {
	return strings.Replace(read(gauge), "max(", "max by ("+label+") (", 1)
}

func (p panel) size(w, h uint32) panel {
	p.GridPos = &dashboard.GridPos{W: w, H: h}
	return p
}

func (p panel) says(description string) panel { p.Description = &description; return p }

// without sets the text that a panel shows when its query has no value.
func (p panel) without(words string) panel { p.FieldConfig.Defaults.NoValue = &words; return p }

func (p panel) leads(to ...string) panel {
	for _, one := range to {
		p.Links = append(p.Links, link(one))
	}
	return p
}

func green(from float64) dashboard.Threshold {
	return dashboard.Threshold{Color: "green", Value: &from}
}
func orange(from float64) dashboard.Threshold {
	return dashboard.Threshold{Color: "orange", Value: &from}
}
func red(from float64) dashboard.Threshold { return dashboard.Threshold{Color: "red", Value: &from} }

// rises colours a panel whose high values are bad, each colour from its bound on; to explains the colours.
func (p panel) rises(to string, bounds ...dashboard.Threshold) panel {
	return p.bounds(to, "green", bounds)
}

// falls colours a panel whose low values are bad, each colour from its bound on, red below the first.
func (p panel) falls(to string, bounds ...dashboard.Threshold) panel {
	return p.bounds(to, "red", bounds)
}

func (p panel) bounds(to, first string, bounds []dashboard.Threshold) panel {
	p.FieldConfig.Defaults.Thresholds = steps(first, bounds)
	switch options := p.Options.(type) {
	case timeseries.Options:
		p.FieldConfig.Defaults.Custom = common.GraphFieldConfig{
			ThresholdsStyle: &common.GraphThresholdsStyleConfig{Mode: "dashed"}}
	case stat.Options:
		options.ColorMode = "background"
		p.Options = options
	}
	return p.leads(to)
}

func steps(first string, bounds []dashboard.Threshold) *dashboard.ThresholdsConfig {
	return &dashboard.ThresholdsConfig{Mode: "absolute", Steps: append([]dashboard.Threshold{{Color: first}}, bounds...)}
}

func in(text, colour string) dashboard.ValueMappingResult {
	return dashboard.ValueMappingResult{Text: &text, Color: &colour}
}

func mapping(states map[string]dashboard.ValueMappingResult) []dashboard.ValueMapping {
	return []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: "value", Options: states}}}
}

func (p panel) mapped(states map[string]dashboard.ValueMappingResult) panel {
	p.FieldConfig.Defaults.Mappings = mapping(states)
	return p
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

// inColour colours the text of a table's column by its bounds or mappings.
var inColour = property("custom.cellOptions", map[string]string{"type": "color-text"})

// column sets properties of a table's column or a series by name.
func (p panel) column(name string, properties ...dashboard.DynamicConfigValue) panel {
	return p.override("byName", name, properties...)
}

func (p panel) override(by, what string, properties ...dashboard.DynamicConfigValue) panel {
	p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: by, Options: what}, Properties: properties})
	return p
}
