package main

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// board is a dashboard. Its first row is open, and the others wait for a click.
type board struct {
	uid, title, description string
	choice                  []dashboard.VariableModel // of what the reader may choose
	rows                    []row
}

// row holds panels that stand together.
type row struct {
	title  string
	panels []panel
}

// repository is where this repository is published. Links to runbooks begin with it.
const repository = "https://git.invalid/partnerdeposits/main"

// source is the Prometheus that the reader chooses.
var source = &common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}

// Width of the grid of Grafana, in its columns.
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
		if line.Collapsed {                 // which holds its panels itself
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

// placed gives the panels their ids and their places below y, from the left to the right, and where they end.
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

// choice is a variable with the values that a label has. The reader may choose several.
func choice(name, label, series string) []dashboard.VariableModel {
	return []dashboard.VariableModel{{Name: name, Label: &label, Type: dashboard.VariableTypeQuery, Datasource: source,
		Query:   &dashboard.StringOrMap{String: new("label_values(" + series + ", " + name + ")")},
		Refresh: new(dashboard.VariableRefreshOnTimeRangeChanged), IncludeAll: new(true), Multi: new(true),
		AllValue: new(".*"), Current: &dashboard.VariableOption{Text: dashboard.StringOrArrayOfString{String: new("All")},
			Value: dashboard.StringOrArrayOfString{String: new("$__all")}}}}
}

// link leads to a dashboard, which its uid names, or to a page below docs.
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
