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
	// forwardedKept outlives the interval at which http processes notice forwarded headers.
	forwardedKept = time.Hour
)

// Forwarded is the note that a peer, which is no trusted proxy, told the address of another client.
type Forwarded struct {
	Peer   string // address
	Header string
}

// NoteForwarded keeps the note for an hour, for `admin doctor`. A note that is lost comes again.
func NoteForwarded(ctx context.Context, client redis.UniversalClient, breaker *Breaker, f Forwarded) {
	text, err := json.Marshal(f)
	if err != nil { // two strings always encode
		panic("redis: " + err.Error())
	}
	_ = breaker.Do(ctx, func(ctx context.Context) error { return client.Set(ctx, forwardedKey, text, forwardedKept).Err() })
}

// ReadForwarded gives the last note; the zero value for none.
func ReadForwarded(ctx context.Context, client redis.UniversalClient) (f Forwarded, err error) {
	text, err := client.Get(ctx, forwardedKey).Bytes()
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
