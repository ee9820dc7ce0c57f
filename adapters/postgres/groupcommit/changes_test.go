package groupcommit_test

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
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

var (
	errStop     = errors.New("stop")
	errPanicked = errors.New("panicked")

	// at0 is the time of every change.
	at0 = time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC)
)

// fixture applies changes to a database with a partner and a linked account.
type fixture struct {
	*groupcommit.Committer
	t      *testing.T
	store  *postgres.Store
	pool   *pgxpool.Pool
	bell   *storetest.Doorbell
	origin deposit.Origin
}

func setup(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	b := &fixture{t: t, bell: &storetest.Doorbell{}}
	b.store, b.pool = storetest.New(t, postgres.Options{})
	b.Committer = groupcommit.New(b.pool, secretstest.NewCipher(t), groupcommit.Options{Doorbell: b.bell})
	b.origin = storetest.CreateDepositOrigin(t, b.store)
	return b
}

// applyTogether applies changes in a group and returns their errors. A blocking change occupies the worker until all
// changes wait; they are fewer than groupThreshold, so no second worker starts.
func (b *fixture) applyTogether(changes ...ports.GroupCommitChange) []error {
	b.t.Helper()
	contexts := make([]context.Context, len(changes))
	for i := range contexts {
		contexts[i] = b.t.Context()
	}
	return b.applyTogetherIn(contexts, changes...)
}

func (b *fixture) applyTogetherIn(contexts []context.Context, changes ...ports.GroupCommitChange) []error {
	b.t.Helper()
	errs, busy, release := make([]error, len(changes)), make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_ = b.Apply(b.t.Context(), ports.GroupCommitChange{Decide: func(ports.FoundRows) (ports.RowsToWrite, error) {
			close(busy)
			<-release
			return ports.RowsToWrite{}, nil
		}})
	})
	<-busy
	for i, change := range changes {
		group.Go(func() {
			defer func() {
				if recover() != nil {
					errs[i] = errPanicked
				}
			}()
			errs[i] = b.Apply(contexts[i], change)
		})
	}
	for b.Waiting() < len(changes) {
		runtime.Gosched()
	}
	close(release)
	group.Wait()
	return errs
}

func (b *fixture) draft() *deposit.Deposit {
	depositID := portstest.NewID()
	return deposit.New(depositID, "D-"+depositID.Encode(), b.origin,
		deposit.Draft{Amount: 50_000, ContractStartAt: at0, ContractEndAt: at0}, nil, at0)
}

