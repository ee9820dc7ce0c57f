package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	accountports "partnerdeposits/ports/accounts"
)

func (w *pooledStore) token(hash byte, operatorID id.ID, kind connect.TokenKind, at time.Time) connect.Token {
	t := connect.Token{Hash: [32]byte{hash}, OperatorID: operatorID, Kind: kind, Email: "a@b.example", CreatedAt: at,
		ExpiresAt: at.Add(time.Hour)}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Tokens.InsertToken(ctx, t) })
	return t
}

func TestAccounts_Update_ChangesEverythingOfAnOperator(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	a := w.account()
	var before, after connect.Operator
	w.do(func(ctx context.Context, r *postgres.Store) (err error) {
		if before, err = r.Operators.Lock(ctx, a.OperatorID); err != nil {
			return err
		}
		after = before
		after.Email, after.PasswordHash, after.Locale, after.VerifiedAt = "New@b.example", "other", "fr", at0
		change := accountports.AccountChange{CompanyName: new("Renamed")}
		if err := r.Operators.ChangeAccount(ctx, a.ID, change); err != nil {
			return err
		}
		change = accountports.AccountChange{Contact: new("+33 4"), Timezone: new("Europe/Paris")}
		if err := r.Operators.ChangeAccount(ctx, a.ID, change); err != nil {
			return err
		}
		return r.Operators.Update(ctx, after)
	})
	require.False(t, before.Verified())
	o, got, err := w.Operators.OperatorByEmail(t.Context(), "new@B.example")
	require.NoError(t, err)
	require.Equal(t, after, o)
	require.True(t, o.Verified())
	require.Equal(t, "Renamed (+33 4)", got.Called())
	require.Equal(t, "Europe/Paris", got.Zone().String())
	_, _, err = w.Operators.OperatorByEmail(t.Context(), before.Email)
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		return r.Operators.ChangeAccount(ctx, portstest.NewID(), accountports.AccountChange{CompanyName: new("X")})
	}), connect.ErrAccountNotFound)
	require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Operators.Lock(ctx, portstest.NewID())
		return err
	}), connect.ErrBadCredentials)
}

func TestAccounts_Update_ToAnAddressThatIsTaken_IsRefused(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	one, other := w.account(), w.account()
	require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		taken, err := r.Operators.Lock(ctx, other.OperatorID)
		if err != nil {
			return err
		}
		o, err := r.Operators.Lock(ctx, one.OperatorID)
		if err != nil {
			return err
		}
		o.Email = taken.Email
		return r.Operators.Update(ctx, o)
	}), connect.ErrEmailTaken)
}

func TestAccounts_Session_EndsWithoutUse(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.account()
	s := session(a.OperatorID, 1, at0.Add(48*time.Hour))
	s.Browser = "Firefox, Linux"
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Sessions.InsertSession(ctx, s) })
	const idle = 2 * time.Hour
	_, _, err := w.Sessions.OperatorBySession(t.Context(), s.TokenHash, at0.Add(idle-time.Second), idle)
	require.NoError(t, err, "a use prolongs the session")
	_, _, err = w.Sessions.OperatorBySession(t.Context(), s.TokenHash, at0.Add(2*idle-2*time.Second), idle)
	require.NoError(t, err)
	list, err := w.Sessions.Sessions(t.Context(), a.OperatorID, at0.Add(2*idle), idle, 10)
	require.NoError(t, err)
	s.LastSeenAt = at0.Add(2*idle - 2*time.Second)
	require.Equal(t, []accountports.Session{s}, list)
	_, _, err = w.Sessions.OperatorBySession(t.Context(), s.TokenHash, s.LastSeenAt.Add(idle), idle)
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	list, err = w.Sessions.Sessions(t.Context(), a.OperatorID, s.LastSeenAt.Add(idle), idle, 10)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestAccounts_DeleteSessionsOf_LeavesThoseOfOthers(t *testing.T) {
	t.Parallel()
	w := alone(t)
	one, other := w.account(), w.account()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		for i, operatorID := range []id.ID{one.OperatorID, one.OperatorID, other.OperatorID} {
			if err := r.Sessions.InsertSession(ctx, session(operatorID, byte(i+1), at0.Add(time.Hour))); err != nil {
				return err
			}
		}
		return nil
	})
	w.do(func(ctx context.Context, r *postgres.Store) error {
		n, err := r.Sessions.DeleteSessionsOf(ctx, one.OperatorID)
		require.Equal(t, 2, n)
		return err
	})
	for hash, want := range map[byte]error{1: connect.ErrBadCredentials, 2: connect.ErrBadCredentials, 3: nil} {
		_, _, err := w.Sessions.OperatorBySession(t.Context(), [32]byte{hash}, at0, longIdle)
		require.ErrorIs(t, err, want)
	}
}

func TestAccounts_Token_IsFoundUntilItIsUsedOrExpires(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.account()
	reset, verify := w.token(1, a.OperatorID, connect.TokenReset, at0), w.token(2, a.OperatorID, connect.TokenVerify, at0)
	find := func(hash [32]byte, at time.Time) (got connect.Token, err error) {
		err = w.try(func(ctx context.Context, r *postgres.Store) (err error) {
			got, err = r.Tokens.Token(ctx, hash, at)
			return err
		})
		return got, err
	}
	got, err := find(reset.Hash, at0)
	require.NoError(t, err)
	require.Equal(t, reset, got)
	_, err = find([32]byte{9}, at0)
	require.ErrorIs(t, err, connect.ErrTokenVoid)
	_, err = find(reset.Hash, reset.ExpiresAt)
	require.ErrorIs(t, err, connect.ErrTokenVoid)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Tokens.UseTokens(ctx, a.OperatorID, at0, connect.TokenReset)
	})
	_, err = find(reset.Hash, at0)
	require.ErrorIs(t, err, connect.ErrTokenVoid)
	_, err = find(verify.Hash, at0)
	require.NoError(t, err, "another kind")
	w.do(func(ctx context.Context, r *postgres.Store) error {
		n, err := r.Tokens.CountTokens(ctx, a.OperatorID, connect.TokenReset, at0.Add(-time.Second))
		require.Equal(t, 1, n, "used ones count")
		return err
	})
	for _, want := range []int{1, 1, 0} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			n, err := r.Tokens.DeleteExpiredTokens(ctx, reset.ExpiresAt.Add(time.Second), 1)
			require.Equal(t, want, n)
			return err
		})
	}
}

func TestAccounts_PasswordRequests_AreTakenOnce(t *testing.T) {
	t.Parallel()
	w := alone(t)
	request := func(email string) accountports.PasswordRequest {
		r := accountports.PasswordRequest{ID: portstest.NewID(), Email: email, Locale: "fr", CreatedAt: at0,
			LockedOut: email == "c@d.example"}
		w.do(func(ctx context.Context, repos *postgres.Store) error {
			return repos.Tokens.InsertPasswordRequest(ctx, r)
		})
		return r
	}
	first, second := request("a@b.example"), request("c@d.example")
	for _, want := range [][]accountports.PasswordRequest{{first}, {second}, {}} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			got, err := r.Tokens.TakePasswordRequests(ctx, 1)
			require.Equal(t, want, got)
			return err
		})
	}
}
