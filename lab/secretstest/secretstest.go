// Package secretstest provides tests with a cipher for encrypted columns.
package secretstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

// New returns a cipher with the built-in development keyset. All ciphers of this keyset decrypt the values of each
// other.
func New(t testing.TB) *secrets.Cipher {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return cipher
}
