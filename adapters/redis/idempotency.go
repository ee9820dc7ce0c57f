package redis

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	// markFor is the life of a mark, and exceeds the deadline of every keyed request. The database decides between
	// requests that run in parallel after that.
	markFor = 15 * time.Second
	// cachedAtMost bounds a cached body, in bytes. Larger responses are replayed from the database.
	cachedAtMost = 16 << 10
	markPrefix   = 'm'
	answerPrefix = 'r'
)

//go:embed idempotency.lua
var beginLua string

var (
	beginScript = redis.NewScript(beginLua)
	// unmarkScript removes a mark if this request set the mark.
	unmarkScript = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
)

// Cipher encrypts cached responses, so that Redis holds no response in plain text.
type Cipher interface {
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

// IdempotencyCache answers repeated requests without the database.
type IdempotencyCache struct {
	client  redis.UniversalClient
	breaker *Breaker
	cipher  Cipher
	log     *slog.Logger
}

// NewIdempotencyCache makes the cache.
func NewIdempotencyCache(client redis.UniversalClient, breaker *Breaker, cipher Cipher, log *slog.Logger) *IdempotencyCache {
	return &IdempotencyCache{client: client, breaker: breaker, cipher: cipher, log: log}
}

// Begin gives the cached response, or marks the key as running.
//
// Returns ports.ErrKeyInUse while another request's mark is set.
func (c *IdempotencyCache) Begin(ctx context.Context, k ports.IdempotencyKey) (*ports.StoredResponse, error) {
	if k.Epoch == (ports.Epoch{}) {
		return nil, nil // the port defines this result as "go on"
	}
	name := cacheKey(k)
	var kept string
	err := c.breaker.Do(ctx, func(ctx context.Context) (err error) {
		kept, err = beginScript.Run(ctx, c.client, []string{name}, mark(k), markFor.Milliseconds()).Text()
		return err
	})
	switch {
	case err != nil: // redis.Nil: the key is marked. Any other error: the database decides alone.
		return nil, nil // as above
	case kept != "" && kept[0] == markPrefix:
		return nil, ports.ErrKeyInUse
	}
	stored, err := c.open(name, kept)
	if err != nil {
		c.log.WarnContext(ctx, "a cached response cannot be read; it is replayed from the database", "cause", err)
		return nil, nil // as above
	}
	return stored, nil
}

// Finish caches the response and removes the mark; with r nil it only removes the mark.
func (c *IdempotencyCache) Finish(ctx context.Context, k ports.IdempotencyKey, r *ports.StoredResponse) {
	failpoint.Hit("cache.finishing")
	if k.Epoch == (ports.Epoch{}) {
		return
	}
	name := cacheKey(k)
	sealed, err := c.seal(name, r)
	if err != nil {
		c.log.WarnContext(ctx, "a response cannot be cached", "cause", err)
	}
	// After a failure the mark expires, and the response is in the database.
	_ = c.breaker.Do(ctx, func(ctx context.Context) error {
		if sealed == nil {
			return unmarkScript.Run(ctx, c.client, []string{name}, mark(k)).Err()
		}
		end := r.CreatedAt.Add(ports.IdempotencyWindow)
		return c.client.SetArgs(ctx, name, sealed, redis.SetArgs{ExpireAt: end}).Err()
	})
}

// cacheKey hashes epoch, partner, route and key to a fixed length.
func cacheKey(k ports.IdempotencyKey) string {
	h := sha256.New()
	h.Write(k.Epoch[:])
	h.Write(k.PartnerID[:])
	h.Write(k.Key[:])
	h.Write([]byte(k.Route))
	return "svc:idempotency:" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func mark(k ports.IdempotencyKey) string { return string(markPrefix) + k.Holder.Encode() }

// seal gives the cached form: a prefix, then encrypted the fingerprint, Unix microseconds, status and body. The result
// is nil for a response that is not cached.
func (c *IdempotencyCache) seal(name string, r *ports.StoredResponse) ([]byte, error) {
	if r == nil || len(r.Body) > cachedAtMost {
		return nil, nil
	}
	plain := append([]byte(nil), r.Fingerprint[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(r.CreatedAt.UnixMicro())) // all times are after 1970
	plain = binary.BigEndian.AppendUint16(plain, uint16(r.Status))                // an HTTP status
	plain = append(plain, r.Body...)
	sealed, err := c.cipher.Encrypt(plain, []byte(name))
	if err != nil {
		return nil, err
	}
	return append([]byte{answerPrefix}, sealed...), nil
}

const sealedHead = sha256.Size + 8 + 2

var errForeign = errors.New("redis: not a response of ours")

func (c *IdempotencyCache) open(name, kept string) (*ports.StoredResponse, error) {
	if kept == "" || kept[0] != answerPrefix {
		return nil, errForeign
	}
	plain, err := c.cipher.Decrypt([]byte(kept[1:]), []byte(name))
	if err != nil {
		return nil, err
	}
	if len(plain) < sealedHead {
		return nil, errForeign
	}
	var r ports.StoredResponse
	copy(r.Fingerprint[:], plain)
	r.CreatedAt = time.UnixMicro(int64(binary.BigEndian.Uint64(plain[sha256.Size:]))).UTC() // as in seal
	r.Status = int(binary.BigEndian.Uint16(plain[sha256.Size+8:]))
	r.Body = plain[sealedHead:]
	return &r, nil
}
