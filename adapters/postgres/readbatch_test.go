package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
)

// reading is a store whose reads have a pool of a single connection. While a test holds that connection, reads gather.
type reading struct {
	*testing.T
	store *postgres.Store
	pool  *pgxpool.Pool // of everything but the reads
	reads *pgxpool.Pool
	from  deposit.Origin
	sent  atomic.Int64 // statements of reads
}

func newReading(t *testing.T) *reading {
	url := pgtest.NewDatabaseURL(t)
	r := &reading{T: t, pool: storetest.NewPool(t, url, postgres.PoolOptions{})}
	r.reads = storetest.NewPool(t, url, postgres.PoolOptions{MaxConns: 1, Settings: postgres.IndexPlanSettings, Tracer: r})
	r.store = storetest.NewStoreOverPool(t, r.pool, postgres.Options{Reads: r.reads})
	r.from = storetest.CreateDepositOrigin(t, r.store)
	return r
}

func (r *reading) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if planned.MatchString(q.SQL) && len(q.Args) == 1 {
		r.sent.Add(1)
	}
	return ctx
}
func (r *reading) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// created inserts n deposits, each with a checkout token and metadata of its own.
func (r *reading) created(n int) (all []*deposit.Deposit) {
	r.Helper()
	for range n {
		d := draft(r.from, time.Now().UTC().Truncate(time.Microsecond))
		d.URLGeneration, d.ReturnURL, d.Metadata = true, "https://pms.example/back",
			map[string]string{"booking": d.ID.Encode()}
		d.CheckoutToken = secret.Text("token of " + d.Reference)
		storetest.RunInTransaction(r, r.store, func(ctx context.Context, repos *postgres.Store) error {
			return repos.Deposits.Insert(ctx, d, d.CheckoutToken)
		})
		all = append(all, d)
	}
	return all
}

// answer is the result of a read.
type answer struct {
	*deposit.Deposit
	err error
}

// together reads deposits in a batch, and calls meanwhile while all of the reads wait.
func (r *reading) together(meanwhile func(), ids ...id.ID) []answer {
	r.Helper()
	conn, err := r.reads.Acquire(r.Context())
	require.NoError(r, err)
	var group sync.WaitGroup
	for range 2 { // either leads a batch and waits for the connection; the other waits for the next batch
		group.Go(func() { _, _ = r.store.Deposits.Deposit(r.Context(), portstest.NewID()) })
	}
	r.awaitWaiting(1)
	answers := make([]answer, len(ids))
	for i, depositID := range ids {
		group.Go(func() { answers[i].Deposit, answers[i].err = r.store.Deposits.Deposit(r.Context(), depositID) })
	}
	r.awaitWaiting(1 + len(ids))
	if meanwhile != nil {
		meanwhile()
	}
	r.sent.Store(0)
	conn.Release()
	group.Wait()
	return answers
}

func (r *reading) awaitWaiting(n int) {
	r.Helper()
	require.Eventually(r, func() bool { return r.store.Deposits.CountWaitingReads() == n }, 5*time.Second,
		time.Millisecond)
}

