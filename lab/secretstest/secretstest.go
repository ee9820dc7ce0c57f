// Package secretstest provides tests with a cipher for encrypted columns.
package secretstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

// NewCipher returns a cipher with the built-in development keyset. All ciphers of this keyset decrypt the values of
// each other.
func NewCipher(t testing.TB) *secrets.Cipher {
	t.Helper()
	cipher, err := secrets.OpenKeyset(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return cipher
}
