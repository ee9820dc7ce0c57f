package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

func cents(n int64) money.Cents { return money.Cents(n) }

func TestClients_Insert_IsFoundByItsAccountAndPartner(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, a := w.partner(), w.account()
	w.link(p.ID, a.ID, "op-1", at0)
	c := w.client(p.ID, a.ID)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		got, err := r.Clients.LockRowShared(ctx, a.ID, c.ID)
		require.Empty(t, cmp.Diff(c, got))
		return err
	})
	got, err := w.Clients.Client(t.Context(), p.ID, c.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, got))
}

func TestDeposits_Insert_IsReadBackWhole(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, a := w.partner(), w.account()
	c := w.client(p.ID, a.ID)
	d := newDeposit(
		deposit.Origin{AccountID: a.ID, PartnerID: p.ID, PartnerName: p.Name, ExternalID: "op-1", ByPartnerAPI: true}, at0)
	d.ClientID = c.ID
	d.Client = &deposit.ClientDetails{ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName}
	d.CheckoutToken = tokenOf(d) // readers give the token of a deposit with URLGeneration
	w.insert(d)
	bare := newDeposit(deposit.Origin{AccountID: a.ID}, at0) // without partner, client and metadata
	bare.Metadata, bare.CheckoutToken = map[string]string{}, tokenOf(bare)
	w.insert(bare)
	got, err := w.Deposits.Deposit(t.Context(), bare.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(bare, got))
	byID, err := w.Deposits.Deposit(t.Context(), d.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(d, byID))
	byToken, err := w.Deposits.DepositByToken(t.Context(), tokenOf(d))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(d, byToken))
	w.do(func(ctx context.Context, r *postgres.Store) error {
		locked, err := r.Deposits.LockRow(ctx, d.ID)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(d, locked))
		locked, err = r.Deposits.LockRowByToken(ctx, tokenOf(d))
		require.Empty(t, cmp.Diff(d, locked))
		return err
	})
}

func TestDeposits_Insert_ReferenceTaken_LeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	first := w.deposit(w.partner())
	second := newDeposit(deposit.Origin{AccountID: first.AccountID}, at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		free := second.Reference
		second.Reference = first.Reference
		require.ErrorIs(t, r.Deposits.Insert(ctx, second, "token"), ports.ErrReferenceTaken)
		second.Reference = free
		return r.Deposits.Insert(ctx, second, "token")
	})
	_, err := w.Deposits.Deposit(t.Context(), second.ID)
	require.NoError(t, err)
}

func TestDeposits_Transition_StoresEveryStepOfALife(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	for name, life := range map[string][]deposit.Trigger{
		"captured": {deposit.TriggerCheckoutIdle, deposit.TriggerFeeFailed, deposit.TriggerSecured,
			deposit.TriggerCaptureRequested},
		"closed":   {deposit.TriggerSecured, deposit.TriggerReleased},
		"declined": {deposit.TriggerTenantDeclined},
	} {
		d := w.deposit(w.partner())
		for i, trigger := range life {
			var want *deposit.Deposit
			w.do(func(ctx context.Context, r *postgres.Store) (err error) {
				want, err = r.Deposits.LockRow(ctx, d.ID)
				require.NoError(t, err)
				var step deposit.Transition
				if trigger == deposit.TriggerCaptureRequested {
					part := cents(12_345)
					step, err = want.Capture(&part, 0, deposit.DefaultTimerDurations(), at0.Add(time.Hour))
				} else {
					step, err = want.ApplyTrigger(trigger, deposit.DefaultTimerDurations(), at0.Add(time.Duration(i)*time.Minute))
				}
				require.NoError(t, err)
				return r.Deposits.StoreTransition(ctx, want, step)
			})
			got, err := w.Deposits.Deposit(t.Context(), d.ID)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(want, got), name)
		}
	}
}

