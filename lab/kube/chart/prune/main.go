// Command prune writes testdata/kubernetes.schema.json anew: JSON Schemas of the kinds that the chart renders. It cuts
// them out of the OpenAPI documents of Kubernetes, and out of the CustomResourceDefinitions of the Prometheus operator
// and of the Gateway API, which their Go modules hold:
//
//	go run ./chart/prune >chart/testdata/kubernetes.schema.json
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	kubernetes = "k8s.io/kubernetes@v1.34.1"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
	gateway    = "sigs.k8s.io/gateway-api@v1.4.1"
)

// kinds gives, for each apiVersion/kind, the module and the file in it that describes the kind.
var kinds = map[string][2]string{
	"apps/v1/Deployment":                     {kubernetes, "apis__apps__v1"},
	"autoscaling/v2/HorizontalPodAutoscaler": {kubernetes, "apis__autoscaling__v2"},
	"batch/v1/Job":                           {kubernetes, "apis__batch__v1"},
	"networking.k8s.io/v1/Ingress":           {kubernetes, "apis__networking.k8s.io__v1"},
	"networking.k8s.io/v1/NetworkPolicy":     {kubernetes, "apis__networking.k8s.io__v1"},
	"policy/v1/PodDisruptionBudget":          {kubernetes, "apis__policy__v1"},
	"v1/ConfigMap":                           {kubernetes, "api__v1"},
	"v1/Service":                             {kubernetes, "api__v1"},
	"v1/ServiceAccount":                      {kubernetes, "api__v1"},

	"monitoring.coreos.com/v1/PodMonitor":     {operator, "monitoring.coreos.com_podmonitors"},
	"monitoring.coreos.com/v1/PrometheusRule": {operator, "monitoring.coreos.com_prometheusrules"},
	"gateway.networking.k8s.io/v1/HTTPRoute":  {gateway, "gateway.networking.k8s.io_httproutes"},
}

// folders names, for each Go module, the folder of its schema files.
var folders = map[string]string{
	kubernetes: "api/openapi-spec/v3",
	operator:   "example/prometheus-operator-crd",
	gateway:    "config/crd/standard",
}

func main() {
	if err := run(); err != nil {
		slog.Error("no schema", "err", err)
		os.Exit(1)
	}
}

func run() error {
	all := pruned{defs: map[string]any{}, kinds: map[string]any{}}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := all.add(kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	text, err := json.Marshal(map[string]any{"$defs": all.defs, "properties": all.kinds})
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}

// pruned are the schemas that were found.
type pruned struct {
	defs  map[string]any // by name
	kinds map[string]any // references to defs by apiVersion/kind
}

func (p pruned) add(kind string) error {
	module, name := kinds[kind][0], kinds[kind][1]
	folder, err := moduleFolder(module)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, folders[module], name)
	parts := strings.Split(kind, "/")
	def := parts[len(parts)-1]
	p.kinds[kind] = map[string]any{"$ref": "#/$defs/" + def}
	if module == kubernetes {
		return p.addBuiltIn(path+"_openapi.json", def, strings.Join(parts[:len(parts)-1], "/"))
	}
	return p.addCustom(path+".yaml", def, parts[1])
}

// moduleFolder downloads a module into Go's cache, if it is not there.
func moduleFolder(module string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	return found.Dir, json.Unmarshal(out, &found)
}

// addBuiltIn adds the schema of a kind of Kubernetes and all schemas that it refers to.
func (p pruned) addBuiltIn(path, kind, apiVersion string) error {
	text, err := os.ReadFile(path) //nolint:gosec // in a module
	if err != nil {
		return err
	}
	var document struct {
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for name, schema := range document.Components.Schemas {
		if strings.HasSuffix(name, "."+kind) && describes(schema, kind, apiVersion) {
			p.defs[kind] = p.clean(schema, document.Components.Schemas)
			return nil
		}
	}
	return errors.New("no such schema in " + path)
}

// describes tells whether a schema is that of a kind in this version.
func describes(schema map[string]any, kind, apiVersion string) bool {
	entries, _ := schema["x-kubernetes-group-version-kind"].([]any)
	for _, entry := range entries {
		gvk, _ := entry.(map[string]any)
		version := strings.TrimPrefix(fmt.Sprintf("%s/%s", gvk["group"], gvk["version"]), "/")
		if gvk["kind"] == kind && version == apiVersion {
			return true
		}
	}
	return false
}

// addCustom adds the schema of a custom resource, with the metadata of Kubernetes.
func (p pruned) addCustom(path, kind, version string) error {
	text, err := os.ReadFile(path) //nolint:gosec // in a module
	if err != nil {
		return err
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == version {
			schema := v.Schema.OpenAPIV3Schema
			schema["properties"].(map[string]any)["metadata"] = map[string]any{
				"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
			}
			p.defs[kind] = p.clean(schema, nil)
			return nil
		}
	}
	return errors.New("no such version in " + path)
}
