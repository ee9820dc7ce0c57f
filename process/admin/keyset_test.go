package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/lab/redistest"
)

// keysetOf runs a command that prints a keyset.
func keysetOf(t *testing.T, command string, environ ...string) (made string) {
	t.Helper()
	var printed struct{ Keyset string }
	got := runWith(t.Context(), environ, "secrets", command, "--json")
	require.Zero(t, got.exit, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &printed))
	return printed.Keyset
}

func TestKeysets_AreMadeAndTurned(t *testing.T) {
	t.Parallel()
	made := keysetOf(t, "new-keyset")
	added := keysetOf(t, "add-key", "SECRETS_KEYSET="+made)
	for _, whole := range []string{keysetOf(t, "rotate", "SECRETS_KEYSET="+made),
		keysetOf(t, "use-key", "SECRETS_KEYSET="+added)} {
		require.NotContains(t, []string{made, added}, whole)
		cipher, err := secrets.OpenKeyset(made)
		require.NoError(t, err)
		sealed, err := cipher.Encrypt([]byte("words"), nil)
		require.NoError(t, err)
		turned, err := secrets.OpenKeyset(whole)
		require.NoError(t, err)
		opened, err := turned.Decrypt(sealed, nil)
		require.NoError(t, err, "what the old keyset encrypted decrypts")
		require.Equal(t, "words", string(opened))
	}
	got := runWith(t.Context(), []string{"SECRETS_KEYSET=" + made}, "secrets", "use-key")
	require.Equal(t, 1, got.exit)
	require.Contains(t, got.stderr, "`admin secrets add-key` adds another")
	got = runWith(t.Context(), nil, "secrets", "new-keyset")
	_, err := secrets.OpenKeyset(got.stdout[:len(got.stdout)-1])
	require.NoError(t, err, "a shell captures the keyset alone")
}

// `admin doctor` reads every secret of the database, in pages, and counts those that do not decrypt.
func TestDoctor_ReadsAllSecrets_AndCountsThoseThatDoNotDecrypt(t *testing.T) {
	s := newStaff(t)
	s.environ[1] = "REDIS_URL=" + redistest.EmptyDatabaseURL(t)
	keyset := keysetOf(t, "new-keyset")
	s.environ = append(s.environ, "SECRETS_KEYSET="+keyset)
	s.sql(`UPDATE partners SET connect_secret = NULL`)
	s.sealedPartners(keyset, 2500)
	got := s.run("doctor", "--json")
	require.Zero(t, got.exit, got.stdout)
	require.Regexp(t, `"check":"keyset","ok":true,"finding":"ok: 2500 secrets, read in \d+m?s"`, got.stdout)
	cipher, err := secrets.OpenKeyset(keyset)
	require.NoError(t, err)
	require.Equal(t, 1, s.Count("key_checks", "key_id = $1", cipher.PrimaryKeyID()))

	s.sql(`UPDATE partners SET connect_secret = set_byte(connect_secret, 20, get_byte(connect_secret, 20) # 1)
		WHERE slug IN ('p-3', 'p-2400')`)
	s.sql(`UPDATE partners SET connect_secret = '\x00' WHERE slug = 'p-2499'`)
	got = s.run("doctor", "--json")
	require.Equal(t, 1, got.exit)
	require.Contains(t, got.stdout, fmt.Sprintf(
		"1 connect secrets of no key, 2 connect secrets of key %d do not decrypt; 2497 secrets do", cipher.PrimaryKeyID()))
	require.Equal(t, 1, s.Count("key_checks", "key_id = $1", cipher.PrimaryKeyID()), "the keyset fits all the same")
}

// A migration with another keyset fails, before any process starts with it.
func TestMigrateUp_WithTheKeyset_WritesItsCheckValue_AndRefusesAnother(t *testing.T) {
	t.Parallel()
	databaseURL, _ := emptyDatabase(t)
	environ := environOf(databaseURL)
	got := runWith(t.Context(), environ, "migrate", "up")
	require.Zero(t, got.exit, "without a keyset: %s", got.stderr)
	for _, exit := range []int{0, 1} {
		got := runWith(t.Context(), append(environ, "SECRETS_KEYSET="+keysetOf(t, "new-keyset")), "migrate", "up")
		require.Equal(t, exit, got.exit, got.stderr)
		require.Equal(t, exit == 1, strings.Contains(got.stderr, "SECRETS_KEYSET is not the keyset of this database"))
	}
}

