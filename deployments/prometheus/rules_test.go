// Package prometheus_test holds the rules of Prometheus against the metrics of the processes, their runbooks and
// promtool.
package prometheus_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// rule is an alert or a recorded series.
type rule struct {
	Alert, Record, Expr string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	paths, err := filepath.Glob("*.yml")
	require.NoError(t, err)
	require.Len(t, paths, 5)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct{ Groups []struct{ Rules []rule } }
		require.NoError(t, yaml.Unmarshal(content, &file), path)
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

func TestRules_InEachSituation_FireOrStayQuietAsPromtoolFinds(t *testing.T) {
	if !rarely.MustRun(t, rarely.MonitoringTests) {
		return
	}
	situations, err := filepath.Glob("tests/*.test.yml")
	require.NoError(t, err)
	require.NotEmpty(t, situations)
	for _, args := range [][]string{append([]string{"test", "rules"}, situations...),
		{"check", "config", "../prometheus.yml"}} { // which loads the rules
		out, err := procs.Command(t.Context(), "promtool", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func TestAlerts_EachHasASituationInWhichItFiresAndOneInWhichItIsQuiet(t *testing.T) {
	fires, quiet := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("tests/*.test.yml")
	require.NoError(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct {
			Tests []struct {
				Cases []struct {
					Alert    string `yaml:"alertname"`
					Expected []any  `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
			}
		}
		require.NoError(t, yaml.Unmarshal(content, &file), path)
		for _, test := range file.Tests {
			for _, c := range test.Cases {
				fires[c.Alert] = fires[c.Alert] || len(c.Expected) > 0
				quiet[c.Alert] = quiet[c.Alert] || len(c.Expected) == 0
			}
		}
	}
	for _, r := range rules(t) {
		if r.Alert != "" {
			require.True(t, fires[r.Alert], "%s never fires in a test", r.Alert)
			require.Equal(t, r.Labels["severity"] != heartbeat, quiet[r.Alert], "%s is never quiet in a test", r.Alert)
		}
	}
}

// partners are the metrics that a partner's receiver moves by itself.
var partners = []string{"svc_webhook_deliveries_finished_total", "svc_webhook_delivery_latency_seconds",
	"svc_webhook_attempt_duration_seconds", "svc_webhook_subscriptions"}

// heartbeat is the severity of an alert that always fires.
const heartbeat = "heartbeat"

// surroundings are the runbooks of alerts on what stands around the service, which runs in no test.
var surroundings = []string{"postgres-disk.md"}

// annotation gives what follows the address that an external label of prometheus.yml tells.
func annotation(t *testing.T, r rule, name, label string) string {
	t.Helper()
	rest, absolute := strings.CutPrefix(r.Annotations[name], "{{ $externalLabels."+label+" }}/")
	require.True(t, absolute, "%s: %s is no link", r.Alert, name)
	require.Contains(t, docstest.ReadFile(t, "deployments/prometheus.yml"), "\n    "+label+": http")
	return rest
}

func TestAlerts_HaveASeverityAndARunbook_AndNoPageIsAPartnersDoing(t *testing.T) {
	index := docstest.ReadFile(t, "docs/runbooks/README.md")
	var books []string
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		severity, book := r.Labels["severity"], annotation(t, r, "runbook_url", "repository")
		require.Contains(t, []string{"page", "ticket", heartbeat}, severity, r.Alert)
		uid := strings.TrimPrefix(annotation(t, r, "dashboard_url", "grafana"), "d/")
		dashboard := docstest.ReadFile(t, "deployments/grafana/dashboards/"+strings.TrimPrefix(uid, "svc-")+".json")
		require.Contains(t, dashboard, `"uid": "`+uid+`"`)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.Contains(t, index, "| `"+r.Alert+"` | "+severity+" | ")
		text := docstest.ReadFile(t, book)
		require.Contains(t, text, "`"+r.Alert+"` ("+severity+")", book)
		for _, part := range []string{"## Users feel\n", "## Check\n", "## Fix\n", "## Verify\n"} {
			require.Contains(t, text, part, book)
		}
		followed := "`make test-long`, `TestLong_Runbooks/" + strings.TrimSuffix(filepath.Base(book), ".md") + "`.\n"
		isFollowed := strings.Contains(text, "\nFollowed by: "+followed)
		require.Equal(t, !slices.Contains(surroundings, filepath.Base(book)), isFollowed, book)
		books = append(books, filepath.Base(book), "README.md")
		if severity == "page" {
			for _, name := range partners {
				require.NotContains(t, r.Expr, name, r.Alert)
			}
		}
	}
	there, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "docs/runbooks/*.md"))
	require.NoError(t, err)
	for _, path := range there {
		require.True(t, slices.Contains(books, filepath.Base(path)), "no alert leads to %s", path)
	}
}

// Who is woken reads the summary first: it tells how bad the state is, or which process it is about.
func TestAlerts_SummariesOfCauses_CarryTheState(t *testing.T) {
	content, err := os.ReadFile("causes.alerts.yml")
	require.NoError(t, err)
	summaries := regexp.MustCompile(`summary: (.+)`).FindAllString(string(content), -1)
	require.NotEmpty(t, summaries)
	for _, summary := range summaries {
		require.Regexp(t, `\{\{ (\$value|\$labels\.\w+|with query)`, summary)
	}
}

func TestInhibitions_NameAlerts(t *testing.T) {
	var config struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
		} `yaml:"inhibit_rules"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(docstest.ReadFile(t, "deployments/alertmanager.yml")), &config))
	require.NotEmpty(t, config.Rules)
	matcher := regexp.MustCompile(`^alertname=~?"(.+)"$`)
	for _, inhibition := range config.Rules {
		for _, text := range append(inhibition.Source, inhibition.Target...) {
			parts := matcher.FindStringSubmatch(text)
			require.Len(t, parts, 2, text)
			for name := range strings.SplitSeq(parts[1], "|") {
				whole := regexp.MustCompile("^(?:" + name + ")$")
				require.True(t, slices.ContainsFunc(rules(t), func(r rule) bool { return whole.MatchString(r.Alert) }),
					"no alert is called %s", name)
			}
		}
	}
}
