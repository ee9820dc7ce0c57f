package pg

import (
	"encoding/hex"
	"fmt"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// Cipher encrypts and decrypts secrets that are stored in the database (adapters/secrets).
type Cipher interface {
	// Encrypt binds the ciphertext to associatedData, without which Decrypt returns an error.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
	// Hash returns 32 bytes that are always the same for a text and cannot be computed without the keyset.
	Hash(text string) []byte
}

// The functions …AAD return the associated data of a secret: its purpose and row, so that a copy in another row
// cannot be decrypted.
func ConnectSecretAAD(partnerID id.ID) []byte { return []byte("connect_secret:" + partnerID.String()) }
func SigningSecretAAD(subscriptionID id.ID) []byte {
	return []byte("webhook_secret:" + subscriptionID.String())
}
func CheckoutTokenAAD(depositID id.ID) []byte { return []byte("checkout_token:" + depositID.String()) }
func ClientAddressAAD(clientID id.ID) []byte  { return []byte("client_address:" + clientID.String()) }
func TwoFactorSecretAAD(operatorID id.ID) []byte {
	return []byte("second_factor:" + operatorID.String())
}
func MailAAD(mailID id.ID) []byte { return []byte("mail:" + mailID.String()) }
func AgreementAAD(recordID id.ID) []byte {
	return []byte("agreement_origin:" + recordID.String())
}
func FileKeyAAD(fileID id.ID) []byte { return []byte("file_key:" + fileID.String()) }
func FormDraftAAD(session [32]byte, form id.ID) []byte {
	return []byte("form_draft:" + hex.EncodeToString(session[:]) + ":" + form.String())
}

// MailboxHash returns the hash of a mailbox (mailaddr.Mailbox), stored where the address must not be readable.
func (s TextCipher) MailboxHash(mailbox string) []byte { return s.Cipher.Hash("mailbox:" + mailbox) }

func ResponseAAD(k ports.IdempotencyKey) []byte {
	return []byte("idempotent_response:" + IdempotencyKeyScope(k))
}

// IdempotencyKeyScope returns the text that identifies an idempotency key: partner, route, key. Stored
// responses are encrypted for it, so its form must never change.
func IdempotencyKeyScope(k ports.IdempotencyKey) string {
	// The lengths of the partner's id, two separators, and the idempotency key in hex.
	const lengths = 36 + 2 + 2*len(k.Key)
	b := make([]byte, 0, lengths+len(k.Route))
	b = append(append(append(append(b, k.Owner.String()...), '|'), k.Route...), '|')
	return string(hex.AppendEncode(b, k.Key[:]))
}

type TextCipher struct{ Cipher Cipher }

func (s TextCipher) Encrypt(plain secret.Text, associatedData []byte) ([]byte, error) {
	sealed, err := s.Cipher.Encrypt([]byte(plain.Reveal()), associatedData)
	if err != nil {
		return nil, fmt.Errorf("postgres: encrypt: %w", err)
	}
	return sealed, nil
}

func (s TextCipher) Decrypt(sealed, associatedData []byte) (secret.Text, error) {
	plain, err := s.Cipher.Decrypt(sealed, associatedData)
	if err != nil {
		return "", fmt.Errorf("postgres: decrypt: %w", err)
	}
	return secret.Text(plain), nil
}