func (b *fixture) deposits(n int) (ids []id.ID) {
	b.t.Helper()
	storetest.RunInTransaction(b.t, b.store, func(ctx context.Context, r *postgres.Store) error {
		for range n {
			d := b.draft()
			ids = append(ids, d.ID)
			if err := r.Deposits.Insert(ctx, d, secret.Text(d.ID.Encode())); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// insert is the change that inserts a deposit.
func insert(d *deposit.Deposit) ports.GroupCommitChange {
	needs := ports.RowsToRead{Link: ports.LinkLookupKey{PartnerID: d.PartnerID, AccountID: d.AccountID}}
	if !d.ClientID.IsZero() {
		needs.Client = ports.ClientLookupKey{AccountID: d.AccountID, ClientID: d.ClientID}
	}
	return ports.GroupCommitChange{Needs: needs, Decide: func(ports.FoundRows) (ports.RowsToWrite, error) {
		return ports.RowsToWrite{Insert: &ports.NewDeposit{Deposit: d, CheckoutToken: secret.Text(d.ID.Encode())}}, nil
	}}
}

// cancel is the change that cancels a deposit and writes an event.
func cancel(depositID id.ID) ports.GroupCommitChange {
	return ports.GroupCommitChange{Needs: ports.RowsToRead{Deposit: depositID},
		Decide: func(found ports.FoundRows) (ports.RowsToWrite, error) {
			d := found.Deposit
			if d == nil {
				return ports.RowsToWrite{}, deposit.ErrNotFound
			}
			step, err := d.ApplyTrigger(deposit.TriggerCancelledByPartner, deposit.DefaultTimerDurations(), at0)
			if err != nil {
				return ports.RowsToWrite{}, err
			}
			step.Actor = actor.Actor{Kind: actor.KindPartner}
			event := storetest.NewDepositCancelledEvent(d.PartnerID, d.ID)
			return ports.RowsToWrite{Transition: &ports.DepositTransition{Deposit: d, Transition: step}, Event: &event}, nil
		}}
}

// after runs then on the writes that a change has decided.
func after(change ports.GroupCommitChange, then func(*ports.RowsToWrite) error) ports.GroupCommitChange {
	decide := change.Decide
	change.Decide = func(found ports.FoundRows) (ports.RowsToWrite, error) {
		writes, err := decide(found)
		if err == nil {
			err = then(&writes)
		}
		return writes, err
	}
	return change
}

func (b *fixture) status(depositID id.ID) deposit.Status {
	b.t.Helper()
	d, err := b.store.Deposits.Deposit(b.t.Context(), depositID)
	require.NoError(b.t, err)
	return d.Status
}

func (b *fixture) count(query string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), query, args...).Scan(&n))
	return n
}

func TestApply_ManyAtOnce_AreOneTransaction(t *testing.T) {
	b := setup(t)
	const n = 30
	ids := b.deposits(n)
	all := make([]ports.GroupCommitChange, n)
	for i := range all {
		all[i] = cancel(ids[i])
	}
	require.NoError(t, errors.Join(b.applyTogether(all...)...))
	require.Equal(t, n,
		b.count(`SELECT count(*) FROM deposits d JOIN deposit_transitions t ON t.deposit_id = d.id AND t.version = 2
		JOIN outbox o ON o.deposit_id = d.id WHERE d.status = 'cancelled' AND d.version = 2`))
	require.Equal(t, 1, b.count(`SELECT count(DISTINCT xmin::text) FROM deposit_transitions`))
	require.EqualValues(t, 1, b.bell.Rung.Load())
}

func TestApply_OneFails_TheOthersDoNot(t *testing.T) {
	b := setup(t)
	ids := b.deposits(5)
	errs := b.applyTogether(
		cancel(ids[0]),
		after(cancel(ids[1]), func(*ports.RowsToWrite) error { return errStop }),
		after(cancel(ids[2]), func(*ports.RowsToWrite) error { panic("boom") }),
		cancel(portstest.NewID()),
		after(cancel(ids[3]), func(w *ports.RowsToWrite) error { // the database refuses this event, and with it the group
			w.Event.ID = id.ID{}
			return nil
		}),
		cancel(ids[4]),
	)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errStop)
	require.ErrorIs(t, errs[2], errPanicked)
	require.ErrorIs(t, errs[3], deposit.ErrNotFound)
	require.Error(t, errs[4])
	require.NoError(t, errs[5])
	for i, want := range []deposit.Status{deposit.Cancelled, deposit.Pending, deposit.Pending, deposit.Pending,
		deposit.Cancelled} {
		require.Equal(t, want, b.status(ids[i]), i)
	}
	require.Equal(t, 2, b.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM deposit_transitions`))
}

func TestApply_ADepositThatCannotBeRead_FailsAlone(t *testing.T) {
	b := setup(t)
	ids := b.deposits(4)
	for i, statement := range []string{`ALTER TABLE deposits DROP CONSTRAINT deposits_texts`,
		`UPDATE deposits SET metadata = '[1]' WHERE id = $1`,
		`UPDATE deposits SET checkout_token = '\x00', url_generation = true, return_url = 'https://a.example' WHERE id = $1`} {
		var args []any
		if i > 0 {
			args = append(args, ids[i])
		}
		_, err := b.pool.Exec(t.Context(), statement, args...)
		require.NoError(t, err)
	}
	errs := b.applyTogether(cancel(ids[0]), cancel(ids[1]), cancel(ids[2]), cancel(ids[3]))
	require.NoError(t, errs[0])
	require.ErrorContains(t, errs[1], "cannot unmarshal")
	require.ErrorContains(t, errs[2], "decrypt")
	require.NoError(t, errs[3])
}

func TestApply_RefusedAfterItsDepositIsIn_TakesItBackAlone(t *testing.T) {
	b := setup(t)
	good, bad := b.draft(), b.draft()
	errs := b.applyTogether(insert(good), after(insert(bad), func(w *ports.RowsToWrite) error {
		event := storetest.NewDepositCancelledEvent(bad.PartnerID, bad.ID)
		event.ID = id.ID{}
		w.Event = &event
		return nil
	}))
	require.NoError(t, errs[0])
	require.Error(t, errs[1])
	require.Equal(t, deposit.Pending, b.status(good.ID))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM deposits`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM deposit_timers`))
}

func TestApply_OneReferenceTwice_OneGetsIt(t *testing.T) {
	b := setup(t)
	one, twin := b.draft(), b.draft()
	twin.Reference = one.Reference
	errs := b.applyTogether(insert(one), insert(twin))
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.ErrorIs(t, errors.Join(errs...), ports.ErrReferenceTaken)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM deposits`))
}

func TestApply_ADepositOfNoAccount_IsRefusedAlone(t *testing.T) {
	b := setup(t)
	good, orphan := b.draft(), b.draft()
	orphan.AccountID = portstest.NewID() // no such account
	errs := b.applyTogether(insert(good), insert(orphan))
	require.NoError(t, errs[0])
	require.Error(t, errs[1])
	require.Equal(t, 1, b.count(`SELECT count(*) FROM deposits`))
}

