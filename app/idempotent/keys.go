package idempotent

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/ports"
)

// Response is an answer as it goes out, byte by byte.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool // an earlier answer, given once more
}

// Call is how a use case is asked: under which key, if any, and how its result is written down. Encode runs inside the
// transaction of the effect, so that what is stored is what is sent.
type Call[T any] struct {
	Key    *ports.IdempotencyKey // nil: the request carries none
	Encode func(T) (Response, error)
}

// Job is one request that may be keyed.
type Job struct {
	Key *ports.IdempotencyKey
	Now time.Time

	// Prepare does what must not happen inside a transaction; nil where there is nothing. When it fails, its error
	// is the answer, unless the key holds a response already.
	Prepare func(ctx context.Context) error

	// Effect does the deed and renders the answer. It may run more than once; only its last run counts.
	Effect func(ctx context.Context, repos ports.Repositories) (Response, error)

	// Grouped: Effect is frequent and needs only what a group shares (ports.UnitOfWork.WithinGroup).
	Grouped bool
}

// Result is how a keyed request ended; the label of svc_idempotency_total.
type Result string

// The results of a keyed request.
const (
	Executed Result = "executed" // it was the first
	Replayed Result = "replayed"
	InUse    Result = "in_use"
	Reused   Result = "reused" // with another body
	Refused  Result = "refused"
)

// Results lists them all.
var Results = []Result{Executed, Replayed, InUse, Reused, Refused}

// Keys runs jobs.
type Keys struct {
	work    ports.UnitOfWork
	cache   ports.IdempotencyCache
	entropy ports.Entropy
	count   func(Result)
}

// New makes Keys. count is called once per keyed request.
func New(work ports.UnitOfWork, cache ports.IdempotencyCache, entropy ports.Entropy, count func(Result)) *Keys {
	return &Keys{work: work, cache: cache, entropy: entropy, count: count}
}

// Do runs the job's effect once per key, or gives the response that the key holds.
//
// Returns ports.ErrKeyInUse, ports.ErrKeyReused, and what Prepare and Effect return.
func (k *Keys) Do(ctx context.Context, job Job) (Response, error) {
	if job.Key == nil {
		return k.unkeyed(ctx, job)
	}
	key := *job.Key
	key.Holder = k.entropy.NewID()
	response, err := k.keyed(ctx, key, job)
	k.count(resultOf(response, err))
	return response, err
}

// Refuse answers a keyed request that was found wanting before it reached its use case: the key counts first
// (api.md §1, order of checks), then reason.
func (k *Keys) Refuse(ctx context.Context, key *ports.IdempotencyKey, now time.Time, reason error) (Response, error) {
	return k.Do(ctx, Job{Key: key, Now: now, Prepare: func(context.Context) error { return reason }})
}

// within gives the kind of transaction that a job wants.
func (k *Keys) within(j Job) func(context.Context, func(context.Context, ports.Repositories) error) error {
	if j.Grouped {
		return k.work.WithinGroup
	}
	return k.work.WithinTx
}

func (k *Keys) unkeyed(ctx context.Context, job Job) (response Response, err error) {
	if job.Prepare != nil {
		if err := job.Prepare(ctx); err != nil {
			return Response{}, err
		}
	}
	err = k.within(job)(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		response, err = job.Effect(ctx, repos)
		return err
	})
	if err != nil {
		return Response{}, err
	}
	return response, nil
}

func (k *Keys) keyed(ctx context.Context, key ports.IdempotencyKey, job Job) (Response, error) {
	cached, err := k.cache.Begin(ctx, key)
	if err != nil {
		return Response{}, err
	}
	if cached != nil && job.Now.Sub(cached.CreatedAt) < ports.IdempotencyWindow {
		return replay(key, cached)
	}
	var kept *ports.StoredResponse
	defer func() { k.cache.Finish(ctx, key, kept) }() // whatever happens: a mark left behind blocks the key for seconds

	var unprepared error
	if job.Prepare != nil {
		unprepared = job.Prepare(ctx)
	}
	var response Response
	var stored *ports.StoredResponse
	err = k.within(job)(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		response = Response{}
		if stored, err = repos.Idempotency.Claim(ctx, key, job.Now); err != nil || stored != nil {
			return err
		}
		if unprepared != nil {
			return unprepared
		}
		if response, err = job.Effect(ctx, repos); err != nil {
			return err
		}
		return repos.Idempotency.Store(ctx, key, job.keep(key, response))
	})
	if err != nil {
		return Response{}, err
	}
	if stored != nil {
		kept = stored
		return replay(key, stored)
	}
	fresh := job.keep(key, response)
	kept = &fresh
	return response, nil
}

func (j Job) keep(key ports.IdempotencyKey, r Response) ports.StoredResponse {
	return ports.StoredResponse{Fingerprint: key.Fingerprint, Status: r.Status, Body: r.Body, CreatedAt: j.Now}
}

func replay(key ports.IdempotencyKey, stored *ports.StoredResponse) (Response, error) {
	if stored.Fingerprint != key.Fingerprint {
		return Response{}, ports.ErrKeyReused
	}
	return Response{Status: stored.Status, Body: stored.Body, Replayed: true}, nil
}

func resultOf(r Response, err error) Result {
	switch {
	case errors.Is(err, ports.ErrKeyInUse):
		return InUse
	case errors.Is(err, ports.ErrKeyReused):
		return Reused
	case err != nil:
		return Refused
	case r.Replayed:
		return Replayed
	default:
		return Executed
	}
}
