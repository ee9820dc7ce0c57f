package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	forwardedKey = "svc:forwarded"
	// forwardedBothKey is the Redis key for notes about a trusted proxy that sends both X-Real-IP and X-Forwarded-For.
	// Notes about untrusted clients have another Redis key, so that such a client cannot overwrite this note.
	forwardedBothKey = "svc:forwarded:both"
	// forwardedKept is how long a note about forwarded headers is kept. It is longer than the interval at which http
	// processes write such notes.
	forwardedKept = time.Hour
)

// ProxyHeaderWarning is a note that an untrusted peer sent a header with a client's address, or that a trusted
// proxy sent both X-Real-IP and X-Forwarded-For.
type ProxyHeaderWarning struct {
	Peer   string
	Header string
	Both   bool
}

func forwardedKeyOf(both bool) string {
	if both {
		return forwardedBothKey
	}
	return forwardedKey
}

// StoreProxyHeaderWarning stores a note about a suspicious header with a client's address in Redis for an hour,
// for `admin doctor`.
func StoreProxyHeaderWarning(ctx context.Context, client redis.UniversalClient, breaker *Breaker,
	f ProxyHeaderWarning) error {
	text, err := json.Marshal(f)
	if err != nil {
		panic("redis: " + err.Error())
	}
	return breaker.Do(ctx, func(ctx context.Context) error {
		return client.Set(ctx, forwardedKeyOf(f.Both), text, forwardedKept).Err()
	})
}

// ReadProxyHeaderWarning returns the last note of a kind about a suspicious header with a client's address; the zero
// value if there is none. both chooses notes about a trusted proxy (true) or about an untrusted peer (false).
func ReadProxyHeaderWarning(ctx context.Context, client redis.UniversalClient, both bool) (f ProxyHeaderWarning,
	err error) {
	text, err := client.Get(ctx, forwardedKeyOf(both)).Bytes()
	if errors.Is(err, redis.Nil) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return ProxyHeaderWarning{}, fmt.Errorf("redis: note about a proxy: %w", err)
	}
	return f, nil
}
