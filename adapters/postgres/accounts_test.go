package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// longIdle is longer than any session without use here.
const longIdle = 1000 * time.Hour

func session(operatorID id.ID, hash byte, expires time.Time) accountports.Session {
	return accountports.Session{TokenHash: [32]byte{hash}, OperatorID: operatorID, CreatedAt: at0, LastSeenAt: at0,
		ExpiresAt: expires}
}

// begin adds sessions.
func (w *pooledStore) begin(all ...accountports.Session) {
	w.t.Helper()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		for _, s := range all {
			if err := r.Sessions.InsertSession(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *pooledStore) token(hash byte, operatorID id.ID, kind connect.TokenKind, at time.Time) connect.MailedToken {
	t := connect.MailedToken{Hash: [32]byte{hash}, OperatorID: operatorID, Kind: kind, Email: "a@b.example", CreatedAt: at,
		ExpiresAt: at.Add(time.Hour)}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Tokens.InsertToken(ctx, t) })
	return t
}

func TestOperators_Insert_IsFoundByEmailInAnyCase(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	o := connect.Operator{ID: portstest.NewID(), Email: "Ann@Rentals.example", PasswordHash: "hash", CreatedAt: at0}
	a := connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "Gîtes", MaxAmountCents: 400_000,
		Timezone: "UTC", CreatedAt: at0}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Operators.Insert(ctx, o, a) })

	gotO, gotA, err := w.Operators.OperatorByEmail(t.Context(), "aNN@rentals.EXAMPLE")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(o, gotO))
	require.Empty(t, cmp.Diff(a, gotA))
	gotA, gotO, err = w.Operators.AccountByID(t.Context(), a.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(o, gotO))
	require.Empty(t, cmp.Diff(a, gotA))
}

func TestAccounts_Update_ChangesEverythingOfAnOperator(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	a := w.account()
	var before, after connect.Operator
	w.do(func(ctx context.Context, r *postgres.Store) (err error) {
		if before, err = r.Operators.LockRow(ctx, a.OperatorID); err != nil {
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
	require.False(t, before.EmailVerified())
	o, got, err := w.Operators.OperatorByEmail(t.Context(), "new@B.example")
	require.NoError(t, err)
	require.Equal(t, after, o)
	require.True(t, o.EmailVerified())
	require.Equal(t, "Renamed (+33 4)", got.NameWithContact())
	require.Equal(t, "Europe/Paris", got.Zone().String())
	_, _, err = w.Operators.OperatorByEmail(t.Context(), before.Email)
	require.ErrorIs(t, err, connect.ErrBadCredentials)
}

func TestAccounts_Update_ToAnAddressThatIsTaken_IsRefused(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	one, other := w.account(), w.account()
	require.ErrorIs(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		o, err := r.Operators.LockRow(ctx, one.OperatorID)
		if err != nil {
			return err
		}
		o.Email = other.OperatorID.Encode() + "@rentals.example"
		return r.Operators.Update(ctx, o)
	}), connect.ErrEmailTaken)
}

// A use prolongs a session, and is written now and then.
func TestSession_LastsUntilItsEndOrALongRest(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.account()
	const idle = 2 * time.Hour
	s, short := session(a.OperatorID, 1, at0.Add(48*time.Hour)), session(a.OperatorID, 2, at0.Add(time.Hour))
	s.Browser = "Firefox, Linux"
	w.begin(s, short)
	found := func(hash [32]byte, at time.Time, idle time.Duration) error {
		o, got, err := w.Sessions.OperatorBySession(t.Context(), hash, at, idle)
		if err == nil {
			require.Equal(t, []id.ID{a.OperatorID, a.ID}, []id.ID{o.ID, got.ID})
		}
		return err
	}
	require.NoError(t, found(short.TokenHash, short.ExpiresAt.Add(-time.Microsecond), longIdle))
	require.ErrorIs(t, found(short.TokenHash, short.ExpiresAt, longIdle), connect.ErrBadCredentials)
	for _, use := range []struct{ at, noted time.Duration }{{4 * time.Minute, 0}, {6 * time.Minute, 6 * time.Minute},
		{idle + 6*time.Minute - time.Second, idle + 6*time.Minute - time.Second}} {
		require.NoError(t, found(s.TokenHash, at0.Add(use.at), idle))
		s.LastSeenAt = at0.Add(use.noted)
		list, err := w.Sessions.Sessions(t.Context(), a.OperatorID, at0.Add(max(use.at, time.Hour)), idle, 10)
		require.NoError(t, err)
		require.Equal(t, []accountports.Session{s}, list)
	}
	rested := s.LastSeenAt.Add(idle)
	require.ErrorIs(t, found(s.TokenHash, rested, idle), connect.ErrBadCredentials)
	list, err := w.Sessions.Sessions(t.Context(), a.OperatorID, rested, idle, 10)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestSessions_AreDeletedOneByOne_OfAnOperator_AndInBatches(t *testing.T) {
	t.Parallel()
	w := alone(t)
	one, other := w.account().OperatorID, w.account().OperatorID
	for i := range byte(4) {
		w.begin(session(one, i+1, at0.Add(time.Hour)), session(other, i+11, at0.Add(time.Duration(i)*time.Hour)))
	}
	left := func() (hashes []byte) {
		for _, hash := range []byte{1, 2, 3, 4, 11, 12, 13, 14} {
			_, _, err := w.Sessions.OperatorBySession(t.Context(), [32]byte{hash}, at0.Add(-time.Microsecond), longIdle)
			if err == nil {
				hashes = append(hashes, hash)
			}
		}
		return hashes
	}
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return errors.Join(r.Sessions.DeleteSession(ctx, [32]byte{1}), r.Sessions.DeleteSession(ctx, [32]byte{1}))
	})
	require.Equal(t, []byte{2, 3, 4, 11, 12, 13, 14}, left())
	w.do(func(ctx context.Context, r *postgres.Store) error {
		n, err := r.Sessions.DeleteSessionsOfOperator(ctx, one)
		require.Equal(t, 3, n)
		return err
	})
	require.Equal(t, []byte{11, 12, 13, 14}, left())
	for _, want := range []int{2, 1, 0} { // three of four ended before 2:30
		w.do(func(ctx context.Context, r *postgres.Store) error {
			n, err := r.Sessions.DeleteExpiredSessions(ctx, at0.Add(150*time.Minute), 2)
			require.Equal(t, want, n)
			return err
		})
	}
	require.Equal(t, []byte{14}, left())
}

