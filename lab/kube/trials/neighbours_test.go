//go:build kube

package trials

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two releases in a namespace have objects of their own, and an end of one leaves the other serving.
func TestReleases_TwoInANamespace_DoNotCollide(t *testing.T) {
	namespace := newNamespace(t)
	blue, green := newRelease(t, namespace, "blue"), newRelease(t, namespace, "green")
	for _, r := range []*release{blue, green} {
		r.values["http"], r.values["dispatcher"] = map[string]any{"replicas": 1}, map[string]any{"replicas": 1}
		r.install()
	}
	ofBlue, ofGreen := blue.newPartner(), green.newPartner()
	ofBlue.requireServing()
	ofGreen.requireServing()
	require.NotEqual(t, ofBlue.account, ofGreen.account)

	_, err := blue.helm("uninstall", blue.name, "--wait", "--timeout="+patience.String())
	require.NoError(t, err)
	ofGreen.requireServing()
	require.Empty(t, blue.pods("http"))
}
