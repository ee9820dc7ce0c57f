package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// Pictures are a part of each clone, so they are few, small and shown.
func TestPictures_AreSmallAndShown(t *testing.T) {
	pictures, err := filepath.Glob("pictures/*")
	require.NoError(t, err)
	require.NotEmpty(t, pictures)
	require.LessOrEqual(t, len(pictures), 20)
	var pages strings.Builder
	for _, path := range append(files(t, ".md"), "README.md") {
		pages.WriteString(docstest.ReadFile(t, path))
	}
	for _, path := range pictures {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(60_000), path)
		require.True(t, strings.Contains(pages.String(), path+")"), "no page shows %s", path)
	}
}