func TestDeposits_Transition_Stale_FailsAndLeavesNothing(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	stale := *d
	step, err := stale.ApplyTrigger(deposit.TriggerCancelledByPartner, deposit.DefaultTimerDurations(), at0)
	require.NoError(t, err)
	moved := w.move(d.ID, deposit.TriggerSecured, at0)
	event := ports.Event{ID: portstest.NewID(), PartnerID: d.PartnerID, Name: "deposit.cancelled", DepositID: d.ID,
		Data: []byte(`{}`), CreatedAt: at0}
	err = w.try(func(ctx context.Context, r *postgres.Store) error {
		if err := r.Deposits.StoreTransition(ctx, &stale, step); err != nil {
			return err
		}
		return r.Outbox.Append(ctx, event)
	})
	require.ErrorIs(t, err, ports.ErrStaleVersion)
	got, err := w.Deposits.Deposit(t.Context(), d.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(moved, got))
}

func TestDeposits_SetCheckout_StoresClientAndStart(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	c := w.client(id.ID{}, d.AccountID)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		locked, err := r.Deposits.LockRow(ctx, d.ID)
		require.NoError(t, err)
		locked.ClientID, locked.CheckoutStartedAt = c.ID, at0.Add(time.Minute)
		return r.Deposits.StoreCheckoutProgress(ctx, locked)
	})
	got, err := w.Deposits.Deposit(t.Context(), d.ID)
	require.NoError(t, err)
	require.Equal(t, &deposit.ClientDetails{ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName},
		got.Client)
	require.Equal(t, at0.Add(time.Minute), got.CheckoutStartedAt)
	require.Equal(t, 1, got.Version)
}

func TestDeposits_CheckoutTokens_GiveEachItsOwn(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	first, second := w.deposit(p), w.deposit(p)
	got, err := w.Deposits.CheckoutTokens(t.Context(), []id.ID{first.ID, second.ID, portstest.NewID()})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, tokenOf(first).Reveal(), got[first.ID].Reveal())
	require.Equal(t, tokenOf(second).Reveal(), got[second.ID].Reveal())
}

func TestDeposits_Schedulers_FindWhatIsDueAndNothingElse(t *testing.T) {
	t.Parallel()
	w := alone(t)
	p := w.partner()
	started := func(at time.Time) *deposit.Deposit {
		d := w.deposit(p)
		d.CheckoutStartedAt = at
		w.do(func(ctx context.Context, r *postgres.Store) error { return r.Deposits.StoreCheckoutProgress(ctx, d) })
		return d
	}
	idle, busy, active, ended := started(at0), started(at0.Add(time.Hour)), w.deposit(p), w.deposit(p)
	w.move(active.ID, deposit.TriggerSecured, at0)
	w.move(ended.ID, deposit.TriggerCancelledByPartner, at0)
	secured, err := w.Deposits.Deposit(t.Context(), active.ID)
	require.NoError(t, err)

	got, err := w.Due.IdleCheckouts(t.Context(), at0.Add(time.Minute), 10)
	require.NoError(t, err)
	require.Equal(t, []id.ID{idle.ID}, got)
	got, err = w.Due.ExpiredCheckouts(t.Context(), idle.CheckoutExpiresAt.Add(-time.Microsecond), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = w.Due.ExpiredCheckouts(t.Context(), idle.CheckoutExpiresAt, 10)
	require.NoError(t, err)
	require.ElementsMatch(t, []id.ID{idle.ID, busy.ID}, got)
	got, err = w.Due.ExpiredCheckouts(t.Context(), idle.CheckoutExpiresAt, 1)
	require.NoError(t, err)
	require.Len(t, got, 1)
	got, err = w.Due.ElapsedCovers(t.Context(), secured.ExpiresAt.Add(-time.Microsecond), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = w.Due.ElapsedCovers(t.Context(), secured.ExpiresAt, 10)
	require.NoError(t, err)
	require.Equal(t, []id.ID{active.ID}, got)
}

func TestDeposit_OfAnErasedClient_HasNoClient(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	c := insertClient(t, store, from)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	exec(t, pool, `UPDATE deposits SET client_id = $1`, c.ID)
	exec(t, pool, `UPDATE clients SET email = '', first_name = '', last_name = '', erased_at = now()`)
	d, err := store.Deposits.Deposit(t.Context(), depositID)
	require.NoError(t, err)
	require.Equal(t, c.ID, d.ClientID)
	require.Nil(t, d.Client)
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		d, err := r.Deposits.LockRow(ctx, depositID)
		require.NoError(t, err)
		require.Nil(t, d.Client)
		_, err = r.Clients.LockRowShared(ctx, from.AccountID, c.ID)
		require.Error(t, err)
		return nil
	})
}

