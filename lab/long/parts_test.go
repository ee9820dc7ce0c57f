package long_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// Every long test has a part, and every part has a long test or a command.
func TestParts_RunEveryLongTest_AndNoOther(t *testing.T) {
	t.Parallel()
	there := map[string]string{} // the parts' folders and patterns
	for line := range strings.Lines(docstest.ReadFile(t, "lab/long/parts.txt")) {
		if part := strings.Fields(line); len(part) > 0 && part[0] != "#" && strings.Contains(line, "-test.run=") {
			pattern, _, _ := strings.Cut(strings.TrimPrefix(part[4], "-test.run="), "/")
			there[part[3]+" "+pattern] = ""
		}
	}
	require.NoError(t, filepath.WalkDir(docstest.RepositoryRoot(), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(docstest.RepositoryRoot(), filepath.Dir(path))
		for _, m := range regexp.MustCompile(`(?m)^func (TestLong_\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			found := false
			for part := range there {
				of, pattern, _ := strings.Cut(part, " ")
				if of == folder && regexp.MustCompile(pattern).MatchString(m[1]) {
					there[part], found = m[1], true
				}
			}
			require.True(t, found, "no part runs %s of %s", m[1], folder)
		}
		return err
	}))
	for part, test := range there {
		require.NotEmpty(t, test, "no test of part %s", part)
	}
}
