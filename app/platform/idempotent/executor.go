package idempotent

import (
	"context"
	"errors"
	"time"

	ports "partnerdeposits/ports/platform"
)

// Response is the response to a request, byte by byte. Code is the caller's, such as an HTTP status.
type Response struct {
	Code     int
	Body     []byte
	Replayed bool // Replayed reports whether the response is a replay of a stored one.
}

// KeyAndEncoder holds the idempotency key and the encoding of the result. Encode runs before the commit, so that
// stored and sent response are the same.
type KeyAndEncoder[T any] struct {
	Key    *ports.IdempotencyKey // The idempotency key; nil if there is none.
	Encode func(T) (Response, error)
}

// Request is a request whose effect is a change (Needs and Decide), a transaction (Effect), or both: when Decide
// returns ports.ErrNeedsMoreRows, Effect runs.
type Request struct {
	Key *ports.IdempotencyKey
	Now time.Time

	// Prepare, which may be nil, runs before the transaction; its error is returned unless the key has a stored
	// response.
	Prepare func(ctx context.Context) error

	// Needs and Decide are the effect as a change (ports.Change) in a single statement: the rows to read, and those to
	// write.
	Needs  ports.RowsToRead
	Decide func(ports.FoundRows) (ports.RowsToWrite, Response, error)

	// Effect is the effect as a transaction; it may run more than once, and only the last run counts.
	Effect func(ctx context.Context) (Response, error)
}

// Result is the label result of svc_idempotency_total.
type Result string

const (
	ResultExecuted       Result = "executed" // The request was the first with its idempotency key, so it ran.
	ResultReplayed       Result = "replayed"
	ResultKeyInUse       Result = "in_use"
	ResultKeyReused      Result = "reused" // The idempotency key was used with another body.
	ResultUseCaseRefused Result = "refused"
)

var Results = []Result{ResultExecuted, ResultReplayed, ResultKeyInUse, ResultKeyReused, ResultUseCaseRefused}

type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Changes     ports.ChangeApplier
	Idempotency ports.IdempotencyStore
	Cache       ports.IdempotencyCache
	// The restore epoch, an id that changes with each restore of the database.
	Epoch func() ports.RestoreEpoch
	// Count is called with the outcome of each request that has a key.
	Count func(Result)
}

type Executor struct{ deps Deps }

func New(deps Deps) *Executor { return &Executor{deps: deps} }

// LookUp stores in key the restore epoch and the key's cached response, for Run.
func (e *Executor) LookUp(ctx context.Context, key *ports.IdempotencyKey) {
	// Read the restore epoch before the commit: a response cached under an older epoch is never used.
	key.Epoch = e.deps.Epoch()
	key.Cached = e.deps.Cache.LookUp(ctx, *key)
}

// Run runs the effect of a request, or replays the stored response of its key. A key that did not pass LookUp is not
// cached.
//
// Returns ports.ErrIdempotencyKeyInUse, ports.ErrIdempotencyKeyReused, and the errors of the request's own
// functions.
func (e *Executor) Run(ctx context.Context, request Request) (Response, error) {
	if request.Key == nil {
		return e.withoutKey(ctx, request)
	}
	response, err := e.withKey(ctx, *request.Key, request)
	e.deps.Count(resultOf(response, err))
	return response, err
}

// ReplayOrRefuse returns the response to a refused request; a stored one takes precedence over the error reason
// (api.md §1, "Common rules of the partner API").
func (e *Executor) ReplayOrRefuse(ctx context.Context, key *ports.IdempotencyKey, now time.Time,
	reason error) (Response, error) {
	return e.Run(ctx, Request{Key: key, Now: now, Prepare: func(context.Context) error { return reason }})
}

func (e *Executor) withoutKey(ctx context.Context, request Request) (Response, error) {
	if request.Prepare != nil {
		if err := request.Prepare(ctx); err != nil {
			return Response{}, err
		}
	}
	response, _, err := e.commit(ctx, nil, request, nil)
	return response, err
}

