// Package secretstest provides tests with a cipher for encrypted columns.
package secretstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

// NewCipher returns a cipher of the development keyset. All such ciphers decrypt each other's values.
func NewCipher(t testing.TB) *secrets.Cipher {
	t.Helper()
	cipher, err := secrets.OpenKeyset(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return cipher
}
