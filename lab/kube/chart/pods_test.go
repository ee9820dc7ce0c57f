package chart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

func TestMigration_CanBeLeftOut(t *testing.T) {
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
		texts, err := Texts("demo", Merge(least(t), parsed(t, extra)))
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
