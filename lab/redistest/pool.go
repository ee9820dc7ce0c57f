package redistest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// leaseKey, followed by its number, marks a Redis database as in use by one of several parallel test binaries.
	leaseKey = "redistest:lease:"
	// leaseFor exceeds go test's limit of ten minutes. After a killed run the lease of a Redis database expires.
	leaseFor = 11 * time.Minute
	// fewest databases are assumed if the Redis server does not report their number.
	fewest = 16
)

// pool leases the numbered databases of a Redis server to tests; database 0 holds the leases.
type pool struct {
	base    *url.URL
	options *redis.Options
	leases  *redis.Client
	last    int // The highest database number of the Redis server.
	// This process's value in its leases of Redis databases.
	holder string
	// searched counts the Redis databases that were tried. The next search starts after them, so that a returned
	// database is reused late.
	searched atomic.Int64
}

func newPool(ctx context.Context, redisURL string) (*pool, error) {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, errors.New("the Redis URL does not parse")
	}
	// redis.ParseURL has already accepted the URL.
	base, _ := url.Parse(redisURL)
	p := &pool{base: base, options: options, holder: rand.Text(), last: fewest - 1}
	p.leases = p.client(0)
	if err := p.leases.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(err, p.leases.Close())
	}
	// A hosted Redis may refuse CONFIG; then the default number applies.
	if told, err := p.leases.ConfigGet(ctx, "databases").Result(); err == nil {
		if n, err := strconv.Atoi(told["databases"]); err == nil {
			p.last = n - 1
		}
	}
	if p.last < 1 {
		return nil, errors.Join(errors.New("the server has one database only; tests need several"), p.leases.Close())
	}
	return p, nil
}

func (p *pool) client(db int) *redis.Client {
	options := *p.options
	options.DB = db
	return redis.NewClient(&options)
}

func (p *pool) urlOf(db int) string {
	u := *p.base
	u.Path = "/" + strconv.Itoa(db)
	return u.String()
}

// take leases an empty Redis database. It waits while all are in use.
func (p *pool) take(ctx context.Context) (int, error) {
	for {
		for range p.last {
			db := int(p.searched.Add(1)-1)%p.last + 1
			won, err := p.leases.SetNX(ctx, lease(db), p.holder, leaseFor).Result()
			if ctx.Err() != nil {
				return 0, p.allInUse(ctx)
			}
			if err != nil {
				return 0, fmt.Errorf("lease a database: %w", err)
			}
			if won {
				// A killed run may have left data in the leased Redis database.
				return db, p.flush(ctx, db)
			}
		}
		select {
		case <-ctx.Done():
			return 0, p.allInUse(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p *pool) allInUse(ctx context.Context) error {
	return fmt.Errorf("all %d databases are in use: %w", p.last, ctx.Err())
}

func (p *pool) giveBack(ctx context.Context, db int) error {
	if err := p.flush(ctx, db); err != nil {
		return err
	}
	return p.leases.Del(ctx, lease(db)).Err()
}

func (p *pool) flush(ctx context.Context, db int) error {
	client := p.client(db)
	return errors.Join(client.FlushDB(ctx).Err(), client.Close())
}

func (p *pool) close() { _ = p.leases.Close() }

func lease(db int) string { return leaseKey + strconv.Itoa(db) }
