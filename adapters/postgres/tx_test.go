package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

var errStop = fault.New(fault.Conflict, "stop", "Stop.")

func TestWithinTx_AppendedToTheOutbox_RingsTheDoorbellAfterTheCommitAlone(t *testing.T) {
	t.Parallel()
	b := &storetest.Doorbell{}
	store, pool := storetest.New(t, postgres.Options{Doorbell: b})
	e := storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())

	require.NoError(t, store.WithinTx(t.Context(), func(context.Context) error { return nil }))
	require.Error(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		require.NoError(t, store.Outbox.Append(ctx, e))
		return errStop
	}))
	require.Zero(t, b.Rung.Load())
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		require.NoError(t, store.Outbox.Append(ctx, e))
		require.Zero(t, b.Rung.Load())
		return nil
	}))

	require.EqualValues(t, 1, b.Rung.Load())
	var data string
	var age time.Duration
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT data, clock_timestamp() - committed_at FROM outbox WHERE event_id = $1`, e.ID).Scan(&data, &age))
	require.Equal(t, string(e.Data), data, "bytes go out as they came in")
	require.Less(t, age, time.Minute)
}

func TestWithinTx_AStatementThatWaitedBreaksAConstraint_FailsAtTheCommit(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	entry := ports.AuditEntry{ID: portstest.NewID(), At: time.Now(), Actor: actor.Staff, Action: "test", Subject: "dep_1"}
	err := store.WithinTx(t.Context(), func(ctx context.Context) error {
		require.NoError(t, store.Outbox.Append(ctx, storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())))
		require.NoError(t, store.Audit.Append(ctx, entry))
		return store.Audit.Append(ctx, entry) // the same id again
	})
	require.Error(t, err)
	require.Equal(t, fault.Internal, fault.KindOf(err))
	require.Zero(t, count(t, pool, `SELECT count(*) FROM outbox`))
}

func TestWithinTx_Deadlock_IsTriedAgainAndBothCommit(t *testing.T) {
	t.Parallel()
	store, _ := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	one, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	two, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)

	var runs atomic.Int32
	var met sync.WaitGroup
	met.Add(2)
	crossing := func(first, second id.ID) error {
		var once sync.Once
		return store.WithinTx(t.Context(), func(ctx context.Context) error {
			runs.Add(1)
			if _, err := store.Deposits.LockRow(ctx, first); err != nil {
				return err
			}
			once.Do(func() { met.Done(); met.Wait() })
			_, err := store.Deposits.LockRow(ctx, second)
			return err
		})
	}
	errs := make(chan error, 2)
	go func() { errs <- crossing(one, two) }()
	go func() { errs <- crossing(two, one) }()
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	require.GreaterOrEqual(t, runs.Load(), int32(3))
}

func TestWithinTx_SerializationFailureEveryTime_GivesUpAsUnavailable(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	runs := 0
	err := store.WithinTx(t.Context(), func(ctx context.Context) error {
		runs++
		require.NoError(t, store.Outbox.Append(ctx, storetest.NewDepositCancelledEvent(portstest.NewID(), portstest.NewID())))
		return &pgconn.PgError{Code: "40001"}
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, 5, runs)
	require.Zero(t, count(t, pool, `SELECT count(*) FROM outbox`))
}

func TestWithinTx_TriesAgain_WithAFreshTransaction(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	runs := 0
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		runs++
		if err := store.Outbox.Append(ctx, storetest.NewDepositCancelledEvent(portstest.NewID(),
			portstest.NewID())); err != nil || runs == 3 {
			return err
		}
		return &pgconn.PgError{Code: "40P01"}
	}))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM outbox`))
}

func TestForUpdate_LockHeldTooLong_IsUnavailable(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]postgres.PoolOptions{
		"lock timeout":      {LockTimeout: 50 * time.Millisecond},
		"statement timeout": {StatementTimeout: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databaseURL := pgtest.NewDatabaseURL(t)
			store := storetest.NewStoreOverPool(t, storetest.NewPool(t, databaseURL, postgres.PoolOptions{}), postgres.Options{})
			impatient := storetest.NewStoreOverPool(t, storetest.NewPool(t, databaseURL, o), postgres.Options{})
			depositID, err := create(t.Context(), store, storetest.CreateDepositOrigin(t, store), time.Now())
			require.NoError(t, err)
			lock := func(ctx context.Context) error {
				_, err := store.Deposits.LockRow(ctx, depositID)
				return err
			}
			require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
				require.NoError(t, lock(ctx))
				require.ErrorIs(t, impatient.WithinTx(t.Context(), lock), fault.ErrUnavailable)
				return nil
			}))
			require.NoError(t, store.WithinTx(t.Context(), lock))
		})
	}
}

