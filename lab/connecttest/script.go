package connecttest

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// RequireNoForeignScript fails the test unless a page has at most the script of the copy buttons, and a
// Content-Security-Policy that allows no other.
func (a Answer) RequireNoForeignScript(t testing.TB, what string) {
	t.Helper()
	policy := a.Header.Get("Content-Security-Policy")
	scripts := a.ElementsByTag("script")
	if len(scripts) == 0 {
		require.NotContains(t, policy, "script-src", what)
		return
	}
	require.Len(t, scripts, 1, what)
	require.Empty(t, scripts[0].Attr, what)
	ours, err := os.ReadFile(filepath.Join(docstest.RepositoryRoot(), "adapters", "http", "ui", "assets", "copy.js"))
	require.NoError(t, err)
	require.Equal(t, string(ours), scripts[0].FirstChild.Data, what)
	hash := sha256.Sum256(ours)
	allowed := "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	rest, found := strings.CutSuffix(policy, allowed)
	require.True(t, found, "%s: %s", what, policy)
	require.NotContains(t, rest, "script-src", what)
}
