package wire

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres"
	platformtables "partnerdeposits/adapters/postgres/platform"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/fault"
	"partnerdeposits/process/config"
	"partnerdeposits/process/services"
)

// ErrKeysetDiffers is the error for a SECRETS_KEYSET that is not that of the database.
var ErrKeysetDiffers = platformtables.ErrKeysetDiffers

// errNotCompared is why secrets are refused before the keyset was compared with the database.
var errNotCompared = errors.New("the keyset is not compared with the database yet")

// keysetHolds is how long a successful comparison of the keyset with the database holds.
const keysetHolds = time.Minute

// keysetFits compares the keyset with the check values in the database. While they differ, the process neither
// writes nor reads a secret. If the database does not answer, the last result stays.
func (s *process) keysetFits(ctx context.Context) error {
	proven, err := platformtables.CheckKeyset(ctx, s.ops, s.Cipher.KeyCheckValues())
	switch {
	case err == nil:
		s.Cipher.SetRefusalError(nil)
		s.proven.Store(proven)
	case errors.Is(err, ErrKeysetDiffers):
		s.Cipher.SetRefusalError(fault.ErrUnavailable.WithCause(err))
		s.proven.Store(false)
	}
	return err
}

func keysetProblem(err error) string {
	if errors.Is(err, ErrKeysetDiffers) {
		return "is not the keyset of this database"
	}
	return "cannot be compared"
}

type KeysetFinding struct {
	Err        error // ErrKeysetDiffers if the keyset is wrong, or the error of reading the secrets; nil if neither.
	Opened     int64 // The number of stored secrets that the keyset decrypts.
	Unreadable []UnreadableSecrets
	Took       time.Duration
}

// UnreadableSecrets counts the secrets of a kind and a key that do not decrypt.
type UnreadableSecrets struct {
	Kind    string
	Key     uint32 // The key that encrypted the secrets; 0: they were not made with any keyset.
	Secrets int64
}

func (k KeysetFinding) failed() (n int64) {
	for _, u := range k.Unreadable {
		n += u.Secrets
	}
	return n
}

// keysetReader tries to decrypt a database's secrets, and stores check values of the keys
// (docs/decisions/0017-admin-and-keyset.md).
type keysetReader struct {
	pool   *pgxpool.Pool
	cipher *secrets.Cipher
	store  *postgres.Store
	// Whether SECRETS_KEYSET is set. The built-in keyset must not be recorded as that of the database.
	given  bool
	writes bool // Whether Postgres takes writes, so that check values can be stored.
}

// readAll tries to decrypt every secret, in pages. If all decrypt, the check values become those of their keys.
// Otherwise those of the keys that decrypted are added, unless the keyset may be the wrong one.
func (r keysetReader) readAll(ctx context.Context) KeysetFinding {
	proven, differs := platformtables.CheckKeyset(ctx, r.pool, r.cipher.KeyCheckValues())
	if differs != nil && !errors.Is(differs, ErrKeysetDiffers) {
		return KeysetFinding{Err: differs}
	}
	found, keys, _, err := r.read(ctx, false)
	if err != nil {
		return KeysetFinding{Err: err}
	}
	failed := found.failed()
	switch {
	case failed == 0 && (found.Opened > 0 || r.given):
		found.Err = r.keep(ctx, keys, true)
	case differs != nil, failed > 0 && failed >= found.Opened && !proven:
		found.Err = ErrKeysetDiffers
	case found.Opened > 0:
		found.Err = r.keep(ctx, keys, false)
	}
	return found
}

// readSome tries to decrypt the first secrets of each kind, if the database has no check values yet. Returns
// ErrKeysetDiffers if the keyset does not fit.
func (r keysetReader) readSome(ctx context.Context) error {
	if proven, err := platformtables.CheckKeyset(ctx, r.pool, r.cipher.KeyCheckValues()); proven || err != nil {
		return err
	}
	found, keys, whole, err := r.read(ctx, true)
	switch failed := found.failed(); {
	case err != nil:
		return err
	case failed > 0 && failed >= found.Opened:
		return ErrKeysetDiffers
	case found.Opened == 0 && !whole:
		return nil
	}
	return r.keep(ctx, keys, false)
}

// read tries to decrypt the secrets of all kinds, or only the first page of each. keys are those of the secrets
// that decrypt; whole reports whether every secret was read.
func (r keysetReader) read(ctx context.Context, some bool) (found KeysetFinding, keys map[uint32]bool, whole bool,
	err error) {
	resealer, began := postgres.NewSecretReencrypter(r.store, r.cipher.PrimaryCiphertextPrefix()), time.Now()
	keys, whole = map[uint32]bool{}, true
	for _, kind := range resealer.SecretColumns() {
		unreadable := map[uint32]int64{}
		see := func(sealed []byte, opens bool) {
			if key := secrets.KeyIDOf(sealed); opens {
				found.Opened, keys[key] = found.Opened+1, true
			} else {
				unreadable[key]++
			}
		}
		for at, done := kind.FirstPage(), false; !done; {
			if at, done, err = resealer.CheckPage(ctx, at, see); err != nil {
				return found, keys, false, err
			}
			if some {
				whole = whole && done
				break
			}
		}
		for _, key := range slices.Sorted(maps.Keys(unreadable)) {
			found.Unreadable = append(found.Unreadable, UnreadableSecrets{kind.Name, key, unreadable[key]})
		}
	}
	found.Took = time.Since(began)
	return found, keys, whole, nil
}

// keep stores the check values of the keys, or of the primary key if the database has no secrets. instead reports
// whether they replace the present ones.
func (r keysetReader) keep(ctx context.Context, keys map[uint32]bool, instead bool) error {
	if !r.writes {
		return nil
	}
	if len(keys) == 0 {
		keys[r.cipher.PrimaryKeyID()] = true
	}
	values := r.cipher.KeyCheckValues()
	maps.DeleteFunc(values, func(key uint32, _ []byte) bool { return !keys[key] })
	return platformtables.StoreKeyCheckValues(ctx, r.pool, values, instead)
}

// keepCheckValues stores the check values of SECRETS_KEYSET in a database that was just migrated.
func keepCheckValues(ctx context.Context, cfg config.Config, url string) error {
	if cfg.SecretsKeyset == "" {
		// Migrations may run on a machine that lacks the keyset.
		return nil
	}
	cipher, err := services.NewSecretsCipher(cfg, nil)
	if err != nil {
		return err
	}
	pool, err := postgres.NewPool(ctx, url, postgres.PoolOptions{MaxConns: adminConns, AppName: "partnerdeposits-migrate"})
	if err != nil {
		return err
	}
	defer pool.Close()
	store := postgres.NewStore(pool, cipher, postgres.Options{})
	defer store.Close(ctx)
	return keysetReader{pool, cipher, store, true, true}.readSome(ctx)
}