func TestDeposit_ReadTogether_ShareAStatementAndNoMemory(t *testing.T) {
	t.Parallel()
	r := newReading(t)
	made := r.created(3)
	first, second, third := made[0], made[1], made[2]
	got := r.together(nil, first.ID, portstest.NewID(), second.ID, first.ID, id.ID{}, third.ID)
	require.EqualValues(t, 2, r.sent.Load(), "the lone read's, and the batch's")
	for i, want := range []*deposit.Deposit{first, nil, second, first, nil, third} {
		if want == nil {
			require.ErrorIs(t, got[i].err, deposit.ErrNotFound)
			require.Nil(t, got[i].Deposit)
			continue
		}
		require.NoError(t, got[i].err)
		require.Empty(t, cmp.Diff(want, got[i].Deposit))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := r.store.Deposits.Deposit(ended, first.ID)
	require.ErrorIs(t, err, fault.ErrUnavailable, "of a caller that left")
	got[0].Metadata["booking"] = "changed"
	require.Equal(t, first.ID.Encode(), got[3].Metadata["booking"])
}

func TestDeposit_CommittedBeforeTheRead_IsSeenByABatchThatWaits(t *testing.T) {
	t.Parallel()
	r := newReading(t)
	d := r.created(1)[0]
	got := r.together(func() { require.NoError(t, cancel(t.Context(), r.store, d.ID, time.Now())) }, d.ID, d.ID)
	for _, a := range got {
		require.NoError(t, a.err)
		require.Equal(t, deposit.Cancelled, a.Status, "committed while the read waited, so before its statement")
	}
}

func TestDeposit_TokenOrRowThatCannotBeRead_FailsTheReadsOfThatDeposit(t *testing.T) {
	t.Parallel()
	for spoiled, says := range map[string]string{
		`checkout_token = '\x00'`: "decrypt", `updated_at = 'infinity'`: "infinite", `metadata = '[1]'`: "cannot unmarshal",
	} {
		r, heard := newReading(t), told{}
		r.store = storetest.NewStoreOverPool(t, r.pool, postgres.Options{Reads: r.reads, Unreadable: heard.met})
		made := r.created(2)
		allow(t, r.pool)
		exec(t, r.pool, `UPDATE deposits SET `+spoiled+` WHERE id = $1`, made[0].ID)
		got := r.together(nil, made[0].ID, made[1].ID)
		require.ErrorContains(t, got[0].err, says)
		if says != "decrypt" {
			require.ErrorContains(t, got[0].err, "deposit "+id.Deposit.Of(made[0].ID))
			require.Equal(t, told{"deposits " + made[0].ID.String(): 1}, heard)
		}
		require.NoError(t, got[1].err, "read again, alone")
		require.Empty(t, cmp.Diff(made[1], got[1].Deposit))
	}
}

func TestDeposit_ConnectionLost_FailsTheBatchAndNoLaterRead(t *testing.T) {
	t.Parallel()
	direct := pgtest.NewDatabaseURL(t)
	through, link := storetest.ProxiedURL(t, direct)
	r := &reading{T: t, pool: storetest.NewPool(t, direct, postgres.PoolOptions{}),
		reads: storetest.NewPool(t, through, postgres.PoolOptions{MaxConns: 1})}
	r.store = storetest.NewStoreOverPool(t, r.pool, postgres.Options{Reads: r.reads})
	r.from = storetest.CreateDepositOrigin(t, r.store)
	d := r.created(1)[0]
	for _, a := range r.together(link.CutConnections, d.ID, portstest.NewID()) {
		require.ErrorIs(t, a.err, fault.ErrUnavailable)
	}
	link.EndFault()
	found, err := r.store.Deposits.Deposit(t.Context(), d.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(d, found))
}

// Each goroutine reads the deposits that it has made, beside the reads of all the others.
func TestDeposit_ManyReaders_EachSeesItsOwnWrites(t *testing.T) {
	t.Parallel()
	const readers, rounds = 16, 20
	url := pgtest.NewDatabaseURL(t)
	pool := storetest.NewPool(t, url, postgres.PoolOptions{MaxConns: readers})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{
		Reads: storetest.NewPool(t, url, postgres.PoolOptions{MaxConns: postgres.MaxReadBatchConns,
			Settings: postgres.IndexPlanSettings})})
	from := storetest.CreateDepositOrigin(t, store)
	failed := make(chan error, readers)
	for range readers {
		go func() {
			failed <- func() error {
				for range rounds {
					depositID, err := create(t.Context(), store, from, time.Now())
					if err != nil {
						return err
					}
					for _, want := range []deposit.Status{deposit.Pending, deposit.Cancelled} {
						found, err := store.Deposits.Deposit(t.Context(), depositID)
						if err != nil {
							return err
						}
						if found.ID != depositID || found.Status != want {
							return errors.New("read " + string(found.Status) + " of " + found.ID.Encode())
						}
						if want == deposit.Pending {
							if err := cancel(t.Context(), store, depositID, time.Now()); err != nil {
								return err
							}
						}
					}
				}
				return nil
			}()
		}()
	}
	for range readers {
		require.NoError(t, <-failed)
	}
}
