package chart_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"partnerdeposits/core/secret"
	"partnerdeposits/process/config"
)

type container struct {
	Command []string
	Image   string
	Env     []struct{ Name, Value string }
}

// environment is the env of the container of a Deployment or Job.
func environment(t *testing.T, object Object) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, entry := range fits[[]container](t, object.At("spec", "template", "spec", "containers"))[0].Env {
		require.NotContains(t, all, entry.Name, "%s stands once", entry.Name)
		all[entry.Name] = entry.Value
	}
	return all
}

// TestSettings_ReachBothProcesses compares the environment of the pods of http and dispatcher with .env.example: each
// setting is there with its value, each secret as the path of a file.
func TestSettings_ReachBothProcesses(t *testing.T) {
	example, err := os.ReadFile("../../../.env.example")
	require.NoError(t, err)
	_, secrets := settingsSchema()
	values := read(t, "testdata/settings.yaml")
	objects := render(t, "demo", Merge(least(t), values))
	for _, line := range regexp.MustCompile(`(?m)^[A-Z_]+=`).FindAllString(string(example), -1) {
		name := strings.TrimSuffix(line, "=")
		for _, process := range []string{"http", "dispatcher"} {
			got := environment(t, find(t, objects, "Deployment", "demo-partnerdeposits-"+process))
			switch {
			case name == "DATABASE_DIRECT_URL": // the migration alone needs it
				require.NotContains(t, got, name+"_FILE")
			case slices.Contains(secrets, name):
				require.Equal(t, "/run/secrets/partnerdeposits/"+name, got[name+"_FILE"],
					"testdata/settings.yaml has %s", name)
			default:
				set := values["settings"].(map[string]any)[name]
				require.NotNil(t, set, "testdata/settings.yaml has %s", name)
				if number, ok := set.(float64); ok {
					set = strconv.FormatFloat(number, 'f', -1, 64)
				}
				require.Equal(t, fmt.Sprint(set), got[name], name)
			}
		}
	}
}

// A setting of a process wins, and reaches no other process.
func TestSettings_OfAProcess_Win(t *testing.T) {
	objects := rendered(t, `
settings: {LOG_LEVEL: warn, RATE_LIMIT_PER_MINUTE: 1000000}
http: {settings: {LOG_LEVEL: debug, HTTP_ADDR: ":8181"}}
dispatcher: {settings: {METRICS_ADDR: ":9191"}}`)
	http := find(t, objects, "Deployment", "demo-partnerdeposits-http")
	dispatcher := find(t, objects, "Deployment", "demo-partnerdeposits-dispatcher")
	require.Equal(t, "debug", environment(t, http)["LOG_LEVEL"])
	require.Equal(t, "warn", environment(t, dispatcher)["LOG_LEVEL"])
	require.Equal(t, "1000000", environment(t, http)["RATE_LIMIT_PER_MINUTE"])
	require.Equal(t, "460MiB", environment(t, http)["GOMEMLIMIT"], "90 % of 512 Mi")
	ports := func(o Object) string {
		containers := o.At("spec", "template", "spec", "containers")
		return fmt.Sprint(fits[[]struct{ Ports []struct{ ContainerPort int } }](t, containers))
	}
	require.Equal(t, "[{[{8181} {9090}]}]", ports(http))
	require.Equal(t, "[{[{9191}]}]", ports(dispatcher))
}

// A secret of any setting stands in a file of a Secret that exists, and nowhere else.
func TestSecrets_AreNeverRendered(t *testing.T) {
	objects := rendered(t, `
secrets:
  from:
    DATABASE_URL: {name: app-db, key: uri}
    DATABASE_DIRECT_URL: {name: app-db-direct, key: uri}`)
	for _, object := range objects {
		require.NotEqual(t, "Secret", object["kind"])
	}
	type volume struct {
		Name      string
		Projected struct {
			DefaultMode int
			Sources     []struct {
				Secret struct {
					Name  string
					Items []struct{ Key, Path string }
				}
			}
		}
	}
	files := func(kind, name string) map[string]string {
		found := map[string]string{}
		for _, v := range fits[[]volume](t, find(t, objects, kind, name).At("spec", "template", "spec", "volumes")) {
			for _, source := range v.Projected.Sources {
				require.Equal(t, 0o440, v.Projected.DefaultMode)
				require.Len(t, source.Secret.Items, 1)
				found[source.Secret.Items[0].Path] = source.Secret.Name + "/" + source.Secret.Items[0].Key
			}
		}
		return found
	}
	process := map[string]string{"DATABASE_URL": "app-db/uri", "REDIS_URL": "partnerdeposits/REDIS_URL",
		"SECRETS_KEYSET": "partnerdeposits/SECRETS_KEYSET", "SMTP_URL": "partnerdeposits/SMTP_URL"}
	require.Equal(t, process, files("Deployment", "demo-partnerdeposits-http"))
	require.Equal(t, process, files("Deployment", "demo-partnerdeposits-dispatcher"))
	require.Equal(t, map[string]string{"DATABASE_URL": "app-db/uri", "DATABASE_DIRECT_URL": "app-db-direct/uri",
		"SECRETS_KEYSET": "partnerdeposits/SECRETS_KEYSET"}, files("Job", "demo-partnerdeposits-migrate"),
		"the migration gets the secrets of the database alone")
	migrate := environment(t, find(t, objects, "Job", "demo-partnerdeposits-migrate"))
	require.Subset(t, []string{"SERVICE_ENV", "DATABASE_POOLED", "LOG_LEVEL", "LOG_FORMAT", "DATABASE_URL_FILE",
		"DATABASE_DIRECT_URL_FILE", "SECRETS_KEYSET_FILE"}, slices.Collect(maps.Keys(migrate)))
	require.Contains(t, config.RequiredForDatabase, "DATABASE_URL", "what admin migrate needs")
	require.Len(t, config.RequiredForDatabase, 1)
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if name := field.Tag.Get("env"); field.Type == reflect.TypeFor[secret.Text]() {
			for _, object := range objects {
				text, err := yaml.Marshal(object)
				require.NoError(t, err)
				require.NotRegexp(t, `name: `+name+`\n`, string(text), "no variable has the secret itself")
			}
		}
	}
}

