package chart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/kube/chart"
)

// pod is the part of a pod that the Pod Security Standard "restricted" judges, and its surroundings.
type pod struct {
	AutomountServiceAccountToken  *bool
	HostNetwork, HostPID, HostIPC bool
	TerminationGracePeriodSeconds int
	SecurityContext               struct {
		RunAsNonRoot   bool
		RunAsUser      int
		SeccompProfile struct{ Type string }
	}
	Volumes    []map[string]any
	Containers []struct {
		SecurityContext struct {
			AllowPrivilegeEscalation *bool
			ReadOnlyRootFilesystem   bool
			Capabilities             struct{ Drop, Add []string }
		}
		Resources    struct{ Requests, Limits map[string]string }
		VolumeMounts []struct{ Name, MountPath string }
	}
}

// Every pod fits the Pod Security Standard "restricted", has no token, a read-only root and bounded memory.
func TestPods_AreRestricted(t *testing.T) {
	found := 0
	for _, object := range rendered(t, everything) {
		if object.At("spec", "template") == nil {
			continue
		}
		found++
		p := fits[pod](t, object.At("spec", "template", "spec"))
		require.False(t, *p.AutomountServiceAccountToken)
		require.False(t, p.HostNetwork || p.HostPID || p.HostIPC)
		require.True(t, p.SecurityContext.RunAsNonRoot)
		require.Equal(t, 65532, p.SecurityContext.RunAsUser)
		require.Equal(t, "RuntimeDefault", p.SecurityContext.SeccompProfile.Type)
		require.Len(t, p.Containers, 1)
		c := p.Containers[0]
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
		require.True(t, c.SecurityContext.ReadOnlyRootFilesystem)
		require.Equal(t, []string{"ALL"}, c.SecurityContext.Capabilities.Drop)
		require.Empty(t, c.SecurityContext.Capabilities.Add)
		require.NotEmpty(t, c.Resources.Requests["cpu"])
		require.NotEmpty(t, c.Resources.Limits["memory"])
		for _, volume := range p.Volumes {
			if volume["name"] == "tmp" {
				require.NotEmpty(t, volume["emptyDir"].(map[string]any)["sizeLimit"], "/tmp has a size")
			}
		}
		if object["kind"] == "Deployment" {
			require.GreaterOrEqual(t, p.TerminationGracePeriodSeconds, 40)
			require.Contains(t, fmt.Sprint(c.VolumeMounts), "/tmp")
		}
	}
	require.Equal(t, 3, found, "http, dispatcher and the migration")
}

// A HorizontalPodAutoscaler owns the number of pods: an upgrade must not set it back.
func TestAutoscaling_OwnsTheReplicas(t *testing.T) {
	for _, component := range []string{"http", "dispatcher"} {
		name := "demo-partnerdeposits-" + component
		fixed := find(t, rendered(t, component+": {replicas: 5}"), "Deployment", name)
		require.EqualValues(t, 5, fixed.At("spec", "replicas"))
		objects := rendered(t, component+": {autoscaling: {enabled: true, minReplicas: 3, maxReplicas: 9}}")
		require.Nil(t, find(t, objects, "Deployment", name).At("spec", "replicas"))
		scaler := find(t, objects, "HorizontalPodAutoscaler", name)
		require.EqualValues(t, 9, scaler.At("spec", "maxReplicas"))
		metric := map[string]string{"http": "averageUtilization:70", "dispatcher": "partnerdeposits_webhook_inflight"}
		require.Contains(t, fmt.Sprint(scaler.At("spec", "metrics")), metric[component])
	}
}

