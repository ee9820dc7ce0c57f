package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/procs"
)

// snippet cuts a program out of the guide.
func snippet(t *testing.T, name string) string {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "webhooks.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(guide), "<!-- snippet: "+name+" -->\n```")
	require.True(t, found)
	_, rest, _ = strings.Cut(rest, "\n")
	code, _, found := strings.Cut(rest, "\n```")
	require.True(t, found)
	return code
}

// TestGuide_TheReceiversInItWork runs the receivers that the guide gives to partners. Go is always installed here; the
// other languages are tested where they are installed.
func TestGuide_TheReceiversInItWork(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"go": {"go", "run", "main.go"}, "node": {"node", "main.js"},
		"python": {"python3", "main.py"}} {
		if _, err := exec.LookPath(command[0]); err != nil && name != "go" {
			t.Logf("%s is not on this machine: its receiver was not run", command[0])
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tryReceiver(t, snippet(t, name), command)
		})
	}
}

func tryReceiver(t *testing.T, code string, command []string) {
	t.Helper()
	const key = "svc_whsec_guide"
	dir, addr := t.TempDir(), freePort(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, command[len(command)-1]), []byte(code), 0o600))
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	if command[0] == "go" { // built first, so that the signal at the end reaches the program itself
		build := exec.CommandContext(t.Context(), "go", "build", "-o", "receiver", "main.go")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
		cmd = exec.CommandContext(t.Context(), filepath.Join(dir, "receiver"))
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+key, "PORT="+addr[strings.LastIndexByte(addr, ':')+1:])
	var out procs.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})

	body := []byte(`{"event":"deposit.activated","data":{"note":"é ✔"}}`)
	post := func(timestamp, signature string, body []byte) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/hooks/deposits",
			bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-Svc-Event", "deposit.activated")
		request.Header.Set("X-Svc-Timestamp", timestamp)
		request.Header.Set("X-Svc-Signature", signature)
		response, err := plain.Do(request)
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	now := time.Now()
	timestamp, signature := webhook.Sign(secret.Text(key), body, now)
	require.Eventually(t, func() bool { return post(timestamp, signature, body) == http.StatusOK }, soon, often)
	require.Equal(t, http.StatusOK, post(timestamp, signature, body), "a duplicate")
	require.Equal(t, http.StatusBadRequest, post(timestamp, signature, append(body, ' ')), "another body")
	require.Equal(t, http.StatusBadRequest, post(strconv.FormatInt(now.Unix()+1, 10), signature, body),
		"another timestamp")
	require.Equal(t, http.StatusBadRequest, post(timestamp, "", body), "no signature")
	require.Equal(t, http.StatusBadRequest, post(timestamp, strings.ToUpper(signature), body), "not as it was sent")
	old, oldSignature := webhook.Sign(secret.Text(key), body, now.Add(-310*time.Second))
	require.Equal(t, http.StatusBadRequest, post(old, oldSignature, body), "expired")
	require.Equal(t, 1, strings.Count(out.String(), "deposit.activated {"), "recorded once")
}
