package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// shown are the dashboards of the files, as Grafana's own types read them: no field is unknown, of a wrong type, or
// missing where Grafana would fill it in.
//
//nolint:staticcheck // as in build
func shown(t *testing.T) (all []dashboard.Dashboard) {
	t.Helper()
	grafana := cog.NewRuntime()
	for _, kind := range []variants.PanelcfgConfig{stat.VariantConfig(), statetimeline.VariantConfig(),
		table.VariantConfig(), timeseries.VariantConfig()} {
		grafana.RegisterPanelcfgVariant(kind)
	}
	grafana.RegisterDataqueryVariant(prometheus.VariantConfig())
	for _, b := range boards {
		text, err := os.ReadFile(b.path())
		require.NoError(t, err)
		var strict, d dashboard.Dashboard
		require.Empty(t, strict.UnmarshalJSONStrict(text), b.uid) // an empty list, never nil; it leaves panels out
		require.NoError(t, json.Unmarshal(text, &d))
		require.NoError(t, d.Validate(), b.uid)
		all = append(all, d)
	}
	return all
}

// panelsOf gives the panels of a dashboard, those of collapsed rows included.
//
//nolint:staticcheck // as in build
func panelsOf(d dashboard.Dashboard) (all []dashboard.Panel) {
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			all = append(all, p.RowPanel.Panels...)
		} else {
			all = append(all, *p.Panel)
		}
	}
	return all
}

func queriesOf(p dashboard.Panel) (queries []string) {
	for _, target := range p.Targets {
		queries = append(queries, target.(*prometheus.Dataquery).Expr)
	}
	return queries
}

func TestBoards_AreInTheFilesAsTheirSourcesMakeThem(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("dashboards/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(boards))
	for _, b := range boards {
		want, err := b.json()
		require.NoError(t, err)
		got, err := os.ReadFile(b.path())
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "run go generate ./deployments/grafana")
	}
}

func TestBoards_HaveRowsOfWhichTheFirstIsOpen_AndASharedCrosshair(t *testing.T) {
	t.Parallel()
	for _, d := range shown(t) {
		require.Equal(t, dashboard.DashboardCursorSyncCrosshair, *d.GraphTooltip, *d.Uid)
		var collapsed []bool
		for _, p := range d.Panels {
			if p.RowPanel != nil {
				collapsed = append(collapsed, p.RowPanel.Collapsed)
			}
		}
		require.NotNil(t, d.Panels[0].RowPanel, *d.Uid)
		require.Greater(t, len(collapsed), 1, *d.Uid)
		require.Equal(t, 0, slices.Index(collapsed, false), *d.Uid)
		require.NotContains(t, collapsed[1:], false, *d.Uid)
	}
}

func TestPanels_HaveAnIdAndAPlaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, d := range shown(t) {
		taken, ids := map[string]string{}, map[uint32]bool{}
		for _, p := range panelsOf(d) {
			require.False(t, ids[*p.Id], "%s: %s", *d.Uid, *p.Title)
			ids[*p.Id] = true
			at := p.GridPos
			require.LessOrEqual(t, at.X+at.W, uint32(gridWidth), "%s: %s", *d.Uid, *p.Title)
			for x := range at.W {
				for y := range at.H {
					cell := fmt.Sprint(at.X+x, ",", at.Y+y)
					require.Empty(t, taken[cell], "%s: %s overlaps", *d.Uid, *p.Title)
					taken[cell] = *p.Title
				}
			}
		}
	}
}

// A reader of a value that is orange or red finds the way on, and a panel that has no series while all is well says so.
func TestPanels_WithAThresholdLeadOn_AndThoseThatAreEmptySayWhy(t *testing.T) {
	t.Parallel()
	uids, bounded := map[string]bool{}, 0
	all := shown(t)
	for _, d := range all {
		uids["/d/"+*d.Uid] = true
	}
	for _, d := range all {
		for _, p := range panelsOf(d) {
			name := *d.Uid + ": " + *p.Title
			defaults := p.FieldConfig.Defaults
			if defaults.Thresholds != nil || len(defaults.Mappings) > 0 ||
				p.Type == "table" && len(p.FieldConfig.Overrides) > 0 {
				require.NotEmpty(t, p.Links, name)
				bounded++
			}
			for _, l := range p.Links {
				page, isPage := strings.CutPrefix(*l.Url, "${repository}/")
				if !isPage {
					require.True(t, uids[*l.Url], "%s leads to %s", name, *l.Url)
					continue
				}
				page, heading, hasHeading := strings.Cut(page, "#")
				slug := strings.ToLower(strings.NewReplacer(" ", "-", "?", "").Replace(docstest.ReadFile(t, page)))
				require.True(t, !hasHeading || strings.Contains(slug, "#-"+heading+"\n"), "%s leads to %s", name, *l.Url)
			}
			for _, query := range queriesOf(p) {
				if strings.HasSuffix(query, "== 0") || strings.HasSuffix(query, "> 0") || strings.Contains(query, "ALERTS{") {
					require.NotNil(t, defaults.NoValue, name)
				}
			}
		}
	}
	require.Greater(t, bounded, 40)
}

