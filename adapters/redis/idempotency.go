package redis

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"slices"
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
	// cacheLinger is how long a response waits to be cached together with others, which saves a round trip to Redis
	// for each.
	cacheLinger = 200 * time.Millisecond
	keepBatch   = 256
)

// ResponseCipher encrypts and decrypts cached responses, so that Redis holds no response in plain text.
type ResponseCipher interface {
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

// IdempotencyCache returns stored responses to repeated requests without a query of the database, and caches
// responses in batches after their requests were answered.
type IdempotencyCache struct {
	limiter *Limiter
	cipher  ResponseCipher
	log     *slog.Logger

	mu      sync.Mutex
	share   share
	waiting []keeping
	// Whether the waiting responses are being sent to Redis, or soon will be.
	sending bool
	// The Idempotency-Keys whose responses this process has cached in the last cachedFor; no other key is read from
	// Redis.
	now, before map[cacheName]struct{}
	// When the two sets of cached Idempotency-Keys were last exchanged: the older set is emptied, and the newer
	// becomes the older.
	turned time.Time
}

type keeping struct {
	key      ports.IdempotencyKey
	response ports.StoredResponse
}

func NewIdempotencyCache(limiter *Limiter, cipher ResponseCipher, log *slog.Logger) *IdempotencyCache {
	return &IdempotencyCache{limiter: limiter, cipher: cipher, log: log, share: share{most: cacheShare}}
}

func (c *IdempotencyCache) AllowAndLookUp(ctx context.Context, k ports.IdempotencyKey,
	rules ...ports.LimitRule) (ports.LimitDecision, *ports.StoredResponse) {
	if k.Epoch == (ports.RestoreEpoch{}) {
		return c.limiter.Allow(ctx, rules...), nil
	}
	name := ""
	if c.knows(nameOf(k)) {
		name = cacheKey(k)
	}
	decision, kept := c.limiter.allow(ctx, name, rules)
	if kept == "" || !decision.Allowed {
		return decision, nil
	}
	stored, err := c.open(name, kept)
	if err != nil {
		c.log.WarnContext(ctx, "a cached response cannot be read; it is replayed from the database", "cause", err)
		return decision, nil
	}
	return decision, stored
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
	if !c.share.take(len(r.Body)+cachedBeside, time.Now()) {
		return
	}
	c.turn()
	c.now[nameOf(k)] = struct{}{}
	c.waiting = append(c.waiting, keeping{k, r})
	if !c.sending {
		c.sending = true
		time.AfterFunc(cacheLinger, c.send)
	}
}

// knows reports whether this process has cached the response to an Idempotency-Key in the last minute or two.
func (c *IdempotencyCache) knows(n cacheName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn()
	_, now := c.now[n]
	_, before := c.before[n]
	return now || before
}

// turn removes the Idempotency-Keys whose cached responses have expired in Redis.
func (c *IdempotencyCache) turn() {
	if c.now == nil || time.Since(c.turned) >= cachedFor {
		c.before, c.now, c.turned = c.now, map[cacheName]struct{}{}, time.Now()
	}
}

// send caches the waiting responses in Redis. A response that cannot be cached is dropped, since the database has
// it too.
func (c *IdempotencyCache) send() {
	c.mu.Lock()
	waiting := c.waiting
	c.waiting = nil
	if c.sending = len(waiting) > 0; c.sending {
		defer time.AfterFunc(cacheLinger, c.send)
	}
	c.mu.Unlock()
	for part := range slices.Chunk(waiting, keepBatch) {
		err := c.limiter.breaker.Do(context.Background(), func(ctx context.Context) error {
			_, err := c.limiter.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				for i := range part {
					c.queue(ctx, pipe, &part[i])
				}
				return nil
			})
			return err
		})
		if redis.HasErrorPrefix(err, "OOM") {
			c.mu.Lock()
			c.share.close(time.Now())
			c.mu.Unlock()
		}
	}
}

func (c *IdempotencyCache) queue(ctx context.Context, pipe redis.Pipeliner, k *keeping) {
	life := min(cachedFor, time.Until(k.response.CreatedAt.Add(ports.IdempotencyWindow)))
	if life < time.Millisecond {
		return
	}
	name := cacheKey(k.key)
	sealed, err := c.seal(name, &k.response)
	if err != nil {
		c.log.WarnContext(ctx, "a response cannot be cached", "cause", err)
		return
	}
	pipe.Set(ctx, name, sealed, life)
}

// cacheKey returns the Redis key of a cached response. Its hash tag (in braces) is that of the partner's rate
// limits, so that a cluster keeps both on the same node.
func cacheKey(k ports.IdempotencyKey) string {
	hash := nameOf(k)
	name := make([]byte, 0, 96)
	name = append(append(append(name, "svc:idempotency:{"...), ports.PartnerLimitKey(k.Owner)...), "}:"...)
	return string(base64.RawURLEncoding.AppendEncode(name, hash[:]))
}

type cacheName [16]byte

func nameOf(k ports.IdempotencyKey) cacheName {
	scope := make([]byte, 0, 128)
	scope = append(append(append(append(scope, k.Epoch[:]...), k.Owner[:]...), k.Key[:]...), k.Route...)
	sum := sha256.Sum256(scope)
	return cacheName(sum[:len(cacheName{})])
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

func (c *IdempotencyCache) open(name, kept string) (*ports.StoredResponse, error) {
	plain, err := c.cipher.Decrypt([]byte(kept), []byte(name))
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
