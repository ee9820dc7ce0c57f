package secrets

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

// KeyCheckValues returns the check value of each key of the keyset. Equal check values mean equal keys, and a check
// value does not reveal its key (docs/decisions/0017-admin-and-keyset.md).
func (c *Cipher) KeyCheckValues() map[uint32][]byte { return maps.Clone(c.values) }

func checkValues(handle *keyset.Handle) (map[uint32][]byte, error) {
	values := map[uint32][]byte{}
	for i := range handle.Len() {
		entry, err := handle.Entry(i)
		if err != nil {
			return nil, err
		}
		if values[entry.KeyID()], err = derive(entry, fmt.Sprintf("check value of key %d", entry.KeyID())); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (c *Cipher) PrimaryKeyID() uint32 { return c.primary }

// KeyIDOf returns the id of the key that encrypted a ciphertext, or 0 for bytes that are no ciphertext of a keyset.
func KeyIDOf(ciphertext []byte) uint32 {
	if len(ciphertext) < 5 || ciphertext[0] != 1 {
		return 0
	}
	return binary.BigEndian.Uint32(ciphertext[1:])
}

// SetRefusalError makes Encrypt and Decrypt return err from now on, as for a keyset that is not the database's;
// nil ends that.
func (c *Cipher) SetRefusalError(err error) {
	if err == nil {
		c.refusal.Store(nil)
		return
	}
	c.refusal.Store(&err)
}
