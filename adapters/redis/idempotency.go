package redis

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/failpoint"
)

const (
	// cachedFor is how long a response stays in the Redis cache. Most repeated requests follow within a minute; later
	// ones get the response from the database.
	cachedFor = time.Minute
	// cachedAtMost is the most bytes of a response body that is cached in Redis. Larger responses are replayed from
	// the database.
	cachedAtMost = 16 << 10
	// cacheShare is the most bytes of Redis memory that the cached responses of a process take. Redis holds the job
	// queue too and evicts nothing.
	cacheShare = 12 << 20
	// cachedBeside is the bytes of Redis memory that a cached response takes besides its body, rounded up.
	cachedBeside = 350
)

// ResponseCipher encrypts and decrypts cached responses, so that Redis holds no response in plain text.
type ResponseCipher interface {
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

// IdempotencyCache returns stored responses to repeated requests without a query of the database, and caches
// responses in batches after their requests were answered.
type IdempotencyCache struct {
	client  redis.UniversalClient
	breaker *Breaker
	cipher  ResponseCipher
	log     *slog.Logger

	mu      sync.Mutex
	waiting []keeping
	// The Idempotency-Keys whose responses this process has cached in the last cachedFor; no other key is read from
	// Redis.
	now, before map[string]struct{}
	// The bytes of Redis memory that the responses of the newer set take.
	taken int
	// When the two sets of cached Idempotency-Keys were last exchanged: the older set is emptied, and the newer
	// becomes the older.
	turned time.Time
}

type keeping struct {
	name     string
	response ports.StoredResponse
}

func NewIdempotencyCache(client redis.UniversalClient, breaker *Breaker, cipher ResponseCipher,
	log *slog.Logger) *IdempotencyCache {
	return &IdempotencyCache{client: client, breaker: breaker, cipher: cipher, log: log}
}

func (c *IdempotencyCache) LookUp(ctx context.Context, k ports.IdempotencyKey) *ports.StoredResponse {
	if k.Epoch == (ports.RestoreEpoch{}) {
		return nil
	}
	name := nameOf(k)
	if !c.knows(name) {
		return nil
	}
	var kept []byte
	err := c.breaker.Do(ctx, func(ctx context.Context) (err error) {
		kept, err = c.client.Get(ctx, name).Bytes()
		return err
	})
	if err != nil {
		return nil
	}
	stored, err := c.open(name, kept)
	if err != nil {
		c.log.WarnContext(ctx, "a cached response cannot be read; it is replayed from the database", "cause", err)
		return nil
	}
	return stored
}

// Store caches the response of an Idempotency-Key soon, together with others, unless the response is too large or
// the process's share of Redis memory is used up.
func (c *IdempotencyCache) Store(k ports.IdempotencyKey, r ports.StoredResponse) {
	failpoint.Hit("cache.finishing")
	if k.Epoch == (ports.RestoreEpoch{}) || len(r.Body) > cachedAtMost {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn()
	// Redis holds the responses of two sets at most.
	size := len(r.Body) + cachedBeside
	if c.taken+size > cacheShare/2 {
		return
	}
	c.taken += size
	name := nameOf(k)
	c.now[name] = struct{}{}
	if c.waiting = append(c.waiting, keeping{name, r}); len(c.waiting) == 1 {
		time.AfterFunc(linger, c.send)
	}
}

// knows reports whether this process has cached the response to an Idempotency-Key in the last minute or two.
func (c *IdempotencyCache) knows(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn()
	_, now := c.now[name]
	_, before := c.before[name]
	return now || before
}

// turn removes the Idempotency-Keys whose cached responses have expired in Redis.
func (c *IdempotencyCache) turn() {
	if c.now == nil || time.Since(c.turned) >= cachedFor {
		c.before, c.now, c.taken, c.turned = c.now, map[string]struct{}{}, 0, time.Now()
	}
}

// send caches the waiting responses in Redis. A response that cannot be cached is dropped, since the database has
// it too.
func (c *IdempotencyCache) send() {
	c.mu.Lock()
	waiting := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	ctx := context.Background()
	pipe := c.client.Pipeline()
	for _, k := range waiting {
		sealed, err := c.seal(k.name, &k.response)
		if err != nil {
			c.log.WarnContext(ctx, "a response cannot be cached", "cause", err)
			continue
		}
		pipe.Set(ctx, k.name, sealed, cachedFor)
	}
	_ = c.breaker.Do(ctx, func(ctx context.Context) error {
		_, err := pipe.Exec(ctx)
		return err
	})
}

// nameOf returns the Redis key of a cached response.
func nameOf(k ports.IdempotencyKey) string {
	scope := make([]byte, 0, 128)
	scope = append(append(append(append(scope, k.Epoch[:]...), k.Owner[:]...), k.Key[:]...), k.Route...)
	sum := sha256.Sum256(scope)
	return "svc:idempotency:" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// seal encrypts a response for the cache: fingerprint, Unix microseconds, status and body.
func (c *IdempotencyCache) seal(name string, r *ports.StoredResponse) ([]byte, error) {
	plain := make([]byte, 0, sealedHead+len(r.Body))
	plain = append(plain, r.Fingerprint[:]...)
	// Converting the response's time loses nothing, since all times are after 1970.
	plain = binary.BigEndian.AppendUint64(plain, uint64(r.CreatedAt.UnixMicro()))
	// Converting the response's status loses nothing, since HTTP statuses have three digits.
	plain = binary.BigEndian.AppendUint16(plain, uint16(r.Code))
	return c.cipher.Encrypt(append(plain, r.Body...), []byte(name))
}

const sealedHead = sha256.Size + 8 + 2

var errForeign = errors.New("redis: not a response of ours")

func (c *IdempotencyCache) open(name string, kept []byte) (*ports.StoredResponse, error) {
	plain, err := c.cipher.Decrypt(kept, []byte(name))
	if err != nil {
		return nil, err
	}
	if len(plain) < sealedHead {
		return nil, errForeign
	}
	var r ports.StoredResponse
	copy(r.Fingerprint[:], plain)
	// The response's time is stored as microseconds since 1970, in an unsigned number.
	r.CreatedAt = time.UnixMicro(int64(binary.BigEndian.Uint64(plain[sha256.Size:]))).UTC()
	r.Code = int(binary.BigEndian.Uint16(plain[sha256.Size+8:]))
	r.Body = plain[sealedHead:]
	return &r, nil
}
