// Package secretstest gives tests a cipher.
package secretstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
)

// New opens the built-in development keyset. Tests that open the keyset twice read what the other cipher sealed.
func New(t testing.TB) *secrets.Cipher {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return cipher
}
