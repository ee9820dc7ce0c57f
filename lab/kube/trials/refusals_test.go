//go:build kube

package trials

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wrong value is refused by its name, before anything is sent to Kubernetes.
func TestInstall_WrongValue_IsRefusedByName(t *testing.T) {
	r := newRelease(t, newNamespace(t), "wrong")
	before := r.inventory()
	good := r.values
	for _, wrong := range []struct {
		path  string // in the message
		value map[string]any
	}{
		{"replicas", map[string]any{"http": map[string]any{"replicas": "two"}}},
		{"replica", map[string]any{"dispatcher": map[string]any{"replica": 2}}},                        // a typing mistake
		{"REDIS_URL", map[string]any{"settings": map[string]any{"REDIS_URL": "redis://redis:6379/0"}}}, // a secret
	} {
		r.values = maps.Clone(good)
		maps.Copy(r.values, wrong.value)
		require.ErrorContains(t, r.deploy(present), wrong.path)
	}
	require.Equal(t, before, r.inventory())
}

// The pods of the chart run where the same namespace refuses a pod that breaks the standard "restricted".
func TestNamespace_PodThatBreaksRestricted_IsRefused(t *testing.T) {
	namespace := newNamespace(t)
	file := filepath.Join(t.TempDir(), "pod.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`{apiVersion: v1, kind: Pod, metadata: {name: root}, spec: {
		containers: [{name: root, image: "partnerdeposits:next", securityContext: {runAsUser: 0}}]}}`), 0o600))
	_, err := cluster.Kubectl(t.Context(), "--namespace="+namespace, "apply", "--filename="+file)
	require.ErrorContains(t, err, `violates PodSecurity "restricted:latest"`)
	for _, reason := range []string{"allowPrivilegeEscalation", "runAsNonRoot", "seccompProfile"} {
		require.ErrorContains(t, err, reason)
	}
}