func (e *Executor) withKey(ctx context.Context, key ports.IdempotencyKey, request Request) (Response, error) {
	if holds(key.Cached, request.Now) {
		return replay(key, key.Cached)
	}
	var unprepared error
	if request.Prepare != nil {
		unprepared = request.Prepare(ctx)
	}
	response, earlier, err := e.commit(ctx, &key, request, unprepared)
	if err != nil {
		return Response{}, err
	}
	if earlier != nil {
		e.deps.Cache.Store(key, *earlier)
		return replay(key, earlier)
	}
	e.deps.Cache.Store(key, request.stored(key, response))
	return response, nil
}

// commit applies a request's change or runs its transaction. earlier is the key's stored response; if set, the
// effect did not run.
func (e *Executor) commit(ctx context.Context, key *ports.IdempotencyKey, request Request,
	unprepared error) (response Response, earlier *ports.StoredResponse, err error) {
	if request.Decide != nil {
		response, earlier, err = e.change(ctx, key, request, unprepared)
		if request.Effect == nil || !errors.Is(err, ports.ErrNeedsMoreRows) {
			return response, earlier, err
		}
	}
	err = e.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		response, earlier = Response{}, nil
		if key != nil {
			if earlier, err = e.deps.Idempotency.ClaimKey(ctx, *key, request.Now); err != nil || earlier != nil {
				return err
			}
		}
		if unprepared != nil {
			return unprepared
		}
		if response, err = request.Effect(ctx); err != nil || key == nil {
			return err
		}
		return e.deps.Idempotency.StoreResponse(ctx, *key, request.stored(*key, response))
	})
	return response, earlier, err
}

func (e *Executor) change(ctx context.Context, key *ports.IdempotencyKey, request Request,
	unprepared error) (response Response, earlier *ports.StoredResponse, err error) {
	needs := request.Needs
	needs.Key, needs.Now = key, request.Now
	err = e.deps.Changes.Apply(ctx, ports.GroupCommitChange{
		Needs: needs,
		Decide: func(found ports.FoundRows) (writes ports.RowsToWrite, err error) {
			earlier = found.Stored
			writes, response, err = request.decide(key, found, unprepared)
			return writes, err
		},
	})
	return response, earlier, err
}

// decide returns the rows that a request's change writes, with the response; none where the key has one.
func (r Request) decide(
	key *ports.IdempotencyKey, found ports.FoundRows, unprepared error,
) (ports.RowsToWrite, Response, error) {
	switch {
	case found.Stored != nil:
		return ports.RowsToWrite{}, Response{}, nil
	case unprepared != nil:
		return ports.RowsToWrite{}, Response{}, unprepared
	}
	writes, response, err := r.Decide(found)
	if err != nil || key == nil {
		return writes, response, err
	}
	stored := r.stored(*key, response)
	writes.Response = &stored
	return writes, response, nil
}

// holds reports whether a cached response, nil for none, may still be replayed.
func holds(cached *ports.StoredResponse, now time.Time) bool {
	return cached != nil && now.Sub(cached.CreatedAt) < ports.IdempotencyWindow
}

func (r Request) stored(key ports.IdempotencyKey, response Response) ports.StoredResponse {
	return ports.StoredResponse{Fingerprint: key.Fingerprint, Code: response.Code, Body: response.Body, CreatedAt: r.Now}
}

func replay(key ports.IdempotencyKey, stored *ports.StoredResponse) (Response, error) {
	if stored.Fingerprint != key.Fingerprint {
		return Response{}, ports.ErrIdempotencyKeyReused
	}
	return Response{Code: stored.Code, Body: stored.Body, Replayed: true}, nil
}

func resultOf(r Response, err error) Result {
	switch {
	case errors.Is(err, ports.ErrIdempotencyKeyInUse):
		return ResultKeyInUse
	case errors.Is(err, ports.ErrIdempotencyKeyReused):
		return ResultKeyReused
	case err != nil:
		return ResultUseCaseRefused
	case r.Replayed:
		return ResultReplayed
	default:
		return ResultExecuted
	}
}