// faults are signs of faults that a reader sees on the first screen, as series of its queries.
var faults = []string{"svc_http_requests_in_flight", `svc_http_requests_total{surface="partner_api",code=~"5.."}`,
	`svc_webhook_attempts_total{result="success"}`, "svc_outbox_oldest_age_seconds and on",
	"svc_webhook_oldest_due_age_seconds and on", "svc_webhook_outbound_broken", "process_open_fds / process_max_fds",
	"svc_clock_skew_seconds", "svc_writes_failing", "svc_log_lines_dropped_total", `svc_webhook_attempts_total{result="secret"}`,
	"svc_rows_unreadable_total", "svc_reading_age_seconds", "svc_ready and min_over_time", `up{job=~"http|dispatcher"}`,
	"sum(rate(svc_http_requests_total", "ALERTS_FOR_STATE"}

func TestOverview_ShowsEachFaultOnTheFirstScreen(t *testing.T) {
	t.Parallel()
	const rowsOfAScreen = 20 // of the grid, on 1080 pixels
	first := boards[0].rows[0]
	var seen strings.Builder
	placed, end := placed(first.panels, 1, 1)
	require.LessOrEqual(t, end, uint32(rowsOfAScreen))
	for _, p := range placed {
		seen.WriteString(strings.Join(queriesOf(p), "\n") + "\n")
		require.NotEmpty(t, p.Links, "a way on from %s", *p.Title)
		require.True(t, p.Type != "stat" || *p.Title == "Throughput" || p.FieldConfig.Defaults.Thresholds != nil, *p.Title)
	}
	for _, fault := range faults {
		require.Contains(t, seen.String(), fault)
	}
}

// TestAlerts_EachLeadsToItsOwnRunbook reads the mapping of the table: a row's name becomes the page of its link.
func TestAlerts_EachLeadsToItsOwnRunbook(t *testing.T) {
	t.Parallel()
	books := runbooks()
	require.Greater(t, len(books), 30)
	index := docstest.ReadFile(t, "docs/runbooks/README.md")
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [a-z]+ \\| \\[.+\\]\\((.+)\\.md\\) \\|$").FindAllStringSubmatch(index, -1)
	require.Len(t, row, len(books))
	text, err := os.ReadFile("dashboards/overview.json")
	require.NoError(t, err)
	require.Contains(t, string(text), `"url": "${repository}/docs/runbooks/${__value.text}.md"`)
	for _, r := range row {
		require.Contains(t, string(text), fmt.Sprintf(`"%s": {"text": "%s"}`, r[1], r[2]))
	}
}

func TestMetrics_EachHasAPanel(t *testing.T) {
	t.Parallel()
	var queries strings.Builder
	for _, d := range shown(t) {
		for _, p := range panelsOf(d) {
			queries.WriteString(strings.Join(queriesOf(p), "\n") + "\n")
		}
	}
	for _, r := range docstest.TableRows(t, "docs/spec/metrics.md", "Names") {
		name, _, _ := strings.Cut(strings.Trim(r[0], "`"), "{")
		require.Contains(t, queries.String(), name)
	}
}

// The amounts of the metrics are cents.
func TestBusiness_ShowsEuros(t *testing.T) {
	t.Parallel()
	shownInEuros := 0
	for _, d := range shown(t) {
		for _, p := range panelsOf(d) {
			for _, query := range queriesOf(p) {
				if strings.Contains(query, "_cents_") {
					require.Equal(t, euros, *p.FieldConfig.Defaults.Unit, *p.Title)
					require.True(t, strings.HasSuffix(query, " / 100"), query)
					shownInEuros++
				}
			}
		}
	}
	require.Equal(t, 2, shownInEuros)
}
