package postgres_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/storetest"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"
)

// crew is a store whose next callers of WithinGroup go together.
type crew struct {
	t     *testing.T
	store *postgres.Store
	pool  *pgxpool.Pool
	bell  *storetest.Bell

	partner partner.Partner
	account connect.Account
}

func newCrew(t *testing.T) *crew {
	t.Helper()
	c := &crew{t: t, bell: &storetest.Bell{}}
	c.store, c.pool = storetest.New(t, postgres.Options{Doorbell: c.bell})
	c.partner = partner.Partner{ID: portstest.NewID(), Slug: "crew", Name: "Crew", CreatedAt: at0}
	o := connect.Operator{ID: portstest.NewID(), Email: "o@rentals.example", PasswordHash: "-", CreatedAt: at0}
	c.account = connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "Crew", CreatedAt: at0}
	require.NoError(t, c.store.WithinTx(t.Context(), func(ctx context.Context, r ports.Repositories) error {
		return errors.Join(r.Partners.Insert(ctx, c.partner, ""), r.Operators.Insert(ctx, o, c.account))
	}))
	return c
}

// at0 is when everything happens.
var at0 = time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC)

type work = func(context.Context, ports.Repositories) error

// together runs all of them in one group, once, and gives what each returned: somebody holds the place until all wait.
func (c *crew) together(all ...work) []error {
	c.t.Helper()
	errs, held, release := make([]error, len(all)), make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		var once sync.Once
		_ = c.store.WithinGroup(c.t.Context(), func(context.Context, ports.Repositories) error {
			once.Do(func() { close(held); <-release })
			return nil
		})
	})
	<-held
	for i, fn := range all {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = errPanicked
				}
			}()
			errs[i] = c.store.WithinGroup(c.t.Context(), fn)
		})
	}
	for c.store.Gathered() < len(all) {
		runtime.Gosched()
	}
	close(release)
	group.Wait()
	return errs
}

var errPanicked = errors.New("panicked")

func (c *crew) deposits(n int) (ids []id.ID) {
	c.t.Helper()
	require.NoError(c.t, c.store.WithinTx(c.t.Context(), func(ctx context.Context, r ports.Repositories) error {
		for range n {
			d := c.draft()
			ids = append(ids, d.ID)
			if err := r.Deposits.Insert(ctx, d, secret.Text(d.ID.Encode())); err != nil {
				return err
			}
		}
		return nil
	}))
	return ids
}

func (c *crew) draft() *deposit.Deposit {
	depositID := portstest.NewID()
	return deposit.New(depositID, "D-"+depositID.Encode(), deposit.Origin{AccountID: c.account.ID, PartnerID: c.partner.ID, PartnerName: c.partner.Name, ByPartnerAPI: true},
		deposit.Draft{Amount: 50_000, ContractStartAt: at0, ContractEndAt: at0}, nil, at0)
}

// cancel moves a deposit and tells of it; then after has its say.
func (c *crew) cancel(depositID id.ID, after error) work {
	return func(ctx context.Context, r ports.Repositories) error {
		d, err := r.Deposits.ForUpdate(ctx, depositID)
		if err != nil {
			return err
		}
		step, err := d.Apply(deposit.CancelledByPartner, deposit.DefaultTimers(), at0)
		if err != nil {
			return err
		}
		step.Actor = "partner"
		return errors.Join(r.Deposits.Transition(ctx, d, step), r.Outbox.Append(ctx, storetest.Event(c.partner.ID, d.ID)), after)
	}
}

func (c *crew) status(depositID id.ID) deposit.Status {
	c.t.Helper()
	d, err := c.store.Deposit(c.t.Context(), depositID)
	require.NoError(c.t, err)
	return d.Status
}

func (c *crew) count(query string) (n int) {
	c.t.Helper()
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), query).Scan(&n))
	return n
}

func TestWithinGroup_ManyAtOnce_AreOneTransaction(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	const n = 30
	ids := c.deposits(n)
	all := make([]work, n)
	for i := range all {
		all[i] = c.cancel(ids[i], nil)
	}
	for _, err := range c.together(all...) {
		require.NoError(t, err)
	}
	require.Equal(t, n, c.count(`SELECT count(*) FROM deposits d JOIN deposit_transitions t ON t.deposit_id = d.id AND t.version = 2
		JOIN outbox o ON o.deposit_id = d.id WHERE d.status = 'cancelled' AND d.version = 2`))
	require.Equal(t, 1, c.count(`SELECT count(DISTINCT xmin::text) FROM deposit_transitions`))
	require.EqualValues(t, 1, c.bell.Rung.Load())
}