func TestAccounts_Token_IsFoundUntilItIsUsedOrExpires(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.account()
	reset, verify := w.token(1, a.OperatorID, connect.TokenResetPassword, at0), w.token(2, a.OperatorID,
		connect.TokenVerifyEmail, at0)
	find := func(hash [32]byte, at time.Time) (got connect.MailedToken, err error) {
		err = w.try(func(ctx context.Context, r *postgres.Store) (err error) {
			got, err = r.Tokens.LiveToken(ctx, hash, at)
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
		return r.Tokens.MarkTokensUsed(ctx, a.OperatorID, at0, connect.TokenResetPassword)
	})
	_, err = find(reset.Hash, at0)
	require.ErrorIs(t, err, connect.ErrTokenVoid)
	_, err = find(verify.Hash, at0)
	require.NoError(t, err, "another kind")
	w.do(func(ctx context.Context, r *postgres.Store) error {
		n, err := r.Tokens.CountTokens(ctx, a.OperatorID, connect.TokenResetPassword, at0.Add(-time.Second))
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
	request := func(email string) accountports.PasswordResetRequest {
		r := accountports.PasswordResetRequest{ID: portstest.NewID(), Email: email, Locale: "fr", CreatedAt: at0,
			LockedOut: email == "c@d.example"}
		w.do(func(ctx context.Context, repos *postgres.Store) error {
			return repos.Tokens.InsertPasswordResetRequest(ctx, r)
		})
		return r
	}
	first, second := request("a@b.example"), request("c@d.example")
	for _, want := range [][]accountports.PasswordResetRequest{{first}, {second}, {}} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			got, err := r.Tokens.TakePasswordResetRequests(ctx, 1)
			require.Equal(t, want, got)
			return err
		})
	}
}

func TestOperators_Network_IsKnownForNinetyDaysAfterItsLastUse(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	o, other := w.account().OperatorID, w.account().OperatorID
	home, office := [32]byte{1}, [32]byte{2}
	record := func(network [32]byte, at time.Time) {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			return r.Sessions.RecordNetwork(ctx, o, network, at)
		})
	}
	known := func(operatorID id.ID, network [32]byte, at time.Time) bool {
		yes, err := w.Sessions.NetworkKnown(t.Context(), operatorID, network, at)
		require.NoError(t, err)
		return yes
	}
	const week = 7 * 24 * time.Hour
	record(home, at0)
	record(office, at0)
	record(home, at0.Add(week))
	require.True(t, known(o, home, at0.Add(accountports.SignInNetworkRetention+week)))
	require.False(t, known(o, home, at0.Add(accountports.SignInNetworkRetention+week+time.Second)))
	require.True(t, known(o, office, at0.Add(accountports.SignInNetworkRetention)))
	require.False(t, known(o, [32]byte{3}, at0))
	require.False(t, known(other, home, at0))

	record(home, at0.Add(accountports.SignInNetworkRetention+time.Second)) // which forgets the office
	require.False(t, known(o, office, at0))
	require.True(t, known(o, home, at0.Add(accountports.SignInNetworkRetention)))
}

func TestOperators_Ceiling_IsSetAndGoesBackToTheDefault(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, a := w.partner(), w.account()
	w.link(p.ID, a.ID, "op-1", at0)
	for ceiling, resolved := range map[int64]int64{400_000: 400_000, 0: int64(deposit.DefaultMaxAmount)} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			return r.Operators.SetDepositCeiling(ctx, a.ID, cents(ceiling))
		})
		got, _, err := w.Operators.AccountByID(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, cents(ceiling), got.MaxAmountCents)
		linked, err := w.Links.LinkedAccount(t.Context(), p.ID, a.ID)
		require.NoError(t, err)
		require.Equal(t, cents(resolved), linked.MaxAmountCents)
	}
}

func TestOperators_Accounts_AreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := alone(t)
	var want []id.ID
	for range 5 {
		want = append([]id.ID{w.account().ID}, want...)
	}
	got := walk(t, func(p ports.Page) (ports.ListPage[connect.Account], error) {
		return w.Operators.Accounts(t.Context(), p)
	})
	require.Equal(t, want, idsOf(got, func(a connect.Account) id.ID { return a.ID }))
}
