// Package secrets encrypts values that the service must read again, such as webhook secrets. A keyset has a
// primary key, which encrypts, and older keys, which still decrypt. Every ciphertext is bound to its row.
package secrets

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// DevelopmentKeyset is the default of SECRETS_KEYSET in development. It is public and protects nothing: staging and
// production require a keyset of their own.
const DevelopmentKeyset = "eyJwcmltYXJ5S2V5SWQiOjE3MjQxMjE2NzcsImtleSI6W3sia2V5RGF0YSI6eyJ0eXBlVXJsIjoidHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUuY3J5cHRvLnRpbmsuQWVzR2NtS2V5IiwidmFsdWUiOiJHaUE1L3RNWU5BSE1IeHl2a1h4ekhLODlIbXhzWVNJOFNCOXllTS9PUkg3SHZRPT0iLCJrZXlNYXRlcmlhbFR5cGUiOiJTWU1NRVRSSUMifSwic3RhdHVzIjoiRU5BQkxFRCIsImtleUlkIjoxNzI0MTIxNjc3LCJvdXRwdXRQcmVmaXhUeXBlIjoiVElOSyJ9XX0="

// Errors of encryption and of changes of the keyset. Their texts contain neither keys nor plaintext.
var (
	ErrInvalidKeyset  = errors.New("secrets: the keyset is not one that NewKeyset made")
	ErrNewestKeyInUse = errors.New("secrets: the newest key of the keyset encrypts already")
	ErrDecrypt        = errors.New("secrets: does not decrypt with this keyset for this row")
)

// Cipher encrypts values with the primary key of its keyset and decrypts them with any key. It is safe for
// concurrent use.
type Cipher struct {
	aead    tink.AEAD
	primary uint32
	// The key of the HMACs that Hash computes, which is derived from the oldest key of the keyset.
	hashing []byte
	values  map[uint32][]byte
	refusal atomic.Pointer[error]
}

// NewKeyset makes a keyset with one random AES-256-GCM key, as the base64 of Tink's JSON.
func NewKeyset() (string, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return "", fmt.Errorf("secrets: make keyset: %w", err)
	}
	return encode(handle)
}

// RotateKeyset adds a new primary key to an encoded keyset; older keys still decrypt. Returns ErrInvalidKeyset.
func RotateKeyset(encoded string) (string, error) {
	added, err := AddKey(encoded)
	if err != nil {
		return "", err
	}
	return MakeNewestKeyPrimary(added)
}

// AddKey adds a key to an encoded keyset that decrypts but does not encrypt yet. Returns ErrInvalidKeyset.
func AddKey(encoded string) (string, error) {
	handle, err := decode(encoded)
	if err != nil {
		return "", err
	}
	manager := keyset.NewManagerFromHandle(handle)
	if _, err := manager.Add(aead.AES256GCMKeyTemplate()); err != nil {
		return "", fmt.Errorf("secrets: add key: %w", err)
	}
	return encodeOf(manager)
}

// MakeNewestKeyPrimary makes the newest key of an encoded keyset its primary key. Returns ErrInvalidKeyset, and
// ErrNewestKeyInUse if it is primary already.
func MakeNewestKeyPrimary(encoded string) (string, error) {
	handle, err := decode(encoded)
	if err != nil {
		return "", err
	}
	newest, err := handle.Entry(handle.Len() - 1)
	if err != nil {
		return "", ErrInvalidKeyset
	}
	if newest.IsPrimary() {
		return "", ErrNewestKeyInUse
	}
	manager := keyset.NewManagerFromHandle(handle)
	if err := manager.SetPrimary(newest.KeyID()); err != nil {
		return "", fmt.Errorf("secrets: set primary key: %w", err)
	}
	return encodeOf(manager)
}

func encodeOf(manager *keyset.Manager) (string, error) {
	handle, err := manager.Handle()
	if err != nil {
		return "", fmt.Errorf("secrets: keyset: %w", err)
	}
	return encode(handle)
}

// OpenKeyset makes a cipher from an encoded keyset (SECRETS_KEYSET). Returns ErrInvalidKeyset.
func OpenKeyset(encoded string) (*Cipher, error) {
	handle, err := decode(encoded)
	if err != nil {
		return nil, err
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	primary, err := handle.Primary()
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	hashing, err := hashingKey(handle)
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	values, err := checkValues(handle)
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	return &Cipher{aead: primitive, primary: primary.KeyID(), hashing: hashing, values: values}, nil
}

// hashingKey derives the key of HMACs from the keyset's oldest key, which stays during a rotation.
func hashingKey(handle *keyset.Handle) ([]byte, error) {
	oldest, err := handle.Entry(0)
	if err != nil {
		return nil, err
	}
	return derive(oldest, "hash")
}

// derive derives 32 bytes from a key of the keyset for a purpose.
func derive(of *keyset.Entry, purpose string) ([]byte, error) {
	key, ok := of.Key().(*aesgcm.Key)
	if !ok {
		return nil, ErrInvalidKeyset
	}
	return hkdf.Key(sha256.New, key.KeyBytes().Data(insecuresecretdataaccess.Token{}), nil, purpose, sha256.Size)
}

// Hash returns the HMAC-SHA256 of a text, which must begin with its purpose. It changes when the oldest key
// leaves the keyset.
func (c *Cipher) Hash(text string) []byte {
	h := hmac.New(sha256.New, c.hashing)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// PrimaryCiphertextPrefix returns the bytes with which every ciphertext of the primary key begins, and no
// other.
func (c *Cipher) PrimaryCiphertextPrefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{1}, c.primary)
}

// Encrypt binds the ciphertext to associatedData, which names purpose and row: "webhook_secret:" and the row's
// id.
func (c *Cipher) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	if refusal := c.refusal.Load(); refusal != nil {
		return nil, *refusal
	}
	return c.aead.Encrypt(plaintext, associatedData)
}

// Decrypt decrypts a ciphertext that Encrypt made for the same associatedData.
//
// Returns ErrDecrypt.
func (c *Cipher) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	if refusal := c.refusal.Load(); refusal != nil {
		return nil, *refusal
	}
	plaintext, err := c.aead.Decrypt(ciphertext, associatedData)
	if err != nil {
		return nil, ErrDecrypt
	}
	return plaintext, nil
}

func encode(handle *keyset.Handle) (string, error) {
	var out bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&out)); err != nil {
		return "", fmt.Errorf("secrets: write keyset: %w", err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// decode parses an encoded keyset. It never wraps an error of a library, which might quote key material.
func decode(encoded string) (*keyset.Handle, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, ErrInvalidKeyset
	}
	return handle, nil
}
