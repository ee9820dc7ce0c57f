package chart

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// Values are those of a chart.
type Values = map[string]any

// Object is a rendered object of Kubernetes.
type Object map[string]any

// Kind is apiVersion and kind, such as apps/v1/Deployment.
func (o Object) Kind() string { return fmt.Sprintf("%s/%s", o["apiVersion"], o["kind"]) }

// Name is metadata.name.
func (o Object) Name() string {
	name, _ := o.At("metadata", "name").(string)
	return name
}

// At is the value under these fields; nil where there is none.
func (o Object) At(path ...string) any {
	var value any = map[string]any(o)
	for _, field := range path {
		fields, _ := value.(map[string]any)
		value = fields[field]
	}
	return value
}

// Dir is the folder of the chart.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../deployments/helm/partnerdeposits")
}

// Read gives the values of a YAML file.
func Read(path string) (Values, error) {
	values, err := common.ReadValuesFile(path)
	return Values(values), err
}

// Merge lays later values over earlier ones, as `helm -f a -f b` does.
func Merge(earlier, later Values) Values { return loader.MergeMaps(earlier, later) }

// Texts renders the templates of the chart as a release in the namespace "deposits", without a cluster.
//
// Returns an error that names wrong values.
func Texts(release string, values Values) (map[string]string, error) {
	return TextsOf(Dir(), release, values, nil)
}

// TextsOf renders the chart of a folder or a package. Templates look objects up in the cluster; nil stands for none.
func TextsOf(path, release string, values Values, cluster engine.ClientProvider) (map[string]string, error) {
	chart, err := loader.Load(path)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: release, Namespace: "deposits", IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(chart, values, options, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	if cluster == nil {
		return engine.Render(chart, all)
	}
	return engine.RenderWithClientProvider(chart, all, cluster)
}

// Render gives the objects of the chart, ordered by kind and name.
func Render(release string, values Values) ([]Object, error) {
	texts, err := Texts(release, values)
	if err != nil {
		return nil, err
	}
	var objects []Object
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasSuffix(path, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+texts[path], "\n---\n") {
			var object Object
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", path, err, document)
			}
			if len(object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	slices.SortFunc(objects, func(a, b Object) int {
		return strings.Compare(a.Kind()+" "+a.Name(), b.Kind()+" "+b.Name())
	})
	return objects, nil
}
