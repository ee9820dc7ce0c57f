package secrets_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

func open(t testing.TB, keyset string) *secrets.Cipher {
	t.Helper()
	c, err := secrets.OpenKeyset(keyset)
	require.NoError(t, err)
	return c
}

func fresh(t testing.TB) string {
	t.Helper()
	keyset, err := secrets.NewKeyset()
	require.NoError(t, err)
	return keyset
}

func seal(t testing.TB, c *secrets.Cipher, plain, row string) []byte {
	t.Helper()
	sealed, err := c.Encrypt([]byte(plain), []byte(row))
	require.NoError(t, err)
	return sealed
}

func TestEncrypt_OpensForItsRowAlone(t *testing.T) {
	t.Parallel()
	c := open(t, fresh(t))
	sealed := seal(t, c, "svc_whsec_x", "webhook_secret:1")
	require.NotContains(t, string(sealed), "svc_whsec_x")
	got, err := c.Decrypt(sealed, []byte("webhook_secret:1"))
	require.NoError(t, err)
	require.Equal(t, "svc_whsec_x", string(got))
	for _, row := range []string{"webhook_secret:2", "connect_secret:1", ""} {
		_, err := c.Decrypt(sealed, []byte(row))
		require.Equal(t, secrets.ErrDecrypt, err, row)
	}
}

func TestEncrypt_Twice_LooksDifferent(t *testing.T) {
	t.Parallel()
	c := open(t, fresh(t))
	require.False(t, bytes.Equal(seal(t, c, "same", "row"), seal(t, c, "same", "row")))
}

func TestDecrypt_OfAnythingElse_SaysNothingOfIt(t *testing.T) {
	t.Parallel()
	c := open(t, fresh(t))
	broken := seal(t, c, "svc_whsec_x", "row")
	broken[len(broken)-1] ^= 1
	for _, sealed := range [][]byte{nil, {}, []byte("short"), broken, seal(t, open(t, fresh(t)), "svc_whsec_x", "row")} {
		_, err := c.Decrypt(sealed, []byte("row"))
		require.Equal(t, secrets.ErrDecrypt, err)
	}
}

func TestRotate_OldStillOpens_NewIsUsedFromThenOn(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	second, err := secrets.RotateKeyset(first)
	require.NoError(t, err)
	third, err := secrets.RotateKeyset(second)
	require.NoError(t, err)
	for i, keyset := range []string{first, second, third} {
		sealed := seal(t, open(t, keyset), "secret", "row")
		for j, reader := range []string{first, second, third} {
			got, err := open(t, reader).Decrypt(sealed, []byte("row"))
			if j < i {
				require.Equal(t, secrets.ErrDecrypt, err, "keyset %d must not read what %d wrote", j, i)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, "secret", string(got))
		}
	}
}

// Between two neighbours of a rotation in two steps, each reads all secrets of the other.
func TestAddKeyThenUseKey_NeighboursReadEachOther(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	added, err := secrets.AddKey(first)
	require.NoError(t, err)
	used, err := secrets.MakeNewestKeyPrimary(added)
	require.NoError(t, err)
	for _, neighbours := range [][2]string{{first, added}, {added, used}} {
		for i := range 2 {
			sealed := seal(t, open(t, neighbours[i]), "secret", "row")
			got, err := open(t, neighbours[1-i]).Decrypt(sealed, []byte("row"))
			require.NoError(t, err)
			require.Equal(t, "secret", string(got))
		}
	}
	require.Equal(t, open(t, first).PrimaryCiphertextPrefix(), open(t, added).PrimaryCiphertextPrefix(),
		"the new key encrypts nothing yet")
	require.NotEqual(t, open(t, first).PrimaryCiphertextPrefix(), open(t, used).PrimaryCiphertextPrefix())
	_, err = open(t, first).Decrypt(seal(t, open(t, used), "secret", "row"), []byte("row"))
	require.ErrorIs(t, err, secrets.ErrDecrypt, "so both steps are needed")
	_, err = secrets.MakeNewestKeyPrimary(used)
	require.ErrorIs(t, err, secrets.ErrNewestKeyInUse)
}

func TestOpenAndRotate_BadKeysets_AreRefusedWithoutQuotingThem(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "not base64!", "hunter2", base64.StdEncoding.EncodeToString([]byte("hunter2")),
		base64.StdEncoding.EncodeToString([]byte(`{}`)),
		base64.StdEncoding.EncodeToString([]byte(`{"primaryKeyId":1,"key":[]}`)),
		base64.StdEncoding.EncodeToString(
			[]byte(
				`{"primaryKeyId":1,"key":[{"keyData":{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","value":"aGVsbG8=","keyMaterialType":"SYMMETRIC"},"status":"ENABLED","keyId":1,"outputPrefixType":"TINK"}]}`)),
	} {
		_, err := secrets.OpenKeyset(bad)
		require.Equal(t, secrets.ErrInvalidKeyset, err, bad)
		_, err = secrets.RotateKeyset(bad)
		require.ErrorIs(t, err, secrets.ErrInvalidKeyset, bad)
		_, err = secrets.AddKey(bad)
		require.ErrorIs(t, err, secrets.ErrInvalidKeyset, bad)
		_, err = secrets.MakeNewestKeyPrimary(bad)
		require.ErrorIs(t, err, secrets.ErrInvalidKeyset, bad)
	}
}

func TestOpen_SurroundingWhiteSpace_DoesNotMatter(t *testing.T) {
	t.Parallel()
	open(t, "\n "+fresh(t)+"\n")
}

func TestDevelopmentKeyset_Opens(t *testing.T) {
	t.Parallel()
	seal(t, open(t, secrets.DevelopmentKeyset), "secret", "row")
}

func BenchmarkEncrypt(b *testing.B) {
	c := open(b, secrets.DevelopmentKeyset)
	plain, row := bytes.Repeat([]byte("x"), 600), []byte("webhook_secret:01934b5f-6a7c-7d8e-9fa0-b1c2d3e4f506")
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Encrypt(plain, row)
		require.NoError(b, err)
	}
}

func TestPrimaryPrefix_TellsTheKeyOfACiphertext(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	second, err := secrets.RotateKeyset(first)
	require.NoError(t, err)
	older, newer := open(t, first), open(t, second)
	require.True(t, bytes.HasPrefix(seal(t, older, "x", "row"), older.PrimaryCiphertextPrefix()))
	require.True(t, bytes.HasPrefix(seal(t, newer, "x", "row"), newer.PrimaryCiphertextPrefix()))
	require.False(t, bytes.HasPrefix(seal(t, older, "x", "row"), newer.PrimaryCiphertextPrefix()))
}

func TestHash_StaysWhileKeysAreAdded_AndIsOfTheKeysetAlone(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	second, err := secrets.RotateKeyset(first)
	require.NoError(t, err)
	hash := open(t, first).Hash("mailbox:ann@b.example")
	require.Len(t, hash, 32)
	require.Equal(t, hash, open(t, second).Hash("mailbox:ann@b.example"))
	require.NotEqual(t, hash, open(t, fresh(t)).Hash("mailbox:ann@b.example"))
	require.NotEqual(t, hash, open(t, first).Hash("mailbox:bob@b.example"))
}