// Two releases in a namespace share no object and no pod.
func TestReleases_DoNotCollide(t *testing.T) {
	values := Merge(least(t), parsed(t, everything))
	one := render(t, "one", values)
	two := render(t, "two", values)
	names := map[string]bool{}
	for _, object := range slices.Concat(one, two) {
		key := object.Kind() + " " + object.Name()
		require.False(t, names[key], key)
		names[key] = true
		require.Equal(t, "deposits", object.At("metadata", "namespace"), key)
		require.LessOrEqual(t, len(object.Name()), 63)
	}
	for _, object := range two {
		for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "podSelector", "matchLabels"},
			{"spec", "selector"}} {
			if labels, ok := object.At(path...).(map[string]any); ok && labels["app.kubernetes.io/name"] != nil {
				require.Equal(t, "two", labels["app.kubernetes.io/instance"])
			}
		}
	}
	long := render(t, strings.Repeat("r", 53), values)
	for _, object := range long {
		if object["kind"] != "ConfigMap" && object["kind"] != "PrometheusRule" {
			require.LessOrEqual(t, len(object.Name()), 63)
		}
	}
}

// Rules and dashboards are those of the folders, byte for byte where it counts.
func TestMonitoring_IsFromTheVeryFiles(t *testing.T) {
	objects := rendered(t, everything)
	rules, err := filepath.Glob("../../../deployments/prometheus/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	for _, path := range rules {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		name := "demo-partnerdeposits-" + strings.TrimSuffix(filepath.Base(path), ".yml")
		rule := find(t, objects, "PrometheusRule", name)
		require.Equal(t, map[string]any(parsed(t, string(text))), rule["spec"], path)
	}
	boards, err := filepath.Glob("../../../deployments/grafana/dashboards/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, boards)
	for _, path := range boards {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		base := filepath.Base(path)
		name := "demo-partnerdeposits-dashboard-" + strings.TrimSuffix(base, ".json")
		shown, _ := find(t, objects, "ConfigMap", name).At("data", "svc-"+base).(string)
		require.Equal(t, strings.TrimSpace(string(text)), strings.TrimSpace(shown))
	}
	for _, file := range []string{"files/dashboards", "files/prometheus"} {
		info, err := os.Lstat(filepath.Join(folder, file))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink, "%s is a link, not a copy", file)
	}
}

// The dispatcher's wall refuses the ranges that the service refuses itself (adapters/webhook/ssrf.go).
func TestNetworkPolicy_ExcludesTheRangesOfTheService(t *testing.T) {
	values := read(t, filepath.Join(folder, "values.yaml"))
	excluded := fits[struct{ IPv4, IPv6 []string }](t, values["networkPolicy"].(map[string]any)["excludedRanges"])
	ipv4, ipv6 := []string{"168.63.129.16/32"}, []string{}
	for _, r := range ssrf.IPv4DeniedPrefixes {
		ipv4 = append(ipv4, r.String())
	}
	for _, r := range ssrf.IPv6DeniedPrefixes {
		ipv6 = append(ipv6, r.String())
	}
	require.ElementsMatch(t, ipv4, excluded.IPv4)
	require.ElementsMatch(t, ipv6, excluded.IPv6)
	check, err := os.ReadFile("../../../adapters/webhook/ssrf.go")
	require.NoError(t, err)
	require.Contains(t, string(check),
		`ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))`)
	require.Equal(t, "2000::/3", ssrf.IPv6GlobalUnicast.String())

	objects := rendered(t, "networkPolicy: {enabled: true, clusterRanges: {ipv4: [34.118.224.0/20]}}")
	for name, ports := range map[string]string{"http": "[{443 TCP}]", "dispatcher": "[{0 TCP}]"} {
		type rule struct {
			To []struct {
				IPBlock struct {
					Cidr   string
					Except []string
				}
			}
			Ports []struct {
				Port     int
				Protocol string
			}
		}
		policy := find(t, objects, "NetworkPolicy", "demo-partnerdeposits-"+name)
		all := fits[[]rule](t, policy.At("spec", "egress"))
		world := all[len(all)-1]
		require.Equal(t, ports, fmt.Sprint(world.Ports))
		require.Equal(t, "0.0.0.0/0", world.To[0].IPBlock.Cidr)
		require.ElementsMatch(t, append(excluded.IPv4, "34.118.224.0/20"), world.To[0].IPBlock.Except)
		require.Equal(t, "2000::/3", world.To[1].IPBlock.Cidr)
		require.ElementsMatch(t, excluded.IPv6, world.To[1].IPBlock.Except)
		require.Equal(t, []any{"Ingress", "Egress"}, policy.At("spec", "policyTypes"))
	}
}