// sealedPartners adds partners with connect secrets.
func (s *staff) sealedPartners(keyset string, n int) {
	s.T.Helper()
	cipher, err := secrets.OpenKeyset(keyset)
	require.NoError(s.T, err)
	_, err = s.Pool.CopyFrom(s.T.Context(), pgx.Identifier{"partners"},
		[]string{"id", "slug", "name", "connect_secret", "created_at"},
		pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			partner := uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012x", i+1))
			sealed, err := cipher.Encrypt(fmt.Appendf(nil, "svc_cs_%d", i), []byte("connect_secret:"+partner.String()))
			return []any{partner, fmt.Sprintf("p-%d", i), "P", sealed, time.Now()}, err
		}))
	require.NoError(s.T, err)
}

func (s *staff) sql(statement string) {
	s.T.Helper()
	_, err := s.Pool.Exec(s.T.Context(), statement)
	require.NoError(s.T, err)
}

// An interrupted run ends after a whole page. The next run encrypts only the remaining rows.
func TestReencrypt_Interrupted_GoesOnWithTheRestWhenItRunsAgain(t *testing.T) {
	s := newStaff(t)
	const rows, page, blocked = 2000, 500, 1100
	older := keysetOf(t, "new-keyset")
	keyset := keysetOf(t, "rotate", "SECRETS_KEYSET="+older)
	s.environ = append(s.environ, "SECRETS_KEYSET="+keyset)
	after, err := secrets.OpenKeyset(keyset)
	require.NoError(t, err)
	idOf := func(n int) uuid.UUID { return uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012x", n+1)) }
	plain := func(n int) string { return fmt.Sprintf("svc_cs_%d", n) }
	s.sealedPartners(older, rows)
	newer := func() int {
		return s.Count("partners", "substring(connect_secret FROM 1 FOR 5) = $1", after.PrimaryCiphertextPrefix())
	}
	unlock := s.lockRow(`SELECT FROM partners WHERE id = $1 FOR UPDATE`, [16]byte(idOf(blocked)))
	stderr, interrupted := s.begin("secrets", "reencrypt")
	s.awaitLock()
	require.Equal(t, 130, interrupted())
	require.Regexp(t, `\d+ of \d+ rows read \(\d+ %\)`, stderr.String())
	require.Contains(t, stderr.String(), "goes on with the rest when it runs again")
	unlock()
	require.Equal(t, blocked/page*page, newer())

	var done struct{ Read, Reencrypted int }
	got := s.run("secrets", "reencrypt", "--json")
	require.Zero(t, got.exit, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &done))
	require.Equal(t, []int{rows, rows - blocked/page*page}, []int{done.Read - 1, done.Reencrypted}, "and the row of demo")
	require.Contains(t, got.stderr, `{"progress":{"done":500,`)
	require.Equal(t, rows, newer())
	s.must(&done, "secrets", "reencrypt")
	require.Zero(t, done.Reencrypted)
	for _, n := range []int{0, blocked, rows - 1} {
		var sealed []byte
		require.NoError(t,
			s.Pool.QueryRow(t.Context(), `SELECT connect_secret FROM partners WHERE id = $1`, idOf(n)).Scan(&sealed))
		opened, err := after.Decrypt(sealed, []byte("connect_secret:"+idOf(n).String()))
		require.NoError(t, err)
		require.Equal(t, plain(n), string(opened))
	}
}

// A secret that no key of the keyset decrypts stays as it is, and the command says which.
func TestReencrypt_WithTheWrongKeyset_ChangesNothing(t *testing.T) {
	s := newStaff(t)
	p := s.CreatePartner("acme")
	s.environ = append(s.environ, "SECRETS_KEYSET="+keysetOf(t, "new-keyset"))
	got := s.run("secrets", "reencrypt")
	require.Equal(t, []any{1, ""}, []any{got.exit, got.stdout})
	require.Contains(t, got.stderr, "connect secrets of row ")
	s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Partners.ConnectSecret(ctx, p.ID)
		return err
	})
}
