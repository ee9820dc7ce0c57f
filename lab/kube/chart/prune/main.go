// Command prune writes testdata/kubernetes.schema.json anew: JSON Schemas of the kinds that the chart renders. It cuts
// them out of the OpenAPI documents of Kubernetes, and out of the CustomResourceDefinitions of the Prometheus operator
// and of the Gateway API, which their Go modules hold:
//
//	go run ./chart/prune >chart/testdata/kubernetes.schema.json
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	kubernetes = "k8s.io/kubernetes@v1.34.1 api/openapi-spec/v3"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0 example/prometheus-operator-crd"
	gateway    = "sigs.k8s.io/gateway-api@v1.4.1 config/crd/standard"
)

// kinds gives, for each apiVersion/kind, the module with the folder, the file, and for a kind of Kubernetes its name in
// that file.
var kinds = map[string][3]string{
	"apps/v1/Deployment":                     {kubernetes, "apis__apps__v1_openapi.json", "apps.v1.Deployment"},
	"autoscaling/v2/HorizontalPodAutoscaler": {kubernetes, "apis__autoscaling__v2_openapi.json", "autoscaling.v2.HorizontalPodAutoscaler"},
	"batch/v1/Job":                           {kubernetes, "apis__batch__v1_openapi.json", "batch.v1.Job"},
	"networking.k8s.io/v1/Ingress":           {kubernetes, "apis__networking.k8s.io__v1_openapi.json", "networking.v1.Ingress"},
	"networking.k8s.io/v1/NetworkPolicy":     {kubernetes, "apis__networking.k8s.io__v1_openapi.json", "networking.v1.NetworkPolicy"},
	"policy/v1/PodDisruptionBudget":          {kubernetes, "apis__policy__v1_openapi.json", "policy.v1.PodDisruptionBudget"},
	"v1/ConfigMap":                           {kubernetes, "api__v1_openapi.json", "core.v1.ConfigMap"},
	"v1/Service":                             {kubernetes, "api__v1_openapi.json", "core.v1.Service"},
	"v1/ServiceAccount":                      {kubernetes, "api__v1_openapi.json", "core.v1.ServiceAccount"},

	"monitoring.coreos.com/v1/PodMonitor":     {operator, "monitoring.coreos.com_podmonitors.yaml"},
	"monitoring.coreos.com/v1/PrometheusRule": {operator, "monitoring.coreos.com_prometheusrules.yaml"},
	"gateway.networking.k8s.io/v1/HTTPRoute":  {gateway, "gateway.networking.k8s.io_httproutes.yaml"},
}

const (
	components = "#/components/schemas/"
	metadata   = components + "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

func main() {
	all := pruned{from: map[string]any{}, to: map[string]any{}}
	roots := map[string]any{}
	for kind, where := range kinds {
		name, err := all.read(kind, where)
		if err != nil {
			slog.Error("no schema", "kind", kind, "err", err)
			os.Exit(1)
		}
		roots[kind] = map[string]any{"$ref": components + name}
	}
	schema := map[string]any{"properties": all.cleanEach(roots), "$defs": all.to}
	if err := json.NewEncoder(os.Stdout).Encode(schema); err != nil {
		slog.Error("no schema", "err", err)
		os.Exit(1)
	}
}

// pruned are schemas by name: all that were read, and those that a kind needs.
type pruned struct{ from, to map[string]any }

// read reads the file of a kind, and gives the name of its schema.
func (p pruned) read(kind string, where [3]string) (name string, err error) {
	module, folder, _ := strings.Cut(where[0], " ")
	out, err := exec.Command("go", "mod", "download", "-json", module).Output() // into Go's cache
	var found struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(found.Dir, folder, where[1]))
	if err != nil {
		return "", err
	}
	var document struct {
		Components struct{ Schemas map[string]any }
		Spec       struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		return "", err
	}
	for name, schema := range document.Components.Schemas {
		p.from[name] = schema
	}
	name = "io.k8s.api." + where[2]
	for _, v := range document.Spec.Versions {
		if strings.Contains(kind, "/"+v.Name+"/") {
			name = kind[strings.LastIndex(kind, "/")+1:]
			v.Schema.OpenAPIV3Schema["properties"].(map[string]any)["metadata"] = map[string]any{"$ref": metadata}
			p.from[name] = v.Schema.OpenAPIV3Schema
		}
	}
	if p.from[name] == nil {
		err = fmt.Errorf("%s has no schema %s", where[1], name)
	}
	return name, err
}

// clean gives a schema as JSON Schema: without descriptions and defaults, and with unknown fields refused, as the API
// server refuses them. Schemas that it refers to are added.
func (p pruned) clean(value any) any {
	if list, ok := value.([]any); ok {
		all := make([]any, len(list))
		for i, one := range list {
			all[i] = p.clean(one)
		}
		return all
	}
	from, ok := value.(map[string]any)
	if !ok {
		return value
	}
	if from["x-kubernetes-int-or-string"] == true || from["format"] == "int-or-string" {
		return map[string]any{"type": []string{"integer", "string"}}
	}
	to := map[string]any{}
	fields, _ := from["properties"].(map[string]any)
	if fields != nil {
		to["additionalProperties"] = from["x-kubernetes-preserve-unknown-fields"] == true
	}
	for keyword, below := range from {
		switch keyword {
		case "description", "default":
		case "$ref":
			to[keyword] = p.refer(strings.TrimPrefix(below.(string), components))
		case "properties":
			to[keyword] = p.cleanEach(fields)
		case "allOf", "anyOf", "oneOf": // beside fields, they name some of them, and would refuse the others
			if fields == nil {
				to[keyword] = p.clean(below)
			}
		default:
			if !strings.HasPrefix(keyword, "x-") {
				to[keyword] = p.clean(below)
			}
		}
	}
	return to
}

// cleanEach cleans the schemas of fields, without those that the API server fills in.
func (p pruned) cleanEach(fields map[string]any) map[string]any {
	to := map[string]any{}
	for name, field := range fields {
		if name != "status" && name != "managedFields" {
			to[name] = p.clean(field)
		}
	}
	return to
}

func (p pruned) refer(name string) string {
	if _, there := p.to[name]; !there {
		p.to[name] = true // ends circles
		p.to[name] = p.clean(p.from[name])
	}
	return "#/$defs/" + name
}
