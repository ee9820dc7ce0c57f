//go:build long

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestLong_Keyset_RotatedWhileServing_FailsLosesAndRepeatsNothing follows docs/guides/operations.md, "Rotating the
// keyset", under a mixed load.
func TestLong_Keyset_RotatedWhileServing_FailsLosesAndRepeatsNothing(t *testing.T) {
	keyset := func(environ []string, command string) (made string) {
		code, stdout, stderr := run(t, environ, "admin", "secrets", command)
		require.Zero(t, code, stderr)
		return strings.TrimSpace(stdout)
	}
	old := "SECRETS_KEYSET=" + keyset(nil, "new-keyset")
	added := "SECRETS_KEYSET=" + keyset([]string{old}, "add-key")
	used := "SECRETS_KEYSET=" + keyset([]string{added}, "use-key")
	w := newWorld(t, append(rolling, old)...)
	f, r, late := w.fleet(t), newReceiver(t), newReceiver(t)
	w.subscribe(t, r, "deposit.activated", "deposit.captured")
	account := w.link(t, "villa-1")
	f.behindProxy(t)
	l := w.loadOf(account, mixedPerSecond, mixed)

	with := func(keyset string) func(*member) {
		return func(m *member) { m.environ = append(m.environ, keyset) } // the last of a name counts
	}
	f.roll(t, l, 40, with(added))
	for i, name := range []string{"first", "second"} {
		f.replace(t, l, 40, f.https[i], with(used))
		awaitUp(t, f.proxy, name)
	}
	w.subscribe(t, late, "deposit.activated") // sealed with the new key, for dispatchers that do not use it yet
	id, _, err := l.create(uuid.NewString(), l.terms())
	require.NoError(t, err)
	w.api(t).post("/test/deposits/"+id+"/simulate", map[string]any{"outcome": "activate"}, nil)
	late.await(t, 1)
	for _, d := range f.dispatchers {
		f.replace(t, l, 40, d, with(used))
	}

	w.environ = append(w.environ, used)
	var done struct{ Read, Reencrypted int }
	w.admin(t, &done, "secrets", "reencrypt")
	t.Logf("figure: %d of %d secrets encrypted anew under load", done.Reencrypted, done.Read)
	require.Positive(t, done.Reencrypted)
	l.await(t, 60)
	w.admin(t, &done, "secrets", "reencrypt")
	require.Zero(t, done.Reencrypted, "no process encrypts with the old key any more")
	for _, m := range append(f.https, f.dispatchers...) {
		require.NotContains(t, m.log.String(), "does not decrypt")
		require.NotContains(t, m.log.String(), "cannot be read")
	}
	require.Empty(t, late.All()[0].Wrong)
	f.besides = append(f.besides, event{id, "deposit.activated"})
	f.endMixed(t, l, r)
}
