package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

var (
	fileBlock = regexp.MustCompile("(?ms)^```(\\w+) (\\S+)\n(.*?)^```$")
	fileLink  = regexp.MustCompile(`(?m)^\[(\S+)\]\(\.\./\.\./(sdk/verify/\S+)\)$`)
)

// filesOf gives the files of a language in the guide, by name: one that it links to, and one that it shows.
func filesOf(t *testing.T, language, ending string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, link := range fileLink.FindAllStringSubmatch(docstest.ReadFile(t, webhooksPage), -1) {
		if filepath.Ext(link[1]) == ending {
			files[link[1]] = docstest.ReadFile(t, link[2])
		}
	}
	for _, block := range fileBlock.FindAllStringSubmatch(docstest.ReadFile(t, webhooksPage), -1) {
		if block[1] == language {
			files[block[2]] = block[3]
		}
	}
	require.Len(t, files, 2)
	return files
}

// TestGuide_TheReceiversInItWork runs the receivers that the guide gives to partners, beside the files to copy.
func TestGuide_TheReceiversInItWork(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	for language, r := range map[string]struct {
		ending  string
		command []string
	}{
		"go": {".go", []string{"./receiver"}}, "js": {".mjs", []string{"node", "receive.mjs"}},
		"python": {".py", []string{"python3", "receive.py"}},
		"php":    {".php", []string{"php", "-S", "127.0.0.1:PORT", "receive.php"}},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			tryReceiver(t, filesOf(t, language, r.ending), r.command)
		})
	}
}

func tryReceiver(t *testing.T, files map[string]string, command []string) {
	t.Helper()
	const key = "svc_whsec_guide"
	dir, addr := t.TempDir(), freePort(t)
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	files["go.mod"] = "module example.com/partner\n\ngo 1.23\n"
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if command[0] == "./receiver" { // built first, so that the signal at the end reaches the program itself
		build := procs.Command(t.Context(), "go", "build", "-o", "receiver", ".")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
		command[0] = filepath.Join(dir, "receiver")
	}
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "PORT", port)
	}
	cmd := procs.Command(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+key, "PORT="+port, "TMPDIR="+dir)
	var out procs.OutputBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	end := sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(func() {
		end()
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
	end() // with the end, all output has arrived
	require.Equal(t, 1, strings.Count(out.String(), "deposit.activated {"), "recorded once")
}
