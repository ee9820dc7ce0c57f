package secrets_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

func TestCheckValues_AreOfTheKeyAlone(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	added, err := secrets.AddKey(first)
	require.NoError(t, err)
	used, err := secrets.MakeNewestKeyPrimary(added)
	require.NoError(t, err)
	of, ofBoth := open(t, first).KeyCheckValues(), open(t, added).KeyCheckValues()
	require.Len(t, of, 1)
	require.Len(t, ofBoth, 2)
	require.Equal(t, of[open(t, first).PrimaryKeyID()], ofBoth[open(t, first).PrimaryKeyID()],
		"of a key in another keyset")
	require.Equal(t, ofBoth, open(t, used).KeyCheckValues(), "whichever key encrypts")
	values := map[string]bool{}
	for keyID, value := range ofBoth {
		require.Len(t, value, 32)
		values[string(value)] = true
		raw, err := base64.StdEncoding.DecodeString(used)
		require.NoError(t, err)
		require.NotContains(t, string(raw), base64.StdEncoding.EncodeToString(value), "key %d", keyID)
	}
	require.Len(t, values, 2)
}

func TestKeyOf_IsTheKeyThatEncrypted(t *testing.T) {
	t.Parallel()
	first := fresh(t)
	second, err := secrets.RotateKeyset(first)
	require.NoError(t, err)
	for _, keyset := range []string{first, second} {
		require.Equal(t, open(t, keyset).PrimaryKeyID(), secrets.KeyIDOf(seal(t, open(t, keyset), "x", "row")))
	}
	for _, other := range [][]byte{nil, {1, 2, 3, 4}, {0, 1, 2, 3, 4}} {
		require.Zero(t, secrets.KeyIDOf(other))
	}
}

func TestRefuse_NothingIsEncryptedOrDecrypted_UntilItEnds(t *testing.T) {
	t.Parallel()
	c := open(t, fresh(t))
	sealed := seal(t, c, "x", "row")
	refusal := errors.New("not the keyset")
	c.SetRefusalError(refusal)
	_, err := c.Encrypt([]byte("x"), []byte("row"))
	require.Equal(t, refusal, err)
	_, err = c.Decrypt(sealed, []byte("row"))
	require.Equal(t, refusal, err)
	c.SetRefusalError(nil)
	got, err := c.Decrypt(sealed, []byte("row"))
	require.NoError(t, err)
	require.Equal(t, "x", string(got))
}
