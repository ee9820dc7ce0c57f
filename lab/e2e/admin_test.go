package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

func TestAdmin_UsageMistakesExit2(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no command":      {},
		"unknown command": {"partner", "explode"},
		"unknown flag":    {"partner", "list", "--loud"},
		"missing flag":    {"partner", "create", "--slug", "x"},
		"not a number":    {"partner", "rate-limit", "--partner", "x", "--per-minute", "many"},
		"no database":     {"partner", "list", "--json"},
		"nothing to turn": {"secrets", "rotate"},
		"nothing to add":  {"secrets", "add-key"},
		"nothing to use":  {"secrets", "use-key"},
		"nothing chosen":  {"webhook", "probe"},
		"two are chosen":  {"webhook", "probe", "--all", "--partner", "x"},
	} {
		code, stdout, stderr := run(t, nil, "admin", args...)
		require.Equal(t, 2, code, "%s: %s", name, stderr)
		require.Empty(t, stdout, name)
		require.NotEmpty(t, stderr, name)
	}
	code, stdout, _ := run(t, nil, "admin", "--help")
	require.Zero(t, code)
	require.Contains(t, stdout, "connect-secret rotate")
}

func TestAdmin_Keysets(t *testing.T) {
	t.Parallel()
	var made, rotated struct{ Keyset string }
	code, stdout, stderr := run(t, nil, "admin", "secrets", "new-keyset", "--json")
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &made))
	code, stdout, stderr = run(t, []string{"SECRETS_KEYSET=" + made.Keyset}, "admin", "secrets", "rotate", "--json")
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &rotated))
	require.NotEqual(t, made.Keyset, rotated.Keyset)
	code, _, stderr = run(t, []string{"SECRETS_KEYSET=" + rotated.Keyset}, "admin", "secrets", "use-key")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "`admin secrets add-key` adds another")

	// The rotated keyset decrypts the old keyset's secrets; an unrelated keyset does not.
	environ := []string{"DATABASE_URL=" + pgtest.URL(t), "REDIS_URL=" + redistest.URL(t)}
	code, _, stderr = run(t, append(environ, "SECRETS_KEYSET="+made.Keyset), "admin", "partner", "create", "--slug",
		"acme", "--name", "Acme")
	require.Zero(t, code, stderr)
	code, stdout, stderr = run(t, append(environ, "SECRETS_KEYSET="+rotated.Keyset), "admin", "doctor", "--json")
	require.Zero(t, code, stdout+stderr)
	code, stdout, stderr = run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "do not decrypt with SECRETS_KEYSET")
	require.Contains(t, stderr, "something is wrong")
}

func TestAdmin_PartnersKeysAndSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	require.Regexp(t, `^prt_[0-9a-z]{26}$`, w.partnerID)
	require.Regexp(t, `^svc_cs_`, w.connectSecret)
	require.Regexp(t, `^svc_pk_test_`, w.apiKey)

	var partners struct {
		Partners []struct {
			PartnerID, Slug, Name string
			HasConnectSecret      bool
			RateLimitPerMinute    *int
		}
	}
	w.admin(t, &partners, "partner", "list")
	require.Len(t, partners.Partners, 1)
	require.True(t, partners.Partners[0].HasConnectSecret)

	var limit struct{ PerMinute int }
	w.admin(t, &limit, "partner", "rate-limit", "--partner", "acme", "--per-minute", "77")
	var shown struct {
		RateLimitPerMinute int
		Keys               []struct{ ID, Name, Last4 string }
	}
	w.admin(t, &shown, "partner", "show", "--partner", "acme")
	require.Equal(t, 77, shown.RateLimitPerMinute)
	require.Len(t, shown.Keys, 1)

	var key struct{ ID, Key string }
	w.admin(t, &key, "key", "create", "--partner", "acme", "--name", "second")
	second := w.api(t).with("X-Api-Key", key.Key)
	status, _, err := second.do(http.MethodGet, "/me", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	w.admin(t, &struct{}{}, "key", "revoke", "--id", key.ID)
	require.Eventually(t, func() bool {
		status, body, err := second.do(http.MethodGet, "/me", nil)
		return err == nil && status == http.StatusUnauthorized && strings.Contains(string(body), "api_key_revoked")
	}, 10*time.Second, 100*time.Millisecond, "within five seconds it works nowhere")
	var keys struct {
		Keys []struct {
			ID        string
			RevokedAt *string
		}
	}
	w.admin(t, &keys, "key", "list", "--partner", "acme")
	require.Len(t, keys.Keys, 2)
	require.Equal(t, key.ID, keys.Keys[0].ID)
	require.NotNil(t, keys.Keys[0].RevokedAt)

	old := w.connectURL(t, "villa-20")
	var rotated struct{ ConnectSecret string }
	w.admin(t, &rotated, "connect-secret", "rotate", "--partner", "acme")
	require.NotEqual(t, w.connectSecret, rotated.ConnectSecret)
	require.Contains(t, newBrowser(t).open(old).body, `data-error-code="invalid_signature"`)
	w.admin(t, &struct{}{}, "connect-secret", "clear", "--partner", "acme")
	require.Contains(t, newBrowser(t).open(old).body, `data-error-code="missing_connect_secret"`)
}

