// Package secretstest gives tests a cipher.
package secretstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

// New opens the built-in development keyset. All ciphers of this keyset decrypt the values of each other.
func New(t testing.TB) *secrets.Cipher {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return cipher
}
