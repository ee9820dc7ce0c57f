package chart_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// folder is that of the chart.
const folder = "../../../deployments/helm/partnerdeposits"

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

func read(t testing.TB, path string) Values {
	t.Helper()
	values, err := common.ReadValuesFile(path)
	require.NoError(t, err)
	return Values(values)
}

// Merge lays later values over earlier ones, as `helm -f a -f b` does.
func Merge(earlier, later Values) Values { return loader.MergeMaps(earlier, later) }

// Texts renders the templates of the chart as a release in the namespace "deposits", without a cluster. The error names
// wrong values.
func Texts(release string, values Values) (map[string]string, error) {
	return TextsOf(folder, release, values, nil)
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

// render gives the objects of the chart, ordered by kind and name.
func render(t testing.TB, release string, values Values) (objects []Object) {
	t.Helper()
	texts, err := Texts(release, values)
	require.NoError(t, err)
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasSuffix(path, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+texts[path], "\n---\n") {
			var object Object
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &object), "%s:\n%s", path, document)
			if len(object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	slices.SortFunc(objects, func(a, b Object) int {
		return strings.Compare(a.Kind()+" "+a.Name(), b.Kind()+" "+b.Name())
	})
	return objects
}

// least are the values that an installation must give.
func least(t testing.TB) Values {
	t.Helper()
	return read(t, "testdata/values.yaml")
}

// set are the values of a set of the chart, such as values-small.yaml, over the least.
func set(t testing.TB, file string) Values {
	t.Helper()
	return Merge(least(t), read(t, filepath.Join(folder, file)))
}

func parsed(t testing.TB, text string) Values {
	t.Helper()
	values := Values{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return values
}

// rendered are the objects of the release demo; extra are values as YAML over the least.
func rendered(t testing.TB, extra string) []Object {
	t.Helper()
	return render(t, "demo", Merge(least(t), parsed(t, extra)))
}

// find gives the object of this kind and name.
func find(t testing.TB, objects []Object, kind, name string) Object {
	t.Helper()
	for _, object := range objects {
		if object["kind"] == kind && object.Name() == name {
			return object
		}
	}
	require.Fail(t, "not rendered", "%s %s", kind, name)
	return nil
}

// fits turns a value of an object into a shape, for comparisons.
func fits[T any](t testing.TB, value any) T {
	t.Helper()
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	var shape T
	require.NoError(t, yaml.Unmarshal(text, &shape))
	return shape
}
