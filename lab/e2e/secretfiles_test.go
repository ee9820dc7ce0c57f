package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/process/config"
)

// byFile writes each secret of an environment to a file of its own, and gives the environment that names the files,
// with the names of the secrets in order.
func byFile(t testing.TB, environ []string) (files, names []string) {
	t.Helper()
	dir, isSecret := t.TempDir(), map[string]bool{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		isSecret[field.Tag.Get("env")] = field.Type == reflect.TypeFor[secret.Text]()
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !isSecret[name] {
			files = append(files, pair)
			continue
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(value+"\n"), 0o400))
		files, names = append(files, name+"_FILE="+path), append(names, name)
		delete(isSecret, name)
	}
	for name, left := range isSecret {
		require.False(t, left, "the environment has no %s", name)
	}
	slices.Sort(names)
	return files, names
}

// TestSecretFiles_TheServiceRunsWithEverySecretByFile takes a tenant through a fee: stores, keyset, mails, and the
// provider's key and signature are all in use.
func TestSecretFiles_TheServiceRunsWithEverySecretByFile(t *testing.T) {
	t.Parallel()
	mails := smtpmock.New(smtpmock.ConfigurationAttr{HostAddress: "127.0.0.1", MultipleMessageReceiving: true})
	require.NoError(t, mails.Start())
	t.Cleanup(func() { require.NoError(t, mails.Stop()) })
	var made struct{ Keyset string }
	_, stdout, _ := run(t, nil, "admin", "secrets", "new-keyset", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &made))

	w := newWorld(t, "SECRETS_KEYSET="+made.Keyset, "REDIS_SENTINEL_PASSWORD=of-no-sentinel",
		"SMTP_URL=smtp://127.0.0.1:"+strconv.Itoa(mails.PortNumber()), "MAIL_FROM=Deposits <no-reply@example.com>")
	w.withStripe(t)
	w.environ = append(w.environ, "DATABASE_DIRECT_URL="+strings.TrimPrefix(w.environ[0], "DATABASE_URL="))
	var secrets []string
	w.environ, secrets = byFile(t, w.environ)
	require.Len(t, secrets, 8)

	code, _, stderr := run(t, w.environ, "admin", "migrate", "up")
	require.Zero(t, code, stderr)
	w.http(t)
	w.dispatcher(t)
	account := w.link(t, "villa-41")
	hook := newReceiver(t)
	w.subscribe(t, hook, "deposit.activated")
	depositID, checkoutURL := w.deposit(t, account)
	b := newBrowser(t)
	require.Equal(t, "partner.example", payWith(b, openFee(t, b, checkoutURL), "4242 4242 4242 4242").url.Host)
	hook.await(t, 1)
	var deposit struct{ Data struct{ Status string } }
	w.api(t).get("/deposits/"+depositID, &deposit)
	require.Equal(t, "active", deposit.Data.Status)
	require.Eventually(t, func() bool { return len(mails.Messages()) > 0 }, soon, often)

	// Mistakes: each is named, and nothing of a secret is shown.
	environ := append(slices.Clone(w.environ), "SMTP_URL=smtp://user:hunter2@127.0.0.1:1",
		"STRIPE_SECRET_KEY_FILE=/nowhere/hunter2")
	code, stdout, stderr = run(t, environ, "http")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Equal(t, "the configuration has 2 mistakes:\n"+
		"  - SMTP_URL: is set, and so is SMTP_URL_FILE; set one of them\n"+
		"  - STRIPE_SECRET_KEY: the file that STRIPE_SECRET_KEY_FILE names cannot be read: no such file or directory\n", stderr)
}
