package backing

import (
	"context"
	"errors"
	"net/url"
	"sync"
)

// Services is a Postgres and a Redis, ready for connections.
type Services struct {
	PostgresURL, RedisURL       string // see Server.URL
	PostgresChoice, RedisChoice string // see Server.Choice
	Postgres, Redis             *Server
}

// Start obtains both servers at the same time and logs a line with their sources. The context bounds the start only.
//
// The error names the package to install or the variable to set.
func Start(ctx context.Context, o Options) (*Services, error) {
	o = o.withDefaults()
	var (
		both               sync.WaitGroup
		postgres, redis    *Server
		errPostgres, errRe error
	)
	both.Go(func() { postgres, errPostgres = postgresService.obtain(ctx, o) })
	both.Go(func() { redis, errRe = redisService.obtain(ctx, o) })
	both.Wait()
	if err := errors.Join(errPostgres, errRe); err != nil {
		return nil, errors.Join(err, closeAll(postgres, redis))
	}
	o.Logf("services: Postgres from %s; Redis from %s", postgres.choice, redis.choice)
	return &Services{
		PostgresURL: postgres.url, RedisURL: redis.url,
		PostgresChoice: postgres.choice, RedisChoice: redis.choice,
		Postgres: postgres, Redis: redis,
	}, nil
}

// Close ends the servers that this process started, and removes their data.
func (s *Services) Close() error { return closeAll(s.Postgres, s.Redis) }

// StartPostgres obtains a Postgres; as Start otherwise.
func StartPostgres(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, postgresService, o)
}

// StartRedis obtains a Redis; as Start otherwise.
func StartRedis(ctx context.Context, o Options) (*Server, error) {
	return startOne(ctx, redisService, o)
}

func startOne(ctx context.Context, s service, o Options) (*Server, error) {
	o = o.withDefaults()
	server, err := s.obtain(ctx, o)
	if err != nil {
		return nil, err
	}
	o.Logf("services: %s from %s", s.name, server.choice)
	return server, nil
}

func closeAll(servers ...*Server) error {
	var errs []error
	for _, server := range servers {
		if server != nil {
			errs = append(errs, server.Close())
		}
	}
	return errors.Join(errs...)
}

// hostOf names a server without its user, password and options.
func hostOf(given string) string {
	parsed, err := url.Parse(given)
	if err != nil || parsed.Host == "" {
		return "an address that is not a URL"
	}
	return parsed.Host
}
