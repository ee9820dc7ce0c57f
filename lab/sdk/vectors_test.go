package sdk_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/rarely"
)

// vector is a case of sdk/vectors.
type vector struct {
	Name  string         `json:"name"`
	Kind  string         `json:"kind"`
	Input map[string]any `json:"input"`
	Want  map[string]any `json:"want"`
}

func vectorFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sdk(), "vectors", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func readVectors(t testing.TB, file string) (cases []vector) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&cases), file)
	return cases
}

// TestVectors_AreManyAndNamed also holds the number of cases, so that none goes unnoticed.
func TestVectors_AreManyAndNamed(t *testing.T) {
	t.Parallel()
	names, hints := map[string]bool{}, 0
	for _, file := range vectorFiles(t) {
		for _, c := range readVectors(t, file) {
			require.NotEmpty(t, c.Name, file)
			require.False(t, names[file+c.Name], "twice: %s", c.Name)
			names[file+c.Name] = true
			refusal, _ := c.Want["error"].(map[string]any)
			if hint, _ := refusal["hint"].(string); c.Kind == "unwrap" && hint != "" {
				hints++
			}
		}
	}
	require.GreaterOrEqual(t, len(names), 110)
	require.GreaterOrEqual(t, hints, 25, "mistakes whose cause is named")
}

// TestVectors_PassInEveryLanguage runs all cases through each library, and those of webhooks through the file to copy.
func TestVectors_PassInEveryLanguage(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	forEach(t, func(t *testing.T, l language) {
		said, err := l.command(t.Context(), t, sdk(), vectorFiles(t)...).CombinedOutput()
		require.NoError(t, err, string(said))
		require.Regexp(t, `\b0 failed`, string(said))
		if l.name == "go" { // a test of sdk/verify runs them
			return
		}
		said, err = l.command(t.Context(), t, sdk(), append([]string{"--verify"}, vectorFiles(t)...)...).CombinedOutput()
		require.NoError(t, err, string(said))
		require.Regexp(t, `\b0 failed`, string(said))
	})
}

// TestVectors_ThatAreChanged_FailInEveryLanguage changes a case of each kind.
func TestVectors_ThatAreChanged_FailInEveryLanguage(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	forEach(t, func(t *testing.T, l language) {
		changed, kinds := changedVectors(t)
		file := filepath.Join(t.TempDir(), "changed.json")
		content, err := json.Marshal(changed)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, content, 0o600))
		said, err := l.command(t.Context(), t, sdk(), file).CombinedOutput()
		require.Error(t, err)
		for _, kind := range kinds {
			require.Contains(t, string(said), "changed "+kind, "a changed case fails")
		}
	})
}

// changedVectors gives a case of each kind, changed so that the outcome is another.
func changedVectors(t testing.TB) (changed []vector, kinds []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range vectorFiles(t) {
		for _, c := range readVectors(t, file) {
			if _, succeeds := c.Want["value"]; seen[c.Kind] || !succeeds {
				continue
			}
			seen[c.Kind] = true
			kinds = append(kinds, c.Kind)
			c.Name = "changed " + c.Kind
			c.Want = map[string]any{"value": "something else"}
			changed = append(changed, c)
		}
	}
	require.Len(t, kinds, 6, strings.Join(kinds, " "))
	return changed, kinds
}