func TestForUpdate_AfterWaitingForAChangeOfItsClient_SeesTheClient(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	depositID, err := create(t.Context(), store, from, time.Now())
	require.NoError(t, err)
	c := insertClient(t, store, from)

	seen := make(chan *deposit.Deposit, 1)
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		held, err := store.Deposits.LockRow(ctx, depositID)
		require.NoError(t, err)
		go func() {
			var d *deposit.Deposit
			_ = store.WithinTx(t.Context(), func(ctx context.Context) (err error) {
				d, err = store.Deposits.LockRow(ctx, depositID)
				return err
			})
			seen <- d
		}()
		require.Eventually(t, func() bool {
			return count(t, pool,
				`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
		}, 10*time.Second, 5*time.Millisecond)
		held.ClientID = c.ID
		return store.Deposits.StoreCheckoutProgress(ctx, held)
	}))
	got := <-seen
	require.NotNil(t, got)
	require.NotNil(t, got.Client)
	require.Equal(t, c.Email, got.Client.Email)
}

// Two transactions of one caller would wait for each other's locks, and a write without one would commit alone.
func TestWithinTx_WithinAnother_IsRefused_AndAWriteOutsideOfOnePanics(t *testing.T) {
	t.Parallel()
	store, _ := storetest.New(t, postgres.Options{})
	var kept context.Context
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		kept = ctx
		err := store.WithinTx(ctx, func(context.Context) error { return nil })
		require.ErrorContains(t, err, "a transaction within a transaction")
		return nil
	}))
	for name, outside := range map[string]context.Context{"without a transaction": t.Context(), "after its end": kept} {
		require.PanicsWithValue(t, "postgres: a statement of a transaction runs outside of one", func() {
			_ = store.Deposits.StoreCheckoutProgress(outside, &deposit.Deposit{})
		}, name)
	}
	require.NoError(t, store.WithinTx(kept, func(context.Context) error { return nil }), "another transaction may follow")
}

func TestWithinTx_PoolExhausted_IsUnavailableInTime(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t), postgres.PoolOptions{MaxConns: 1})
	// connects first, so that the short timeout below measures only the wait for the pool
	require.NoError(t, pool.Ping(t.Context()))
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{AcquireTimeout: 50 * time.Millisecond})
	nothing := func(context.Context) error { return nil }
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		require.ErrorIs(t, store.WithinTx(t.Context(), nothing), fault.ErrUnavailable)
		_, err := store.Deposits.Deposit(ctx, portstest.NewID())
		require.ErrorIs(t, err, fault.ErrUnavailable)
		return nil
	}))
	require.NoError(t, store.WithinTx(t.Context(), nothing))
}

func TestTextsThatCannotBeStored_AreInvalid(t *testing.T) {
	t.Parallel()
	store, _ := storetest.New(t, postgres.Options{})
	for _, name := range []string{"nul \x00 byte", "not UTF-8 \xff"} {
		err := store.WithinTx(t.Context(), func(ctx context.Context) error {
			return store.Partners.Insert(ctx,
				partner.Partner{ID: portstest.NewID(), Slug: "texts", Name: name, CreatedAt: time.Now()}, "")
		})
		require.ErrorIs(t, err, fault.ErrInvalidField)
	}
}

func TestWithinTx_ThatFails_LeavesNothing(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	there := w.partner()
	ctx, leave := context.WithCancel(t.Context())
	for slug, c := range map[string]struct {
		ctx  context.Context
		fn   func(ctx context.Context) error
		want error // nil: any
	}{
		"rolled-back": {t.Context(), func(context.Context) error { return errStop }, errStop},
		"cancelled":   {ctx, func(context.Context) error { leave(); return nil }, fault.ErrUnavailable},
		"kept-out": {t.Context(), func(ctx context.Context) error { // a broken constraint that is passed over
			_ = w.Partners.Insert(ctx, partner.Partner{ID: portstest.NewID(), Slug: there.Slug, CreatedAt: at0}, "")
			return nil
		}, nil},
		"panicked": {t.Context(), func(context.Context) error { panic("boom") }, nil},
	} {
		p := partner.Partner{ID: portstest.NewID(), Slug: slug, Name: "P", CreatedAt: at0}
		panicked, err := func() (panicked any, err error) {
			defer func() { panicked = recover() }()
			return nil, w.WithinTx(c.ctx, func(ctx context.Context) error {
				require.NoError(t, w.Partners.Insert(ctx, p, ""))
				return c.fn(ctx)
			})
		}()
		if slug == "panicked" {
			require.Equal(t, "boom", panicked, "it goes on")
		} else {
			require.Error(t, err, slug)
			require.True(t, c.want == nil || errors.Is(err, c.want), "%s: %v", slug, err)
		}
		_, err = w.Partners.PartnerByID(t.Context(), p.ID)
		require.ErrorIs(t, err, partner.ErrNotFound, slug)
	}
	w.partner() // and the connections are usable
}

func TestWithinTx_CancelledBefore_SaysUnavailableWithoutCallingFn(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := w.WithinTx(ctx, func(context.Context) error {
		t.Error("fn was called")
		return nil
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestWithinTx_ReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	w.do(func(ctx context.Context, r *postgres.Store) error {
		got, err := r.Deposits.LockRow(ctx, d.ID)
		require.NoError(t, err)
		step, err := got.ApplyTrigger(deposit.TriggerCancelledByPartner, deposit.DefaultTimerDurations(), at0)
		require.NoError(t, err)
		require.NoError(t, r.Deposits.StoreTransition(ctx, got, step))
		again, err := r.Deposits.LockRow(ctx, d.ID)
		require.NoError(t, err)
		require.Equal(t, deposit.Cancelled, again.Status)
		return nil
	})
}