func TestTransition_KeepsTheHistory(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	depositID, err := create(t.Context(), store, storetest.CreateDepositOrigin(t, store), time.Now())
	require.NoError(t, err)
	require.NoError(t, cancel(t.Context(), store, depositID, time.Now()))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM deposit_transitions
		WHERE deposit_id = $1 AND version = 2 AND from_status = 'pending' AND to_status = 'cancelled'
		AND trigger = 'by_partner'`,
		depositID))
	require.Equal(t, 2, count(t, pool, `SELECT count(*) FROM audit_log`))
	_, err = pool.Exec(t.Context(), `DELETE FROM deposit_transitions`)
	require.ErrorContains(t, err, "append-only")
}

// The table deposits has no foreign keys to these tables, so their rows stay, whether a deposit refers to them or not.
func TestRowsThatDepositsReferTo_CannotBeRemoved(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	insertClient(t, store, from)
	_, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	for _, table := range []string{"partners", "accounts", "clients"} {
		for _, sql := range []string{
			"DELETE FROM " + table,
			"UPDATE " + table + " SET id = gen_random_uuid()",
			"TRUNCATE " + table + " CASCADE",
		} {
			_, err := pool.Exec(t.Context(), sql)
			require.ErrorContains(t, err, "stays, with its id", sql)
		}
		require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM "+table))
	}
	_, err = pool.Exec(t.Context(), "TRUNCATE operators CASCADE")
	require.ErrorContains(t, err, "stays, with its id", "TRUNCATE of a table that accounts refer to")
}

func TestInsert_ADepositOfNoAccountPartnerOrClient_IsRefused(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	insert := func(d *deposit.Deposit) error {
		return store.WithinTx(t.Context(), func(ctx context.Context) error { return store.Deposits.Insert(ctx, d, "token") })
	}
	for name, refer := range map[string]func(*deposit.Deposit){
		"account": func(d *deposit.Deposit) { d.AccountID = portstest.NewID() },
		"partner": func(d *deposit.Deposit) { d.PartnerID = portstest.NewID() },
		"client":  func(d *deposit.Deposit) { d.ClientID = portstest.NewID() },
	} {
		d := draft(from, time.Now())
		refer(d)
		require.ErrorContains(t, insert(d), "does not exist", name)
	}
	require.Zero(t, count(t, pool, "SELECT count(*) FROM deposits"))
	require.NoError(t, insert(draft(from, time.Now())))
}

func TestUpdate_ToAnAccountPartnerOrClientThatDoesNotExist_IsRefused(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	for _, column := range []string{"account_id", "partner_id", "client_id"} {
		require.ErrorContains(t, set(t, pool, depositID, column, portstest.NewID()), "refers to a row that does not exist",
			column)
	}
	require.ErrorContains(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		d, err := store.Deposits.LockRow(ctx, depositID)
		require.NoError(t, err)
		d.ClientID, d.CheckoutStartedAt = portstest.NewID(), d.CreatedAt
		return store.Deposits.StoreCheckoutProgress(ctx, d)
	}), "refers to a row that does not exist")
	require.NoError(t, set(t, pool, depositID, "client_id", insertClient(t, store, from).ID))
}

func set(t *testing.T, pool *pgxpool.Pool, depositID id.ID, column string, to id.ID) error {
	t.Helper()
	_, err := pool.Exec(t.Context(), "UPDATE deposits SET "+column+" = $1 WHERE id = $2", to, depositID)
	return err
}