func TestAdmin_AccountsAndLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	accountID := w.link(t, "villa-21")

	var accounts struct {
		Accounts []struct{ AccountID, CompanyName string }
	}
	w.admin(t, &accounts, "account", "list")
	require.Len(t, accounts.Accounts, 1)
	require.Equal(t, accountID, accounts.Accounts[0].AccountID)

	var ceiling struct{ MaxAmountCents int64 }
	w.admin(t, &ceiling, "account", "ceiling", "--account", accountID, "--max-eur", "4000.00")
	require.Equal(t, int64(400000), ceiling.MaxAmountCents)
	w.admin(t, &ceiling, "account", "ceiling", "--account", accountID, "--max-eur", "0")
	require.Equal(t, int64(250000), ceiling.MaxAmountCents)

	type view struct {
		Partner, ExternalID *string
		Email               string
	}
	var before, after view
	w.admin(t, &before, "account", "show", "--account", accountID)
	require.Equal(t, "acme", *before.Partner)
	require.Equal(t, "villa-21", *before.ExternalID)

	var revoked struct{ Changed bool }
	w.admin(t, &revoked, "link", "revoke", "--partner", "acme", "--account", accountID)
	require.True(t, revoked.Changed)
	w.admin(t, &revoked, "link", "revoke", "--partner", "acme", "--account", accountID)
	require.False(t, revoked.Changed)
	w.admin(t, &after, "account", "show", "--account", accountID)
	require.Nil(t, after.Partner)
}

func TestAdmin_RefusalsGoToStderr(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unknown := "acct_" + strings.Repeat("0", 25) + "1"
	for want, args := range map[string][]string{
		"partner_slug_taken: ":     {"partner", "create", "--slug", "acme", "--name", "Again"},
		"invalid_field: slug":      {"partner", "create", "--slug", "A.b", "--name", "Dots"},
		"partner_not_found: ":      {"partner", "show", "--partner", "nobody"},
		"api_key_not_found: ":      {"key", "revoke", "--id", "key_nonsense"},
		"webhook_not_found: ":      {"webhook", "probe", "pwh_nonsense"},
		"partner_not_found: There": {"webhook", "probe", "--partner", "nobody"},
		"account_not_found: ":      {"account", "show", "--account", unknown},
		"invalid_field: max-eur: ": {"account", "ceiling", "--account", unknown, "--max-eur", "lots"},
		"invalid_field: max-eur: must be 0 or between 70.00 and 100000.00": {"account", "ceiling", "--account", unknown,
			"--max-eur", "69.99"},
		"invalid_field: max-eur: must be 0 or between": {"account", "ceiling", "--account", unknown, "--max-eur",
			"100000.01"},
		"invalid_field: email":       {"connect-url", "--partner", "acme", "--external-id", "x", "--email", "nobody"},
		"invalid_field: external-id": {"connect-url", "--partner", "acme", "--external-id", ""},
		"invalid_field: return-url": {"connect-url", "--partner", "acme", "--external-id", "x", "--return-url",
			"http://far.example"},
		"partner_not_found: There is no such partner. `admin partner list` lists them all.": {"connect-url",
			"--partner", "nope", "--external-id", "x"},
		"partner_not_found: There is no such partner. ": {"link", "revoke",
			"--partner", "nope", "--account", unknown},
		"account_not_found: There is no such account, or it was never linked to acme. `admin account show": {"link", "revoke",
			"--partner", "acme", "--account", unknown},
	} {
		code, stdout, stderr := run(t, w.environ, "admin", append(args, "--json")...)
		require.Equal(t, 1, code, stderr)
		require.Empty(t, stdout)
		require.True(t, strings.HasPrefix(refusal(t, stderr), want), stderr)
	}
	code, stdout, stderr := run(t, w.environ, "admin", "partner", "show", "--partner", "nobody")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.True(t, strings.HasPrefix(stderr, "partner_not_found: There is no such partner."), stderr)
}