func TestWithinGroup_OneFails_TheOthersDoNot(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	ids := c.deposits(5)
	errs := c.together(
		c.cancel(ids[0], nil),
		c.cancel(ids[1], errStop),
		func(ctx context.Context, r ports.Repositories) error {
			_ = c.cancel(ids[2], nil)(ctx, r)
			panic("boom")
		},
		c.cancel(portstest.NewID(), nil),
		func(ctx context.Context, r ports.Repositories) error { // refused by the database, with all the rest of the group
			return errors.Join(c.cancel(ids[3], nil)(ctx, r), r.Outbox.Append(ctx, ports.Event{PartnerID: c.partner.ID, Name: "no.id", CreatedAt: at0}))
		},
		c.cancel(ids[4], nil),
	)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errStop)
	require.ErrorIs(t, errs[2], errPanicked)
	require.ErrorIs(t, errs[3], deposit.ErrNotFound)
	require.Error(t, errs[4])
	require.NoError(t, errs[5])
	for i, want := range []deposit.Status{deposit.Cancelled, deposit.Pending, deposit.Pending, deposit.Pending, deposit.Cancelled} {
		require.Equal(t, want, c.status(ids[i]), i)
	}
	require.Equal(t, 2, c.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, 2, c.count(`SELECT count(*) FROM deposit_transitions`))
}

// insert adds a deposit; then after has its say.
func (c *crew) insert(d *deposit.Deposit, after error) work {
	return func(ctx context.Context, r ports.Repositories) error {
		return errors.Join(r.Deposits.Insert(ctx, d, secret.Text(d.ID.Encode())), after)
	}
}

func TestWithinGroup_FailsAfterItsDepositIsIn_TakesItBackAlone(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	good, bad := c.draft(), c.draft()
	errs := c.together(c.insert(good, nil), c.insert(bad, errStop))
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errStop)
	require.Equal(t, deposit.Pending, c.status(good.ID))
	require.Equal(t, 1, c.count(`SELECT count(*) FROM deposits`))
	require.Equal(t, 1, c.count(`SELECT count(*) FROM deposit_timers`))
}

func TestWithinGroup_OneReferenceTwice_OneGetsIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	one, twin := c.draft(), c.draft()
	twin.Reference = one.Reference
	errs := c.together(c.insert(one, nil), c.insert(twin, nil))
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.ErrorIs(t, errors.Join(errs...), ports.ErrReferenceTaken)
	require.Equal(t, 1, c.count(`SELECT count(*) FROM deposits`))
}

func TestWithinGroup_ADepositOfNoAccount_IsRefusedAlone(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	good, orphan := c.draft(), c.draft()
	orphan.AccountID = portstest.NewID() // no such account
	errs := c.together(c.insert(good, nil), c.insert(orphan, nil))
	require.NoError(t, errs[0])
	require.Error(t, errs[1])
	require.Equal(t, 1, c.count(`SELECT count(*) FROM deposits`))
}

func TestWithinGroup_TheSameDepositTwice_OneMovesIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	depositID := c.deposits(1)[0]
	errs := c.together(c.cancel(depositID, nil), c.cancel(depositID, nil), c.cancel(depositID, nil))
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	require.Equal(t, 1, won, errs)
	require.Equal(t, 1, c.count(`SELECT count(*) FROM deposit_transitions`))
	require.Equal(t, 1, c.count(`SELECT count(*) FROM outbox`))
}

func TestWithinGroup_OneKey_OneHoldsIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	ids := c.deposits(2)
	key := ports.IdempotencyKey{PartnerID: c.partner.ID, Route: "POST /x", Key: [16]byte{1}, Fingerprint: [32]byte{2}}
	keyed := func(depositID id.ID) work {
		return func(ctx context.Context, r ports.Repositories) error {
			if stored, err := r.Idempotency.Claim(ctx, key, at0); err != nil || stored != nil {
				return err
			}
			return errors.Join(c.cancel(depositID, nil)(ctx, r),
				r.Idempotency.Store(ctx, key, ports.StoredResponse{Fingerprint: key.Fingerprint, Status: 200, Body: []byte("{}"), CreatedAt: at0}))
		}
	}
	errs := c.together(keyed(ids[0]), keyed(ids[1]))
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.ErrorIs(t, errors.Join(errs...), ports.ErrKeyInUse)
	require.Equal(t, 1, c.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, []error{nil}, c.together(keyed(ids[0])), "it has an answer now")
	require.Equal(t, 1, c.count(`SELECT count(*) FROM outbox`))
}

func TestWithinGroup_SomebodyElseHoldsARow_OnlyWhoNeedsItWaits(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	ids := c.deposits(2)
	holder, err := c.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), `SELECT 1 FROM deposits WHERE id = $1 FOR UPDATE`, ids[0])
	require.NoError(t, err)

	var group sync.WaitGroup
	group.Go(func() {
		for c.status(ids[1]) != deposit.Cancelled { // committed, while the other's row is held
			runtime.Gosched()
		}
		require.NoError(t, holder.Rollback(t.Context()))
	})
	require.Equal(t, []error{nil, nil}, c.together(c.cancel(ids[0], nil), c.cancel(ids[1], nil)))
	group.Wait()
}

func TestWithinGroup_ItsCallerHasGone_DoesNothing(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	depositID := c.deposits(1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	err := c.store.WithinGroup(ctx, func(ctx context.Context, r ports.Repositories) error {
		defer cancel()
		return c.cancel(depositID, nil)(ctx, r)
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, deposit.Pending, c.status(depositID))
	require.ErrorIs(t, c.store.WithinGroup(ctx, c.cancel(depositID, nil)), fault.ErrUnavailable)
}
