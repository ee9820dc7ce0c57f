package groupcommit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// keyed adds an idempotency key and a stored response to a change, as a request with that key does.
func keyed(key ports.IdempotencyKey, change ports.Change) ports.Change {
	decide := change.Decide
	change.Needs.Key, change.Needs.Now = &key, at0
	change.Decide = func(found ports.Found) (ports.Writes, error) {
		if found.Stored != nil {
			return ports.Writes{}, nil
		}
		writes, err := decide(found)
		writes.Response = &ports.StoredResponse{Fingerprint: key.Fingerprint, Code: 200, Body: []byte("{}"), CreatedAt: at0}
		return writes, err
	}
	return change
}

func TestApply_SameKeyTwice_OneChangeHoldsTheKey(t *testing.T) {
	b := setup(t)
	ids := b.deposits(2)
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}, Fingerprint: [32]byte{2}}
	errs := b.applyTogether(keyed(key, cancel(ids[0])), keyed(key, cancel(ids[1])))
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.ErrorIs(t, errors.Join(errs...), ports.ErrKeyInUse)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, []error{nil}, b.applyTogether(keyed(key, cancel(ids[0]))), "the key has a response now")
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
}

// Repeats find the response whoever holds the key: a repeat in the same group, or one in another transaction.
func TestApply_ManyRepeatsOfAnAnsweredRequest_AllFindTheResponse(t *testing.T) {
	b := setup(t)
	depositID := b.deposits(1)[0]
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}, Fingerprint: [32]byte{2}}
	require.NoError(t, b.Apply(t.Context(), keyed(key, cancel(depositID))))
	var found atomic.Int64
	repeat := ports.Change{Needs: ports.Needs{Key: &key, Now: at0, Deposit: depositID},
		Decide: func(f ports.Found) (ports.Writes, error) {
			if f.Stored != nil && string(f.Stored.Body) == "{}" {
				found.Add(1)
			}
			return ports.Writes{}, nil
		}}
	repeats := []ports.Change{repeat, repeat, repeat}
	for _, err := range b.applyTogether(repeats...) {
		require.NoError(t, err)
	}
	storetest.Do(t, b.store, func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.Claim(ctx, key, at0)
		require.NoError(t, err)
		for _, err := range b.applyTogether(repeats...) {
			require.NoError(t, err)
		}
		return nil
	})
	require.EqualValues(t, 2*len(repeats), found.Load())
}

// The lock of a key is not the only guard: a response that another transaction has stored meanwhile undoes the group.
func TestApply_AResponseWasStoredPastTheLock_TheEffectIsUndoneAndTheResponseFound(t *testing.T) {
	b := setup(t)
	ids := b.deposits(2)
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}, Fingerprint: [32]byte{2}}
	first := ports.StoredResponse{Fingerprint: key.Fingerprint, Code: 200, Body: []byte("first"), CreatedAt: at0}
	second := keyed(key, cancel(ids[0]))
	decide := second.Decide
	var found []*ports.StoredResponse
	second.Decide = func(f ports.Found) (ports.Writes, error) {
		if found = append(found, f.Stored); len(found) == 1 {
			storetest.Do(t, b.store,
				func(ctx context.Context, r *postgres.Store) error { return r.Idempotency.Store(ctx, key, first) })
		}
		return decide(f)
	}
	for _, err := range b.applyTogether(second, cancel(ids[1])) {
		require.NoError(t, err)
	}
	require.Nil(t, found[0])
	require.Equal(t, "first", string(found[len(found)-1].Body))
	require.Equal(t, deposit.Pending, b.status(ids[0]))
	require.Equal(t, deposit.Cancelled, b.status(ids[1]), "the other change of the group is not concerned")
}

func TestApply_AKeyOfAnotherTransaction_IsInUse(t *testing.T) {
	b := setup(t)
	depositID := b.deposits(1)[0]
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}}
	storetest.Do(t, b.store, func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.Claim(ctx, key, at0)
		require.NoError(t, err)
		require.ErrorIs(t, b.Apply(ctx, keyed(key, cancel(depositID))), ports.ErrKeyInUse)
		return nil
	})
	require.Equal(t, deposit.Pending, b.status(depositID))
	require.NoError(t, b.Apply(t.Context(), keyed(key, cancel(depositID))))
}
