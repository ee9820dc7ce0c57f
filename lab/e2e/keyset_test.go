package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const notTheKeyset = "is not the keyset of this database"

// A process with another keyset takes no work, and writes nothing that only this process can read.
func TestKeyset_OfAnotherDatabase_NoProcessIsReady_AndTheDoctorSaysSo(t *testing.T) {
	t.Parallel()
	made := func() string {
		code, stdout, stderr := run(t, nil, "admin", "secrets", "new-keyset")
		require.Zero(t, code, stderr)
		return "SECRETS_KEYSET=" + strings.TrimSpace(stdout)
	}
	w := newWorld(t, made())
	code, stdout, stderr := run(t, w.environ, "admin", "doctor")
	require.Zero(t, code, stdout+stderr)
	require.Regexp(t, `keyset +true +ok: 1 secret, read in`, stdout)
	h := w.http(t)
	w.link(t, "villa-1")
	require.Zero(t, h.stop(t))

	sql := w.database(t)
	count := func(table string) (n int) {
		require.NoError(t, sql.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	require.Equal(t, 1, count("outbox"))
	for name, keyset := range map[string]string{"another": made(), "the built-in one": "SECRETS_KEYSET="} {
		environ := append(w.environ[:len(w.environ):len(w.environ)], keyset)
		wrong := []*process{start(t, "http", environ...), start(t, "dispatcher", environ...)}
		for _, p := range wrong {
			p.awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
				return r.Checks["keyset"] == notTheKeyset && r.Checks["schema"] == "ok"
			})
			code, found := processFindings(t, w.environ, "--process", p.opsURL)
			require.Equal(t, 1, code, name)
			require.Contains(t, found[p.opsURL].Finding, "keyset "+notTheKeyset)
			require.Contains(t, found[p.opsURL].Todo, "SECRETS_KEYSET")
		}
		status, body, err := w.api(t).do(http.MethodPost, "/webhooks",
			map[string]any{"url": "http://127.0.0.1:9/", "events": []string{"deposit.activated"}})
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, status, string(body))
		require.Contains(t, string(body), "service_unavailable")
		require.Zero(t, count("webhook_subscriptions"))
		require.Equal(t, 1, count("outbox"), "nobody relays")
		code, stdout, _ = run(t, environ, "admin", "doctor")
		require.Equal(t, 1, code)
		require.Contains(t, stdout, "SECRETS_KEYSET "+notTheKeyset)
		code, _, stderr = run(t, environ, "admin", "connect-secret", "rotate", "--partner", w.slug, "--yes")
		require.Equal(t, 1, code, stderr)
		require.Contains(t, stderr, notTheKeyset)
		for _, p := range wrong {
			require.Zero(t, p.stop(t))
			require.NotContains(t, p.log.String(), `"level":"ERROR"`)
		}
	}
	w.http(t)
	w.dispatcher(t)
	require.Eventually(t, func() bool { return count("outbox") == 0 }, soon, often)
}