// The migration runs before the release changes, and longer than it waits for its lock.
func TestMigration_RunsBeforeTheRelease(t *testing.T) {
	objects := rendered(t, "networkPolicy: {enabled: true}")
	name := "demo-partnerdeposits-migrate"
	job := find(t, objects, "Job", name)
	require.Greater(t, job.At("spec", "activeDeadlineSeconds"), float64(600), "the wait for the lock")
	require.Equal(t, "0", job.At("metadata", "annotations", "helm.sh/hook-weight"))
	for _, kind := range []string{"Job", "ServiceAccount", "NetworkPolicy"} {
		object := find(t, objects, kind, name)
		require.Equal(t, "pre-install,pre-upgrade", object.At("metadata", "annotations", "helm.sh/hook"))
		require.Equal(t, "before-hook-creation,hook-succeeded",
			object.At("metadata", "annotations", "helm.sh/hook-delete-policy"), "a failure keeps its log")
		if kind != "Job" {
			require.Equal(t, "-5", object.At("metadata", "annotations", "helm.sh/hook-weight"), "before the job")
		}
	}
	for _, object := range rendered(t, "migration: {enabled: false}") {
		require.NotEqual(t, "Job", object["kind"])
	}
}

// Both gateways lead the hosts of the origins to http, each host once.
func TestGateways_LeadTheHostsOfTheOrigins(t *testing.T) {
	objects := rendered(t, everything)
	ingress := find(t, objects, "Ingress", "demo-partnerdeposits")
	require.Equal(t, []any{map[string]any{"secretName": "tls", "hosts": []any{"api.example.com", "app.example.com"}}},
		ingress.At("spec", "tls"))
	route := find(t, objects, "HTTPRoute", "demo-partnerdeposits")
	require.Equal(t, []any{"api.example.com", "app.example.com"}, route.At("spec", "hostnames"))
	one := rendered(t, `
settings: {API_BASE_URL: "https://one.example.com", DASHBOARD_BASE_URL: "https://one.example.com/"}
ingress: {enabled: true}`)
	require.Len(t, find(t, one, "Ingress", "demo-partnerdeposits").At("spec", "rules"), 1)
	other := rendered(t, "ingress: {enabled: true, hosts: [deposits.example.com]}")
	require.Contains(t, fmt.Sprint(find(t, other, "Ingress", "demo-partnerdeposits").At("spec", "rules")),
		"host:deposits.example.com")
}

// A digest wins over a tag.
func TestImage_ByDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	objects := rendered(t, "image: {repository: registry.example.com/deposits, tag: v2, digest: '"+digest+"'}")
	require.Contains(t, fmt.Sprint(find(t, objects, "Deployment", "demo-partnerdeposits-http")),
		"image:registry.example.com/deposits@"+digest)
	objects = rendered(t, "image: {tag: v2}")
	require.Contains(t, fmt.Sprint(find(t, objects, "Deployment", "demo-partnerdeposits-http")),
		"image:partnerdeposits:v2")
}

// The notes name the next three commands, and warn of a gateway whose clients would share a limit.
func TestNotes_NameTheNextThreeCommands(t *testing.T) {
	notes := func(extra string) string {
		texts, err := chart.Texts("demo", chart.Merge(least(t), parsed(t, extra)))
		require.NoError(t, err)
		return texts["partnerdeposits/templates/NOTES.txt"]
	}
	plain := notes("{}")
	for _, command := range []string{
		"kubectl -n deposits rollout status deployment -l app.kubernetes.io/instance=demo",
		"kubectl -n deposits exec deployment/demo-partnerdeposits-http -- /admin doctor",
		"kubectl -n deposits exec deployment/demo-partnerdeposits-http -- /admin partner create --slug acme",
		"port-forward service/demo-partnerdeposits-http 8080:80",
	} {
		require.Contains(t, plain, command)
	}
	require.NotContains(t, plain, "TRUSTED_PROXIES")
	require.Contains(t, notes("ingress: {enabled: true}"), "settings.TRUSTED_PROXIES is not set")
	told := notes("{ingress: {enabled: true}, settings: {TRUSTED_PROXIES: 10.0.0.0/8}}")
	require.NotContains(t, told, "TRUSTED_PROXIES")
}
