package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Both processes have the key in their cache when it is revoked: by a partner at the first process, and by the command.
// The bound leaves a busy machine four times the five seconds.
func TestAPIKeys_Revoked_StopInEveryProcessWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := *w
	addr := freePort(t)
	second.environ, second.baseURL = append(append([]string{}, w.environ...), "HTTP_ADDR="+addr), "http://"+addr
	processes := []*process{w.http(t), second.http(t)}
	for by, revoke := range map[string]func(keyID string){
		"the API": func(keyID string) {
			status, body, err := w.api(t).do(http.MethodDelete, "/api-keys/"+keyID, nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusNoContent, status, string(body))
		},
		"the command": func(keyID string) { w.admin(t, &struct{}{}, "key", "revoke", "--id", keyID) },
	} {
		var made struct{ Data struct{ ID, Key string } }
		w.api(t).post("/api-keys", map[string]any{"name": by}, &made)
		answers := func(at *deployment) (int, string) {
			status, body, err := at.api(t).with("X-Api-Key", made.Data.Key).do(http.MethodGet, "/me", nil)
			require.NoError(t, err)
			return status, string(body)
		}
		for _, at := range []*deployment{w, &second} {
			status, body := answers(at)
			require.Equal(t, http.StatusOK, status, body)
		}
		revoke(made.Data.ID)
		for _, at := range []*deployment{w, &second} {
			require.Eventually(t, func() bool {
				status, body := answers(at)
				return status == http.StatusUnauthorized && strings.Contains(body, "api_key_revoked")
			}, 20*time.Second, 50*time.Millisecond, "%s: %s", by, at.baseURL)
		}
		for _, p := range processes {
			require.NotContains(t, p.log.String(), made.Data.Key[len("svc_pk_test_"):])
		}
	}

	var keys struct {
		Keys []struct {
			ID         string
			LastUsedAt *string
		}
	}
	require.Eventually(t, func() bool {
		w.admin(t, &keys, "key", "list", "--partner", "acme")
		return keys.Keys[0].LastUsedAt != nil
	}, soon, 100*time.Millisecond, "the command shows the last use")
}
