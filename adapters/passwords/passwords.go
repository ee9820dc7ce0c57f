// Package passwords hashes and checks passwords with argon2id.
package passwords

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/alexedwards/argon2id"

	"partnerdeposits/core/fault"
	accountports "partnerdeposits/ports/accounts"
)

// strong holds the argon2id parameters of OWASP's second recommendation: about 50 ms and 19 MiB per hash.
var strong = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// MaxHashWait bounds the wait for a password hash; after it the caller gets service_unavailable.
const MaxHashWait = 3 * time.Second

// MaxParallelHashes returns how many password hashes a process computes at once: half the processors, at least
// one.
func MaxParallelHashes() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// Argon2id hashes and compares passwords. It bounds how many hashes are computed at once.
type Argon2id struct {
	turns    turns
	patience time.Duration
	cost     argon2id.Params
	dummy    string
}

type Option func(*Argon2id)

// WithCheapHashes is an option for tests: password hashes then cost next to nothing.
func WithCheapHashes(a *Argon2id) { a.cost.Memory, a.cost.Iterations = 64, 1 }

// WithMaxHashWait sets how long a caller waits for a password hash; the default is MaxHashWait.
func WithMaxHashWait(d time.Duration) Option { return func(a *Argon2id) { a.patience = d } }

// New makes the password hasher, with a dummy hash for log-ins to unknown accounts.
func New(options ...Option) (*Argon2id, error) {
	a := &Argon2id{turns: turns{free: MaxParallelHashes()}, patience: MaxHashWait, cost: strong}
	for _, option := range options {
		option(a)
	}
	var err error
	if a.dummy, err = argon2id.CreateHash("nobody has this password", &a.cost); err != nil {
		return nil, fmt.Errorf("passwords: %w", err)
	}
	return a, nil
}

// Hash returns the argon2id hash of a password. Returns service_unavailable after MaxHashWait, and at once if
// too many callers wait.
func (a *Argon2id) Hash(ctx context.Context, password string, who accountports.PasswordCaller) (string, error) {
	release, err := a.acquire(ctx, who)
	if err != nil {
		return "", err
	}
	defer release()
	hash, err := argon2id.CreateHash(password, &a.cost)
	if err != nil {
		return "", fmt.Errorf("passwords: hash: %w", err)
	}
	return hash, nil
}

// Matches reports whether the password is that of the hash. An empty hash takes the same time and never
// matches. Returns service_unavailable as Hash does.
func (a *Argon2id) Matches(ctx context.Context, password, hash string, who accountports.PasswordCaller) (bool, error) {
	release, err := a.acquire(ctx, who)
	if err != nil {
		return false, err
	}
	defer release()
	against := hash
	if hash == "" {
		against = a.dummy
	}
	match, err := argon2id.ComparePasswordAndHash(password, against)
	if err != nil {
		return false, fmt.Errorf("passwords: compare: %w", err)
	}
	return match && hash != "", nil
}

func (a *Argon2id) acquire(ctx context.Context, who accountports.PasswordCaller) (release func(), err error) {
	// Check for an ended context here: permission to compute a hash may be available at the same moment.
	if err := ctx.Err(); err != nil {
		return nil, fault.ErrUnavailable.WithCause(err)
	}
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	return a.turns.acquire(ctx, who)
}
