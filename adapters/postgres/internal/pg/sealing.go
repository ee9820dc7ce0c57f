package pg

import (
	"encoding/hex"
	"fmt"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// Cipher encrypts secrets at rest (adapters/secrets).
type Cipher interface {
	// Encrypt binds the ciphertext to associatedData: Decrypt with other associated data returns an error.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
	// Hash gives 32 bytes that nobody without the keyset can give, always the same for a text.
	Hash(text string) []byte
}

// The associated data of a secret names its purpose and its row, so that a ciphertext copied to another row does not
// open.
func ConnectAAD(partnerID id.ID) []byte { return []byte("connect_secret:" + partnerID.String()) }
func SecretAAD(subscriptionID id.ID) []byte {
	return []byte("webhook_secret:" + subscriptionID.String())
}
func CheckoutAAD(depositID id.ID) []byte { return []byte("checkout_token:" + depositID.String()) }
func AddressAAD(clientID id.ID) []byte   { return []byte("client_address:" + clientID.String()) }
func FactorAAD(operatorID id.ID) []byte  { return []byte("second_factor:" + operatorID.String()) }
func MailAAD(mailID id.ID) []byte        { return []byte("mail:" + mailID.String()) }
func AgreementAAD(recordID id.ID) []byte {
	return []byte("agreement_origin:" + recordID.String())
}
func FileAAD(fileID id.ID) []byte { return []byte("file_key:" + fileID.String()) }
func DraftAAD(session [32]byte, form id.ID) []byte {
	return []byte("form_draft:" + hex.EncodeToString(session[:]) + ":" + form.String())
}

// MailboxHash names a mailbox (mailaddr.Mailbox) where nobody is to read it.
func (s Sealer) MailboxHash(mailbox string) []byte { return s.Cipher.Hash("mailbox:" + mailbox) }

func ResponseAAD(k ports.IdempotencyKey) []byte {
	return []byte("idempotent_response:" + KeyScope(k))
}

// KeyScope is the text of an idempotency key: partner, route, key. The key has a fixed length, so scopes are
// unambiguous. Stored responses are sealed for this text, and processes of different versions lock by it: the text
// never changes.
func KeyScope(k ports.IdempotencyKey) string {
	const lengths = 36 + 2 + 2*len(k.Key) // of partner, separators and key
	b := make([]byte, 0, lengths+len(k.Route))
	b = append(append(append(append(b, k.Owner.String()...), '|'), k.Route...), '|')
	return string(hex.AppendEncode(b, k.Key[:]))
}

// Sealer encrypts and decrypts texts.
type Sealer struct{ Cipher Cipher }

func (s Sealer) Seal(plain secret.Text, associatedData []byte) ([]byte, error) {
	sealed, err := s.Cipher.Encrypt([]byte(plain.Reveal()), associatedData)
	if err != nil {
		return nil, fmt.Errorf("postgres: encrypt: %w", err)
	}
	return sealed, nil
}

func (s Sealer) Open(sealed, associatedData []byte) (secret.Text, error) {
	plain, err := s.Cipher.Decrypt(sealed, associatedData)
	if err != nil {
		return "", fmt.Errorf("postgres: decrypt: %w", err)
	}
	return secret.Text(plain), nil
}
