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
	forwardedKey     = "svc:forwarded"
	forwardedBothKey = "svc:forwarded:both" // apart, so that a stranger's header takes no place of this note
	// forwardedKept outlives the interval at which http processes notice forwarded headers.
	forwardedKept = time.Hour
)

// Forwarded is the note that a peer, which is no trusted proxy, told the address of another client; or that a trusted
// proxy told it by both X-Real-IP and X-Forwarded-For.
type Forwarded struct {
	Peer   string // address
	Header string
	Both   bool
}

func forwardedKeyOf(both bool) string {
	if both {
		return forwardedBothKey
	}
	return forwardedKey
}

// NoteForwarded keeps the note for an hour, for `admin doctor`. A note that is lost comes again.
func NoteForwarded(ctx context.Context, client redis.UniversalClient, breaker *Breaker, f Forwarded) {
	text, err := json.Marshal(f)
	if err != nil { // two strings always encode
		panic("redis: " + err.Error())
	}
	_ = breaker.Do(ctx, func(ctx context.Context) error {
		return client.Set(ctx, forwardedKeyOf(f.Both), text, forwardedKept).Err()
	})
}

// ReadForwarded gives the last note of a kind; the zero value for none.
func ReadForwarded(ctx context.Context, client redis.UniversalClient, both bool) (f Forwarded, err error) {
	text, err := client.Get(ctx, forwardedKeyOf(both)).Bytes()
	if errors.Is(err, redis.Nil) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return Forwarded{}, fmt.Errorf("redis: note about a proxy: %w", err)
	}
	return f, nil
}
