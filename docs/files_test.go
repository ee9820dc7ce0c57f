package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

var (
	headings = regexp.MustCompile(`(?m)^#+ .*$`)
	fences   = regexp.MustCompile("(?ms)^```.*?^```")
)

// files lists the files of the repository with one of these endings, generated code and tools aside.
func files(t *testing.T, endings ...string) (paths []string) {
	t.Helper()
	root := docstest.RepositoryRoot()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (slices.Contains([]string{"bin", "sqlc", "node_modules"}, name) ||
				(strings.HasPrefix(name, ".") && name != ".ci" && name != ".github")) {
				return filepath.SkipDir
			}
			return nil
		}
		generated := strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, ".gen.go")
		if slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) }) && !generated {
			relative, err := filepath.Rel(root, path)
			paths = append(paths, filepath.ToSlash(relative))
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return paths
}
