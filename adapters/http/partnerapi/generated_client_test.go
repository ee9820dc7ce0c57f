package partnerapi_test

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
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

// The client calls every operation of the document, on the real service.
func TestDocument_AGeneratedGoClientPassesAStory(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	current, legacy := served(t)
	story, err := os.ReadFile("testdata/story/main.go")
	require.NoError(t, err)
	for version, document := range map[string][]byte{"3.1": current, "3.0": legacy} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			require.NoError(t, os.WriteFile(in("openapi.json"), document, 0o600))
			require.NoError(t, os.WriteFile(in("main.go"), story, 0o600))
			run(t, "scripts/tools.sh", "oapi-codegen")
			run(t, ".local/bin/oapi-codegen", "-generate", "types,client", "-package", "main", "-o", in("client.go"),
				in("openapi.json"))
			run(t, "go", "build", "-o", in("story"), in("client.go"), in("main.go"))

			c, account := newStory(t)
			tested := c.dispatch(webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: http.StatusNoContent})
			relayed := c.relayUntilDone()
			run(t, in("story"), c.url, c.key, account)
			require.NoError(t, <-tested)
			relayed()
			called := map[string]bool{}
			for len(c.seen) > 0 {
				o := <-c.seen
				called[o.Method+" "+o.Route] = called[o.Method+" "+o.Route] || o.Status < 300
			}
			for path, item := range doc.Paths.Map() {
				for method := range item.Operations() {
					require.True(t, called[method+" "+strings.NewReplacer("{", ":", "}", "").Replace(path)],
						"the story never called %s %s with success", method, path)
				}
			}
		})
	}
}

// relayUntilDone files events as they come, as a dispatcher does, until stop is called.
func (c *caller) relayUntilDone() (stop func()) {
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				ended <- nil
				return
			case <-tick.C:
			}
			_, _, err := c.work.Relay(c.t.Context(), 500, time.Minute,
				func([]ports.Event, []webhookports.Subscription) []webhookports.Delivery { return nil }, nil)
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		require.NoError(c.t, <-ended)
	})
}

// run runs a command at the root of the repository.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
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
	sample := doc.Paths.Value("/api/partner/v1/deposits").Post.RequestBody.Value.Content.Get(
		"application/json").Example.(map[string]any)
	body := maps.Clone(sample)
	body["accountId"] = account
	c.post("/deposits", body).ok(201)
}
