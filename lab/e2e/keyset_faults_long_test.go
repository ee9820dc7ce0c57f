//go:build long

package e2e_test

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// loseSecrets makes the secrets of all subscriptions unreadable, in a database with check values, and waits for an
// attempt without a POST. restore brings them back.
func (x *watched) loseSecrets() (restore func()) {
	x.t.Helper()
	_, stdout, stderr := run(x.t, x.environ, "admin", "doctor")
	require.Contains(x.t, stdout, "ok: ", stderr)
	x.dispatch.restart(x.t) // so that it compares at once
	x.sql(`CREATE TABLE kept AS SELECT id, secret FROM webhook_subscriptions`,
		`UPDATE webhook_subscriptions SET secret = '\x00'`)
	require.NoError(x.t, x.lifeOfADeposit(x.t, x.account, true))
	require.Eventually(x.t, func() bool {
		return x.count(`SELECT count(*) FROM delivery_attempts WHERE result = 'secret'`) > 0
	}, soon, often)
	return func() {
		x.sql(`UPDATE webhook_subscriptions s SET secret = k.secret FROM kept k WHERE k.id = s.id`, `DROP TABLE kept`)
	}
}

// otherKeyset starts http with a keyset of its own. Its next start has that of the others.
func (x *watched) otherKeyset() {
	x.t.Helper()
	code, made, stderr := run(x.t, nil, "admin", "secrets", "new-keyset")
	require.Zero(x.t, code, stderr)
	x.http.end()
	x.http.process = start(x.t, x.http.name,
		append(x.http.environ[:len(x.http.environ):len(x.http.environ)], "SECRETS_KEYSET="+strings.TrimSpace(made))...)
}
