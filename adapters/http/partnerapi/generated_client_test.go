package partnerapi_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

const root = "../../.."

// Partners generate their clients from openapi.json. Such a client compiles, and has room for every amount.
func TestDocument_AGeneratedGoClientCompilesAndKeepsAmounts(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	served, err := partnerapi.DocumentJSON(doc, apiBase)
	require.NoError(t, err)
	dir := t.TempDir()
	document, client := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "client.go")
	require.NoError(t, os.WriteFile(document, served, 0o600))

	run(t, "scripts/tools.sh", "oapi-codegen")
	run(t, ".local/bin/oapi-codegen", "-generate", "types,client", "-package", "client", "-o", client, document)
	run(t, "go", "vet", client)
	source, err := os.ReadFile(client)
	require.NoError(t, err)
	require.Contains(t, string(source), "Amount float64 ")
	require.NotContains(t, string(source), "float32")
}

// run runs a command at the root of the repository.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if filepath.Base(name) != name {
		absolute, err := filepath.Abs(filepath.Join(root, name))
		require.NoError(t, err)
		name = absolute
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A reader who replaces the account alone gets a deposit.
func TestDocument_TheSampleOfCreateDepositWorksForAnyAccount(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	sample := doc.Paths.Value("/api/partner/v1/deposits").Post.RequestBody.Value.Content.Get("application/json").Example.(map[string]any)
	body := maps.Clone(sample)
	body["accountId"] = account
	c.post("/deposits", body).ok(201)
}
