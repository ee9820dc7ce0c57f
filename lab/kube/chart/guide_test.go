package chart_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every block of values in the guide is accepted by the chart, over the least that an installation says.
func TestGuide_ItsValuesRender(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guides/kubernetes.md")
	require.NoError(t, err)
	tried := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(block[1], "apiVersion:") || strings.HasPrefix(block[1], "rules:") {
			continue // objects, and the configuration of an adapter
		}
		tried++
		_, err := Texts("deposits", Merge(least(t), parsed(t, block[1])))
		require.NoError(t, err, block[1])
	}
	require.Equal(t, 6, tried)
}
