package chart_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"partnerdeposits/lab/kube/chart"
)

// least are the values that an installation must give.
func least(t testing.TB) chart.Values {
	t.Helper()
	values, err := chart.Read("testdata/values.yaml")
	require.NoError(t, err)
	return values
}

// set are the values of a set of the chart, such as values-small.yaml, over the least.
func set(t testing.TB, file string) chart.Values {
	t.Helper()
	values, err := chart.Read(chart.Dir() + "/" + file)
	require.NoError(t, err)
	return chart.Merge(least(t), values)
}

func parsed(t testing.TB, text string) chart.Values {
	t.Helper()
	values := chart.Values{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return values
}

// rendered are the objects of the release demo; extra are values as YAML over the least.
func rendered(t testing.TB, extra string) []chart.Object {
	t.Helper()
	objects, err := chart.Render("demo", chart.Merge(least(t), parsed(t, extra)))
	require.NoError(t, err)
	return objects
}

// find gives the object of this kind and name.
func find(t testing.TB, objects []chart.Object, kind, name string) chart.Object {
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
