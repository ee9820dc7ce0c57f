package sdk_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// shown are the samples that no test runs, by page and a line of theirs: Debian has no package of Fastify.
var shown = map[string][]string{"docs/guides/start-node.md": {"fastify.register("}}

// applications are programs that tests run. A sample may be a part of one.
var applications = []string{"sdk/php/tests/symfony.php", "sdk/php/tests/laravel.php", "sdk/php/tests/plain.php",
	"sdk/node/test/express.cjs", "sdk/node/test/edge.mjs", "sdk/python/tests/flask_app.py",
	"sdk/python/tests/django_app.py", "sdk/python/tests/fastapi_app.py", "sdk/go/internal/nethttp/main.go"}

// savesFiles are the pages whose files with a name are run, by TestGuide_TheReceiversInItWork,
// TestDocs_ThePagesRunAgainstTheSandbox and TestStart_….
var savesFiles = regexp.MustCompile(`^docs/guides/(webhooks|quickstart|start-\w+)\.md$`)

// TestPages_EverySampleIsRun finds a sample in a partner's language that no test runs. READMEs are run by
// TestReadme_SamplesRun, the samples of the reference by TestSamples_OfEveryOperationRun.
func TestPages_EverySampleIsRun(t *testing.T) {
	t.Parallel()
	var programs []string
	for _, file := range applications {
		programs = append(programs, flat(docstest.ReadFile(t, file)))
	}
	pages, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "docs", "guides", "*.md"))
	require.NoError(t, err)
	seen := 0
	for _, path := range pages {
		page := "docs/guides/" + filepath.Base(path)
		if base := filepath.Base(path); base == "adding.md" || base == "releasing.md" {
			continue // for those who change the service
		}
		exceptions := slices.Clone(shown[page])
		for _, b := range blocksOf(docstest.ReadFile(t, page)) {
			if !slices.Contains([]string{"php", "js", "python", "go", "ts"}, b.language) {
				continue
			}
			seen++
			named := b.file != "" && savesFiles.MatchString(page)
			part := slices.ContainsFunc(programs, func(p string) bool { return strings.Contains(p, flat(b.text)) })
			excepted := slices.IndexFunc(exceptions, func(line string) bool { return strings.Contains(b.text, line) })
			if !named && !part && excepted >= 0 {
				exceptions = slices.Delete(exceptions, excepted, excepted+1)
				continue
			}
			require.True(t, named || part, "%s: no test runs\n%s", page, b.text)
		}
		require.Empty(t, exceptions, "%s has these samples no more, or a test runs them", page)
	}
	require.Greater(t, seen, 20)
}

// flat is a text without its indentation and its empty lines.
func flat(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