func TestAdmin_MigratesAndDiagnoses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	postgres, err := backing.StartPostgres(ctx, backing.Options{Private: true, FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, postgres.Close()) })
	environ := []string{"DATABASE_URL=" + postgres.URL(), "REDIS_URL=" + redistest.URL(t)}

	doctor := func(wantCode int, finding string) {
		t.Helper()
		code, stdout, stderr := run(t, environ, "admin", "doctor", "--json")
		require.Equal(t, wantCode, code, stdout+stderr)
		require.Contains(t, stdout, finding)
		require.Equal(t, 1, strings.Count(stdout, "\n"), "one object")
	}
	var status struct {
		Migrations []struct {
			Version int64
			Applied bool
		}
	}
	list := func() {
		t.Helper()
		code, stdout, stderr := run(t, environ, "admin", "migrate", "status", "--json")
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &status))
		require.NotEmpty(t, status.Migrations)
	}
	doctor(1, "Run `admin migrate up`.")
	list()
	require.False(t, status.Migrations[0].Applied)

	both := make(chan int, 2) // the first migrates, the second waits and finds nothing to do
	for range 2 {
		go func() {
			code, _, _ := run(t, environ, "admin", "migrate", "up")
			both <- code
		}()
	}
	require.Zero(t, <-both+<-both)
	list()
	for _, m := range status.Migrations {
		require.True(t, m.Applied)
	}
	doctor(0, `"ok":true`)

	change := func(sql string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), postgres.URL())
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), sql)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
	}
	change(`UPDATE restore_epoch SET history = history || '0'`)
	doctor(1, "Run `admin restore-finish`")
	code, stdout, stderr := run(t, environ, "admin", "restore-finish", "--json")
	require.Zero(t, code, stderr)
	require.Regexp(t, `^{"epoch":"[0-9a-f-]{36}"}\n$`, stdout)
	doctor(0, `"ok":true`)

	change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`) // by a newer binary
	code, stdout, stderr = run(t, environ, "admin", "migrate", "up", "--json")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"version":9999`)
	require.Contains(t, stdout, "this binary is older than the schema")
	doctor(0, `"ok":true`)

	require.NoError(t, postgres.Kill())
	doctor(1, "cannot be reached")
	code, _, stderr = run(t, environ, "admin", "partner", "list")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the database cannot be reached")
}

// An event that cannot be filed is named by the doctor, and an operator puts it back or drops it.
func TestAdmin_EventsThatCannotBeFiled(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.URL(t)
	w := worldOn(t, databaseURL, redistest.URL(t))
	pool, err := pgxpool.New(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), `INSERT INTO outbox (event_id, partner_id, name, data, created_at)
		SELECT uuid_floor(now() + n * interval '1 millisecond'), id, 'deposit.unheard_of', '{}', now()
		FROM partners, generate_series(1, 2) n`)
	require.NoError(t, err)
	w.dispatcher(t)
	type event struct{ ID, Event, PartnerID, Reason string }
	var listed struct{ Events []event }
	awaitTwo := func() {
		require.Eventually(t, func() bool {
			w.admin(t, &listed, "outbox", "list")
			return len(listed.Events) == 2
		}, 30*time.Second, 100*time.Millisecond)
	}
	awaitTwo()
	first := listed.Events[0]
	require.Regexp(t, `^evt_[0-9a-z]{26}$`, first.ID)
	require.Equal(t, "deposit.unheard_of", first.Event)
	require.Equal(t, w.partnerID, first.PartnerID)
	require.Contains(t, first.Reason, "events_name_check")
	code, stdout, _ := run(t, w.environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "2 events could not be filed")

	var ended event
	w.admin(t, &ended, "outbox", "retry", "--id", first.ID)
	require.Equal(t, first.ID, ended.ID)
	awaitTwo() // the cause is not mended, so the event is set aside again
	for _, each := range listed.Events {
		w.admin(t, &ended, "outbox", "drop", "--id", each.ID)
	}
	w.admin(t, &listed, "outbox", "list")
	require.Empty(t, listed.Events)
	code, _, stderr := run(t, w.environ, "admin", "outbox", "drop", "--id", first.ID)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no event "+first.ID+" is set aside")
	var entries int
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT count(*) FROM audit_log WHERE action IN ('outbox.retry', 'outbox.drop')`).Scan(&entries))
	require.Equal(t, 3, entries)
}
