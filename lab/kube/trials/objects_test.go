//go:build kube

package trials

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A single node, whose network enforces no policy, shows of these objects only that the API server takes them. Kinds of
// the Prometheus operator and of the Gateway API are not there: package chart compares them with their schemas.
func TestObjects_OfTheProductionSet_AreAccepted(t *testing.T) {
	r := newRelease(t, newNamespace(t), "every")
	manifest, err := r.helm("template", r.name, chart, "--no-hooks", "--values=../chart/testdata/values.yaml",
		"--values="+chart+"/values-production.yaml", "--set=ingress.enabled=true,dispatcher.autoscaling.enabled=true",
		"--set=monitoring.podMonitor.enabled=false,monitoring.prometheusRule.enabled=false")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "objects.yaml")
	require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
	said := r.kubectl("apply", "--server-side", "--dry-run=server", "--filename="+file)
	for _, kind := range []string{"networkpolicy", "ingress", "configmap", "horizontalpodautoscaler",
		"poddisruptionbudget", "service", "deployment"} {
		require.Contains(t, said, kind)
	}
}
