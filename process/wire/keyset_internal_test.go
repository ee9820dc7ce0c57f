package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"partnerdeposits/adapters/postgres"
	platformtables "partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

// keyed is a database whose secrets processes with several keysets share.
type keyed struct {
	*testing.T
	pool *pgxpool.Pool
}

// process makes the state of a process with a keyset. It has looked at the database.
func (k keyed) process(keyset string) (*process, error) {
	k.Helper()
	cipher, err := secrets.OpenKeyset(keyset)
	require.NoError(k, err)
	s := &process{ops: k.pool, Stores: services.Stores{Pool: k.pool, Cipher: cipher},
		registry: newRegistry(run.Log{Logger: slog.New(slog.DiscardHandler)})}
	s.readiness()
	return s, s.keysetFits(k.Context())
}

func (k keyed) reader(keyset string) keysetReader {
	k.Helper()
	cipher, err := secrets.OpenKeyset(keyset)
	require.NoError(k, err)
	store := postgres.NewStore(k.pool, cipher, postgres.Options{})
	k.Cleanup(func() { store.Close(k.Context()) })
	return keysetReader{k.pool, cipher, store, true, true}
}

// writes lets a process write a secret.
func (k keyed) writes(keyset string) {
	k.Helper()
	cipher, err := secrets.OpenKeyset(keyset)
	require.NoError(k, err)
	partner := uuid.New()
	sealed, err := cipher.Encrypt([]byte("svc_cs_x"), []byte("connect_secret:"+partner.String()))
	require.NoError(k, err)
	_, err = k.pool.Exec(k.Context(), `INSERT INTO partners (id, slug, name, connect_secret, created_at)
		VALUES ($1, $2, 'P', $3, now())`, partner, "p-"+partner.String()[24:], sealed)
	require.NoError(k, err)
}

// reencrypt does what `admin secrets reencrypt` does.
func (k keyed) reencrypt(keyset string) {
	k.Helper()
	r := k.reader(keyset)
	resealer := postgres.NewSecretReencrypter(r.store, r.cipher.PrimaryCiphertextPrefix())
	for _, kind := range resealer.SecretColumns() {
		_, err := resealer.ReencryptPage(k.Context(), kind.FirstPage())
		require.NoError(k, err)
	}
	require.NoError(k, (&AdminCommands{stores: services.Stores{Pool: k.pool,
		Cipher: r.cipher}}).RecordReencryption(k.Context()))
}

// fits lets a process with each keyset look, and all of them read the secrets.
func (k keyed) fits(step string, keysets ...string) {
	k.Helper()
	for i, each := range keysets {
		s, err := k.process(each)
		require.NoError(k, err, "%s: keyset %d is refused", step, i)
		require.True(k, s.proven.Load(), step)
		found, _, _, err := k.reader(each).read(k.Context(), false)
		require.NoError(k, err)
		require.Empty(k, found.Unreadable, "%s: keyset %d", step, i)
	}
}

func change(t *testing.T, how func(string) (string, error), keyset string) string {
	t.Helper()
	changed, err := how(keyset)
	require.NoError(t, err)
	return changed
}

// withoutOldKeys leaves the primary key alone.
func withoutOldKeys(encoded string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", err
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return "", err
	}
	primary, err := handle.Primary()
	if err != nil {
		return "", err
	}
	manager := keyset.NewManagerFromHandle(handle)
	for i := range handle.Len() {
		if entry, err := handle.Entry(i); err == nil && entry.KeyID() != primary.KeyID() {
			if err := manager.Delete(entry.KeyID()); err != nil {
				return "", err
			}
		}
	}
	if handle, err = manager.Handle(); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&out))
	return base64.StdEncoding.EncodeToString(out.Bytes()), err
}

// Each step of "Rotating the keyset" (docs/guides/operations.md) replaces the processes in turn, so those of two steps
// serve side by side. An operator may run `admin doctor` at any time.
func TestKeyset_RotatedInSteps_FitsForOldAndNewProcessesOfEachStep(t *testing.T) {
	t.Parallel()
	k := keyed{t, pgtest.New(t)}
	first := change(t, func(string) (string, error) { return secrets.NewKeyset() }, "")
	added := change(t, secrets.AddKey, first)
	used := change(t, secrets.MakeNewestKeyPrimary, added)
	last := change(t, withoutOldKeys, used)
	doctor := func(keyset string) {
		t.Helper()
		found := k.reader(keyset).readAll(t.Context())
		require.NoError(t, found.Err)
		require.Empty(t, found.Unreadable)
	}
	k.writes(first)
	require.NoError(t, k.reader(first).readSome(t.Context()))
	k.fits("before", first)
	k.fits("add-key", first, added)
	doctor(first)
	doctor(added)
	k.fits("add-key, and doctor", first, added)
	k.writes(used)
	k.fits("use-key", added, used)
	doctor(added)
	k.writes(added)
	doctor(used)
	k.fits("use-key, and doctor", added, used)
	_, err := k.process(first)
	require.ErrorIs(t, err, ErrKeysetDiffers, "a process that was left out cannot read the new secrets")
	_, err = k.process(last)
	require.ErrorIs(t, err, ErrKeysetDiffers, "the old key is still needed")
	k.reencrypt(used)
	k.fits("reencrypt", added, used)
	k.fits("the old key is removed", used, last)
	doctor(used)
	doctor(last)
	k.fits("the old key is removed, and doctor", used, last)
	k.writes(used)
	doctor(used)
	k.fits("another secret", used, last)
}

