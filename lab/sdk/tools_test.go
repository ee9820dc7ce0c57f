package sdk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// in runs a command in a folder, and fails the test where the command fails.
func in(t testing.TB, folder string, env []string, argv ...string) string {
	t.Helper()
	cmd := procs.Command(t.Context(), argv[0], argv[1:]...) //nolint:gosec // commands of these tests
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", strings.Join(argv, " "), said)
	return string(said)
}

// TestLibrary_InTheEyesOfItsLanguage runs what a developer of each language runs first.
func TestLibrary_InTheEyesOfItsLanguage(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	forEach(t, func(t *testing.T, l language) {
		folder := filepath.Join(sdk(), l.folder)
		switch l.name {
		case "php":
			files := sources(t, folder, ".php")
			require.NotEmpty(t, files)
			for _, file := range files {
				in(t, folder, nil, "php", "-l", file)
			}
			said := in(t, folder, nil, "phpunit", "-c", ".")
			require.Regexp(t, `OK \(\d+ tests`, said)
		case "node":
			tests, err := filepath.Glob(filepath.Join(folder, "test", "*.test.mjs"))
			require.NoError(t, err)
			said := in(t, folder, []string{"NODE_PATH=/usr/share/nodejs"}, slices.Concat([]string{"node", "--test"}, tests)...)
			require.Regexp(t, `fail 0\b`, said)
			require.NotRegexp(t, `(skipped|todo) [1-9]`, said)
			in(t, folder, nil, "tsc", "--noEmit", "-p", ".")
		case "python":
			cache := t.TempDir()
			in(t, folder, []string{"MYPYPATH=src"}, python, "-m", "mypy", "--strict", "--cache-dir", cache, "src",
				"tests/types_check.py")
			said := in(t, folder, []string{"PYTHONPATH=src", "PYTHONDONTWRITEBYTECODE=1"}, python, "-m", "pytest", "-q",
				"-p", "no:cacheprovider", "tests")
			require.Regexp(t, `\d+ passed`, said)
			require.NotContains(t, said, "skipped")
		case "go":
			in(t, folder, nil, "go", "vet", "./...")
			in(t, folder, nil, "go", "test", "-count=1", "./...") // the cache does not notice files outside of a module
			require.Empty(t, in(t, folder, nil, "gofmt", "-l", "."))
		}
	})
}

// sources lists the files below a folder with an ending.
func sources(t testing.TB, folder, ending string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "vendor") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ending) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

var generated = regexp.MustCompile(`(?m)^.{0,10}Code generated .*DO NOT EDIT\.`)

// TestLibraries_AreSmall holds the bounds of what is written by hand: 1,500 lines for the four libraries together, 60
// for a file to copy.
func TestLibraries_AreSmall(t *testing.T) {
	t.Parallel()
	lines, perLanguage := 0, map[string]int{}
	for folder, endings := range map[string][]string{
		"php/src": {".php"}, "node/src": {".js", ".mjs", ".cjs", ".ts"}, "python/src": {".py"}, "go": {".go"},
	} {
		for _, ending := range endings {
			for _, file := range sources(t, filepath.Join(sdk(), folder), ending) {
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				if generated.Match(content[:min(len(content), 300)]) || strings.HasSuffix(file, "_test.go") ||
					strings.Contains(file, "/internal/") {
					continue
				}
				lines += strings.Count(string(content), "\n")
				perLanguage[folder] += strings.Count(string(content), "\n")
			}
		}
	}
	for _, file := range []string{"php/autoload.php", "node/index.js", "node/index.cjs", "node/index.d.ts"} {
		if content, err := os.ReadFile(filepath.Join(sdk(), file)); err == nil {
			lines += strings.Count(string(content), "\n")
		}
	}
	t.Logf("%d lines by hand: %v", lines, perLanguage)
	require.LessOrEqual(t, lines, 1500)
	require.Greater(t, lines, 600, "the files were found")
	for _, ending := range []string{"php", "mjs", "py", "go"} {
		content, err := os.ReadFile(filepath.Join(sdk(), "verify", "verify."+ending))
		require.NoError(t, err)
		require.LessOrEqual(t, strings.Count(string(content), "\n"), 60, ending)
	}
}

// TestLibraries_HaveOneVersion compares all places that name the version.
func TestLibraries_HaveOneVersion(t *testing.T) {
	t.Parallel()
	version := strings.TrimSpace(docstest.ReadFile(t, "sdk/VERSION"))
	for file, line := range map[string]string{
		"sdk/php/composer.json": `"version": "` + version + `"`, "sdk/node/package.json": `"version": "` + version + `"`,
		"sdk/python/src/partner_deposits/_api.py": `VERSION = "` + version + `"`, // pyproject.toml reads it
	} {
		require.Contains(t, docstest.ReadFile(t, file), line, file)
	}
	require.Contains(t, docstest.ReadSection(t, "sdk/README.md", "Versions"), "**"+version+"**", "what the version has")
	for _, l := range languages() {
		readme := docstest.ReadFile(t, "sdk/"+l.folder+"/README.md")
		require.Contains(t, readme, "No licence has been chosen yet", l.name)
		require.LessOrEqual(t, strings.Count(readme, "\n"), 90, "%s: a README of one screen", l.name)
	}
}
