package chart_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"sigs.k8s.io/yaml"
)

// sets are the sets of values that the chart ships.
var sets = []string{"values-small.yaml", "values-production.yaml"}

// everything are values that render every optional object.
const everything = `
imagePullSecrets: [{name: registry}]
priorityClassName: high
nodeSelector: {disk: fast}
tolerations: [{key: a, operator: Exists}]
affinity: {nodeAffinity: {}}
commonLabels: {team: a}
deploymentAnnotations: {reloader.stakater.com/auto: "true"}
podAnnotations: {a: b}
podLabels: {c: d}
secrets: {from: {DATABASE_DIRECT_URL: {name: db, key: uri}}, files: {db-ca.crt: {name: db-ca, key: ca.crt}}}
serviceAccount: {annotations: {a: b}}
service: {annotations: {a: b}}
http: {autoscaling: {enabled: true}}
dispatcher: {autoscaling: {enabled: true, metric: {matchLabels: {release: demo}}}}
ingress: {enabled: true, className: nginx, annotations: {a: b}, tlsSecret: tls}
httpRoute: {enabled: true, parentRefs: [{name: gateway}], annotations: {a: b}}
networkPolicy:
  enabled: true
  extraEgress: [{to: [{ipBlock: {cidr: 10.1.2.3/32}}], ports: [{protocol: TCP, port: 4318}]}]
monitoring:
  podMonitor: {enabled: true, labels: {a: b}}
  prometheusRule: {enabled: true, labels: {a: b}}
  dashboards: {enabled: true, annotations: {a: b}}
`

func TestLint_FindsNothingButTheMissingIcon(t *testing.T) {
	for _, file := range sets {
		result := lint.RunAll(folder, set(t, file), "deposits")
		for _, message := range result.Messages {
			require.Contains(t, message.Err.Error(), "icon is recommended")
		}
		require.Equal(t, support.InfoSev, result.HighestSeverity)
	}
}

// The golden files hold every object: what makes its pods restricted, the hooks that run the migration first, and more.
// Dashboards and rules are left out: another test compares them with their files.
func TestSets_RenderAsTheGoldenFiles(t *testing.T) {
	for _, file := range sets {
		objects := render(t, "demo", set(t, file))
		var got bytes.Buffer
		for _, object := range objects {
			switch object["kind"] {
			case "PrometheusRule":
				delete(object, "spec")
			case "ConfigMap":
				delete(object, "data")
			}
			text, err := yaml.Marshal(object)
			require.NoError(t, err)
			got.WriteString("---\n")
			got.Write(text)
		}
		golden := filepath.Join("testdata", "golden-"+strings.TrimPrefix(file, "values-"))
		if *update {
			require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String(), "go test ./chart -update mends %s, in lab/kube", golden)
	}
}

// apiSchema validates objects as the API server of Kubernetes 1.34 would: fields that it does not know are refused. The
// file has the kinds that the chart renders, without descriptions, from api/openapi-spec/v3 of k8s.io/kubernetes 1.34.1
// and from the CustomResourceDefinitions of prometheus-operator 0.85.0 and gateway-api 1.4.1. The tool
// openapi2jsonschema makes such schemas.
type apiSchema struct{ byKind map[string]*jsonschema.Schema }

func loadAPISchema(t *testing.T) apiSchema {
	t.Helper()
	text, err := os.ReadFile("testdata/kubernetes.schema.json")
	require.NoError(t, err)
	require.Less(t, len(text), 100_000, "the stored schema is small")
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("kubernetes.json", document))
	all := apiSchema{map[string]*jsonschema.Schema{}}
	for kind := range document.(map[string]any)["properties"].(map[string]any) {
		pointer := strings.ReplaceAll(kind, "/", "~1")
		all.byKind[kind], err = compiler.Compile("kubernetes.json#/properties/" + pointer)
		require.NoError(t, err)
	}
	return all
}

func (s apiSchema) check(t *testing.T, object Object) error {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	schema := s.byKind[object.Kind()]
	require.NotNil(t, schema, "testdata/kubernetes.schema.json has no schema of %s", object.Kind())
	return schema.Validate(value)
}

func TestObjects_FitTheSchemaOfTheAPIServer(t *testing.T) {
	schema := loadAPISchema(t)
	seen := map[string]bool{}
	all := Merge(least(t), parsed(t, everything))
	for _, values := range []Values{set(t, sets[0]), set(t, sets[1]), all} {
		objects := render(t, "demo", values)
		for _, object := range objects {
			seen[object.Kind()] = true
			require.NoError(t, schema.check(t, object), "%s %s", object.Kind(), object.Name())
		}
	}
	for kind := range schema.byKind {
		require.True(t, seen[kind], "%s is rendered", kind)
	}
}

// The schema would find mistakes of every kind.
func TestSchemaOfTheAPIServer_FindsMistakes(t *testing.T) {
	schema := loadAPISchema(t)
	for _, wrong := range []string{
		"{apiVersion: v1, kind: Service, spec: {port: 80}}",
		"{apiVersion: v1, kind: ConfigMap, data: {a: 1}}",
		"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: two, selector: {}, template: {}}}",
		"{apiVersion: apps/v1, kind: Deployment, spec: {template: {}}}",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {rules: [{backendRefs: [{port: 80}]}]}}",
		"{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, spec: {groups: [{rules: [{alert: a}]}]}}",
	} {
		require.Error(t, schema.check(t, Object(parsed(t, wrong))), wrong)
	}
}
