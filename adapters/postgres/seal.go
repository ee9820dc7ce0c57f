package postgres

import (
	"fmt"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Cipher encrypts what is kept at rest; adapters/secrets has one.
type Cipher interface {
	// Encrypt seals plaintext for associatedData: what is opened with other associated data does not open.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

// The associated data of each kind of secret: its purpose and its row, so that no ciphertext opens in another place.
func connectAAD(partnerID id.ID) []byte { return []byte("connect_secret:" + partnerID.String()) }
func secretAAD(subscriptionID id.ID) []byte {
	return []byte("webhook_secret:" + subscriptionID.String())
}
func checkoutAAD(depositID id.ID) []byte { return []byte("checkout_token:" + depositID.String()) }

func responseAAD(k ports.IdempotencyKey) []byte {
	return []byte("idempotent_response:" + scopeOf(k))
}

// sealer is a cipher for texts.
type sealer struct{ cipher Cipher }

func (s sealer) seal(plain secret.Text, associatedData []byte) ([]byte, error) {
	sealed, err := s.cipher.Encrypt([]byte(plain.Reveal()), associatedData)
	if err != nil {
		return nil, fmt.Errorf("postgres: encrypt: %w", err)
	}
	return sealed, nil
}

func (s sealer) open(sealed, associatedData []byte) (secret.Text, error) {
	plain, err := s.cipher.Decrypt(sealed, associatedData)
	if err != nil {
		return "", fmt.Errorf("postgres: decrypt: %w", err)
	}
	return secret.Text(plain), nil
}