func TestKeyset_OfAnotherDatabase_IsRefused_AndWritesNoSecretNorCheckValue(t *testing.T) {
	t.Parallel()
	k := keyed{t, pgtest.New(t)}
	right := change(t, func(string) (string, error) { return secrets.NewKeyset() }, "")
	wrong := change(t, func(string) (string, error) { return secrets.NewKeyset() }, "")
	k.writes(right)
	for _, each := range []string{right, wrong} {
		s, err := k.process(each)
		require.NoError(t, err, "a database without check values refuses no keyset")
		require.False(t, s.proven.Load())
	}
	require.ErrorIs(t, k.reader(wrong).readSome(t.Context()), ErrKeysetDiffers, "nothing decrypts")
	require.ErrorIs(t, k.reader(wrong).readAll(t.Context()).Err, ErrKeysetDiffers)
	require.Zero(t, k.checkValues(), "no check value of a keyset that decrypts nothing")
	require.NoError(t, k.reader(right).readSome(t.Context()))
	require.NoError(t, k.reader(right).readAll(t.Context()).Err)
	require.Equal(t, 1, k.checkValues())
	for _, each := range []string{wrong, secrets.DevelopmentKeyset} {
		s, err := k.process(each)
		require.ErrorIs(t, err, ErrKeysetDiffers)
		require.Equal(t, "is not the keyset of this database", keysetProblem(err))
		require.False(t, s.proven.Load())
		_, err = s.Cipher.Encrypt(nil, nil)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		_, err = s.Cipher.Decrypt(nil, nil)
		require.ErrorIs(t, err, fault.ErrUnavailable)
	}
	k.writes(wrong) // by a process of an older binary
	found := k.reader(wrong).readAll(t.Context())
	require.ErrorIs(t, found.Err, ErrKeysetDiffers)
	require.Equal(t, []int64{1, 1}, []int64{found.Opened, found.failed()})
	found = k.reader(right).readAll(t.Context())
	require.NoError(t, found.Err)
	cipher, err := secrets.OpenKeyset(wrong)
	require.NoError(t, err)
	require.Equal(t, []UnreadableSecrets{{"connect secrets", cipher.PrimaryKeyID(), 1}}, found.Unreadable)
	require.Equal(t, 1, k.checkValues())
	_, err = k.process(right)
	require.NoError(t, err)
}

func (k keyed) checkValues() (n int) {
	k.Helper()
	require.NoError(k, k.pool.QueryRow(k.Context(), `SELECT count(*) FROM key_checks`).Scan(&n))
	return n
}

func TestKeyset_OfAnEmptyDatabase_IsTheOneThatIsGiven(t *testing.T) {
	t.Parallel()
	k := keyed{t, pgtest.New(t)}
	builtIn := k.reader(secrets.DevelopmentKeyset)
	builtIn.given = false
	require.NoError(t, builtIn.readAll(t.Context()).Err)
	require.Zero(t, k.checkValues(), "the built-in keyset takes no database")
	first := change(t, func(string) (string, error) { return secrets.NewKeyset() }, "")
	require.NoError(t, k.reader(first).readSome(t.Context()))
	k.fits("migrated", first)
	require.ErrorIs(t, builtIn.readAll(t.Context()).Err, ErrKeysetDiffers)
	second := change(t, func(string) (string, error) { return secrets.NewKeyset() }, "")
	require.ErrorIs(t, k.reader(second).readSome(t.Context()), ErrKeysetDiffers)
	require.NoError(t, k.reader(second).readAll(t.Context()).Err, "nothing is lost by another keyset")
	k.fits("doctor", second)
}

// A database that gives no answer is no reason to trust a keyset, nor to mistrust one that fitted.
func TestKeyset_OfADatabaseWithoutAnAnswer_StaysAsItWas(t *testing.T) {
	t.Parallel()
	k := keyed{t, pgtest.New(t)}
	k.writes(secrets.DevelopmentKeyset)
	require.NoError(t, k.reader(secrets.DevelopmentKeyset).readSome(t.Context()))
	s, err := k.process(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	_, err = k.pool.Exec(t.Context(), `ALTER TABLE key_checks RENAME TO hidden`)
	require.NoError(t, err)
	err = s.keysetFits(t.Context())
	require.Equal(t, []any{false, "cannot be compared"}, []any{errors.Is(err, ErrKeysetDiffers), keysetProblem(err)})
	_, err = s.Cipher.Encrypt(nil, nil)
	require.NoError(t, err)
	require.True(t, s.proven.Load())
	late, err := k.process(secrets.DevelopmentKeyset)
	require.Error(t, err)
	_, err = late.Cipher.Encrypt(nil, nil)
	require.ErrorIs(t, err, fault.ErrUnavailable, "it was not compared yet")
	require.ErrorIs(t, err, errNotCompared)
	_, err = platformtables.CheckKeyset(t.Context(), k.pool, nil)
	require.ErrorIs(t, err, fault.ErrUnavailable)
}
