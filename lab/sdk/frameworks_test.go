package sdk_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// TestFramework_ReadsTheRawBody lets a small application in each framework verify a real delivery, and refuse a changed
// one.
func TestFramework_ReadsTheRawBody(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	for name, argv := range map[string][]string{
		"symfony": {"php", "-d", "error_log=/dev/stderr", "-S", "127.0.0.1:PORT", "php/tests/symfony.php"},
		"laravel": {"php", "-d", "error_log=/dev/stderr", "-S", "127.0.0.1:PORT", "php/tests/laravel.php"},
		"express": {"node", "node/test/express.cjs"},
		"flask":   {python, "python/tests/flask_app.py"},
		"django":  {python, "python/tests/django_app.py"},
		"fastapi": {python, "python/tests/fastapi_app.py"},
		"nethttp": {"go/nethttp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, err := backing.FreePort()
			require.NoError(t, err)
			address := "127.0.0.1:" + strconv.Itoa(port)
			f := newPartner(t)
			d := languages()[0].serve(t, f.APIBaseURL, f.APIKey)
			var webhook struct{ ID, Secret string }
			url := "http://" + address + "/hooks/deposits"
			d.must(&webhook, "webhooks.create", object{"url": url, "events": []string{"deposit.activated"}})

			said := startApp(t, argv, address, webhook.Secret)
			var sent struct{ Status string }
			d.must(&sent, "webhooks.test", webhook.ID)
			require.Equal(t, "succeeded", sent.Status, said.String())
			require.Eventually(t, func() bool { return strings.Contains(said.String(), "verified deposit.activated") },
				soon, often, said)
			status, reason := forge(t, url)
			require.Equal(t, http.StatusBadRequest, status)
			require.Contains(t, reason, "mismatch")
			d.must(nil, "webhooks.delete", webhook.ID)
		})
	}
}

// startApp runs an application of sdk/ at an address until the test ends, and gives its output.
func startApp(t *testing.T, argv []string, address, secret string) *procs.OutputBuffer {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	argv = append([]string{}, argv...)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "PORT", port)
	}
	if argv[0] == "go/nethttp" {
		argv[0] = filepath.Join(t.TempDir(), "nethttp")
		in(t, filepath.Join(sdk(), "go"), nil, "go", "build", "-o", argv[0], "./internal/nethttp")
	}
	cmd := procs.Command(t.Context(), argv[0], argv[1:]...) //nolint:gosec // programs of this repository
	said := &procs.OutputBuffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = sdk(), said, said
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET="+secret, "PYTHONPATH=python/src",
		"PYTHONDONTWRITEBYTECODE=1", "NODE_PATH=/usr/share/nodejs")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, soon, often, said)
	return said
}

// forge posts a delivery that nobody has signed.
func forge(t testing.TB, url string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
		strings.NewReader(`{"event":"deposit.activated","id":"`+uuid.NewString()+`"}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Svc-Timestamp", "1795224163")
	request.Header.Set("X-Svc-Signature", "sha256="+strings.Repeat("0", 64))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}
