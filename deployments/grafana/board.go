package main

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// board is a Grafana dashboard, whose rows except the first are collapsed.
type board struct {
	uid, title, description string
	choice                  []dashboard.VariableModel // The dashboard variables that the reader may choose.
	rows                    []row
}

type row struct {
	title  string
	panels []panel
}

// The published repository, with which links to runbooks begin.
const repository = "https://git.invalid/partnerdeposits/main"

// source is the Prometheus data source that a dashboard's reader chooses.
var source = &common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}

// The width of Grafana's grid, in columns.
const gridWidth = 24

//nolint:staticcheck // Grafana 11 reads this model; the one that replaces it needs Grafana 12
func (b board) build() dashboard.Dashboard {
	built := dashboard.Dashboard{
		Uid: &b.uid, Title: &b.title, Description: &b.description, Tags: []string{"partnerdeposits"}, SchemaVersion: 39,
		Version: new(uint32(1)), Editable: new(false), Timezone: new("utc"), Refresh: new("30s"),
		GraphTooltip: new(dashboard.DashboardCursorSyncCrosshair),
		Time:         &dashboard.DashboardDashboardTime{From: "now-6h", To: "now"},
		Links: []dashboard.DashboardLink{{Title: "Partner deposits", Type: dashboard.DashboardLinkTypeDashboards,
			Tags: []string{"partnerdeposits"}, AsDropdown: true, KeepTime: true}},
		Annotations: dashboard.AnnotationContainer{List: []dashboard.AnnotationQuery{{Name: "Alerts", Datasource: source,
			Enable: true, IconColor: "red", Expr: new("ALERTS" + firing), TitleFormat: new("{{alertname}}")}}},
	}
	built.Templating.List = append([]dashboard.VariableModel{
		{Name: "datasource", Label: new("Prometheus"), Type: dashboard.VariableTypeDatasource,
			Query: &dashboard.StringOrMap{String: new("prometheus")}},
		{Name: "repository", Label: new("Where this repository is published"), Type: dashboard.VariableTypeConstant,
			Hide: new(dashboard.VariableHideHideVariable), Query: &dashboard.StringOrMap{String: new(repository)}},
	}, b.choice...)
	var id, y uint32
	for i, r := range b.rows {
		id++
		line := dashboard.RowPanel{Type: "row", Id: id, Title: &r.title, Collapsed: i > 0, Panels: []dashboard.Panel{},
			GridPos: &dashboard.GridPos{Y: y, W: gridWidth, H: 1}}
		panels, end := placed(r.panels, id, y+1)
		id, y = id+uint32(len(panels)), end //nolint:gosec // a few
		// Grafana expects the panels of a collapsed row inside the row, and those of an open row after it.
		if line.Collapsed {
			line.Panels = panels
			panels = nil
		}
		built.Panels = append(built.Panels, dashboard.PanelOrRowPanel{RowPanel: &line})
		for _, p := range panels {
			built.Panels = append(built.Panels, dashboard.PanelOrRowPanel{Panel: &p})
		}
	}
	return built
}

// placed returns a row's panels with ids and positions below y, and the y at which they end.
func placed(panels []panel, id, y uint32) (all []dashboard.Panel, end uint32) {
	var x, height uint32
	for _, p := range panels {
		id++
		at := *p.GridPos
		if x+at.W > gridWidth {
			x, y, height = 0, y+height, 0
		}
		at.X, at.Y = x, y
		x, height = x+at.W, max(height, at.H)
		p.Id, p.GridPos = new(id), &at
		all = append(all, p.Panel)
	}
	return all, y + height
}

// choice returns a dashboard variable with several values of a label.
func choice(name, label, series string) []dashboard.VariableModel {
	return []dashboard.VariableModel{{Name: name, Label: &label, Type: dashboard.VariableTypeQuery, Datasource: source,
		Query:   &dashboard.StringOrMap{String: new("label_values(" + series + ", " + name + ")")},
		Refresh: new(dashboard.VariableRefreshOnTimeRangeChanged), IncludeAll: new(true), Multi: new(true),
		AllValue: new(".*"), Current: &dashboard.VariableOption{Text: dashboard.StringOrArrayOfString{String: new("All")},
			Value: dashboard.StringOrArrayOfString{String: new("$__all")}}}}
}

// link returns a link to a dashboard's uid or to a page below docs.
func link(to string) dashboard.DashboardLink {
	l := dashboard.DashboardLink{Type: dashboard.DashboardLinkTypeLink, Tags: []string{}}
	if board, is := strings.CutPrefix(to, "svc-"); is {
		l.Title, l.Url, l.KeepTime = "Dashboard: "+board, new("/d/"+to), true
		return l
	}
	folder, page, _ := strings.Cut(to, "/")
	page, _, _ = strings.Cut(page, ".md")
	l.Title, l.Url, l.TargetBlank = map[string]string{"runbooks": "Runbook: ", "guides": "Guide: "}[folder]+page,
		new("${repository}/docs/"+to), true
	return l
}
