//go:build kube

package trials

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A single node, whose network enforces no policy, shows of these objects only that the API server takes them: scaling,
// spread and NetworkPolicies of the production set, the gateways, and the objects of the Prometheus operator.
func TestObjects_EveryOption_IsAccepted(t *testing.T) {
	crds, err := filepath.Glob(filepath.Join(cluster.Bin, "crds/*.yaml"))
	require.NoError(t, err)
	require.Len(t, crds, 3)
	for _, crd := range crds {
		kubectl(t, "apply", "--server-side", "--filename="+crd)
	}
	for _, kind := range []string{"podmonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com",
		"httproutes.gateway.networking.k8s.io"} {
		kubectl(t, "wait", "--for=condition=Established", "crd/"+kind, "--timeout="+soon.String())
	}
	r := newRelease(t, newNamespace(t), "every")
	maps.Copy(r.values, map[string]any{
		"networkPolicy": map[string]any{"enabled": true},
		"ingress":       map[string]any{"enabled": true},
		"httpRoute":     map[string]any{"enabled": true, "parentRefs": []any{map[string]any{"name": "gateway"}}},
		"monitoring": map[string]any{"podMonitor": map[string]any{"enabled": true},
			"prometheusRule": map[string]any{"enabled": true}, "dashboards": map[string]any{"enabled": true}},
		"http":       map[string]any{"autoscaling": map[string]any{"enabled": true}},
		"dispatcher": map[string]any{"autoscaling": map[string]any{"enabled": true}},
		"settings": map[string]any{"SERVICE_ENV": "staging", "API_BASE_URL": "https://api.example.com",
			"DASHBOARD_BASE_URL": "https://pay.example.com"},
	})
	text, err := yaml.Marshal(r.values)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	manifest, err := r.helm("template", r.name, chart, "--values="+chart+"/values-production.yaml", "--values="+file,
		"--no-hooks")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
	r.kubectl("apply", "--server-side", "--filename="+file)

	for kind, least := range map[string]int{
		"networkpolicies": 2, "ingresses": 1, "httproutes": 1, "podmonitors": 1, "prometheusrules": 3, "configmaps": 7,
		"horizontalpodautoscalers": 2, "poddisruptionbudgets": 2, "services": 1, "deployments": 2,
	} {
		var list struct{ Items []object }
		require.NoError(t, json.Unmarshal([]byte(r.kubectl("get", kind, "-o", "json",
			"--selector=app.kubernetes.io/instance="+r.name)), &list))
		require.GreaterOrEqual(t, len(list.Items), least, kind)
	}
}