func TestApply_TheSameDepositTwice_OneMovesIt(t *testing.T) {
	b := setup(t)
	depositID := b.deposits(1)[0]
	won := 0
	for _, err := range b.applyTogether(cancel(depositID), cancel(depositID), cancel(depositID)) {
		if err == nil {
			won++
			continue
		}
		require.ErrorIs(t, err, deposit.ErrNotCancellable)
	}
	require.Equal(t, 1, won)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM deposit_transitions`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
}

func TestApply_AMoveThatCameLate_IsStale(t *testing.T) {
	b := setup(t)
	ids := b.deposits(2)
	errs := b.applyTogether(cancel(ids[0]), after(cancel(ids[1]), func(w *ports.RowsToWrite) error {
		w.Transition.Transition.Version++ // as if another transaction had moved the deposit meanwhile
		return nil
	}))
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], ports.ErrStaleVersion)
	require.Equal(t, deposit.Pending, b.status(ids[1]))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
}

func TestApply_RowLockedElsewhere_OnlyItsChangeWaits(t *testing.T) {
	b := setup(t)
	ids := b.deposits(2)
	holder, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), `SELECT 1 FROM deposits WHERE id = $1 FOR UPDATE`, ids[0])
	require.NoError(t, err)

	var group sync.WaitGroup
	group.Go(func() {
		for b.status(ids[1]) != deposit.Cancelled { // committed while the row of the other change is locked
			runtime.Gosched()
		}
		require.NoError(t, holder.Rollback(t.Context()))
	})
	require.Equal(t, []error{nil, nil}, b.applyTogether(cancel(ids[0]), cancel(ids[1])))
	group.Wait()
}

func TestApply_ContextEnded_WritesNothing(t *testing.T) {
	b := setup(t)
	depositID := b.deposits(1)[0]
	ctx, leave := context.WithCancel(t.Context())
	err := b.Apply(ctx, after(cancel(depositID), func(*ports.RowsToWrite) error {
		leave()
		return nil
	}))
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, deposit.Pending, b.status(depositID))
	require.ErrorIs(t, b.Apply(ctx, cancel(depositID)), fault.ErrUnavailable)
}

func TestApply_LinksAndClients_AreFoundByEveryChangeThatNeedsThem(t *testing.T) {
	b := setup(t)
	client := insertClient(t, b)
	link := ports.LinkLookupKey{PartnerID: b.origin.PartnerID, AccountID: b.origin.AccountID}
	for name, c := range map[string]struct {
		needs        ports.RowsToRead
		link, client bool
	}{
		"both": {
			ports.RowsToRead{Link: link, Client: ports.ClientLookupKey{AccountID: b.origin.AccountID, ClientID: client}},
			true, true},
		"client of another account": {
			ports.RowsToRead{Link: link, Client: ports.ClientLookupKey{AccountID: portstest.NewID(), ClientID: client}}, true,
			false},
		"no such client": {
			ports.RowsToRead{Client: ports.ClientLookupKey{AccountID: b.origin.AccountID, ClientID: portstest.NewID()}}, false,
			false},
		"link of another partner": {
			ports.RowsToRead{Link: ports.LinkLookupKey{PartnerID: portstest.NewID(), AccountID: b.origin.AccountID}}, false,
			false},
		"nothing needed, nothing read": {ports.RowsToRead{}, false, false},
	} {
		var mu sync.Mutex
		var seen []ports.FoundRows
		change := ports.GroupCommitChange{Needs: c.needs, Decide: func(found ports.FoundRows) (ports.RowsToWrite, error) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, found)
			return ports.RowsToWrite{}, nil
		}}
		require.Equal(t, []error{nil, nil}, b.applyTogether(change, change), name)
		require.Len(t, seen, 2, name)
		for _, found := range seen {
			require.Equal(t, c.link, found.Link != nil, name)
			require.Equal(t, c.client, found.Client != nil, name)
			if c.link {
				require.Equal(t, connect.LinkActive, found.Link.Status())
				require.Equal(t, deposit.DefaultMaxAmount, found.Link.MaxAmountCents)
			}
		}
	}
}

// The database has no foreign key from deposits: a change may refer only to rows that it has locked.
func TestApply_ADepositOfRowsThatTheChangeDidNotNeed_IsRefused(t *testing.T) {
	b := setup(t)
	other := storetest.CreateDepositOrigin(t, b.store)
	for name, refer := range map[string]func(*deposit.Deposit){
		"account": func(d *deposit.Deposit) { d.AccountID = other.AccountID },
		"partner": func(d *deposit.Deposit) { d.PartnerID = other.PartnerID },
		"none":    func(d *deposit.Deposit) { d.PartnerID = id.ID{} },
		"client":  func(d *deposit.Deposit) { d.ClientID = portstest.NewID() },
	} {
		t.Run(name, func(t *testing.T) {
			d := b.draft()
			change := insert(d)
			refer(d)
			require.ErrorContains(t, b.Apply(t.Context(), change), "has not locked")
		})
	}
	require.Zero(t, b.count(`SELECT count(*) FROM deposits`))
}
