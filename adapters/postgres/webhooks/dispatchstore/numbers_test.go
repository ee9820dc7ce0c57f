package dispatchstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func nothing([]ports.Event, []webhookports.Subscription) []webhookports.Delivery { return nil }

// numbered lists the events of a partner by their numbers.
func numbered(t *testing.T, pool *pgxpool.Pool, partnerID id.ID) map[int64]id.ID {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT sequence, id FROM events WHERE partner_id = $1`, partnerID)
	require.NoError(t, err)
	byNumber := map[int64]id.ID{}
	var n int64
	var event id.ID
	_, err = pgx.ForEachRow(rows, []any{&n, &event}, func() error {
		if before, twice := byNumber[n]; twice {
			return fmt.Errorf("%s and %s have the number %d", before, event, n)
		}
		byNumber[n] = event
		return nil
	})
	require.NoError(t, err)
	return byNumber
}

// lastNumber reads the counter of a partner.
func lastNumber(t *testing.T, pool *pgxpool.Pool, partnerID id.ID) (n int64) {
	t.Helper()
	require.NoError(t,
		pool.QueryRow(t.Context(), `SELECT last_sequence FROM event_feeds WHERE partner_id = $1`, partnerID).Scan(&n))
	return n
}

func TestRelay_NumbersTheEventsOfEachPartner(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	a, b := storetest.CreateDepositOrigin(t, store), storetest.CreateDepositOrigin(t, store)
	s := dispatchOver(t, pool.Config().ConnString())
	want := map[id.ID]map[int64]id.ID{a.PartnerID: {}, b.PartnerID: {}}
	for i := range int64(6) {
		for _, p := range []id.ID{a.PartnerID, b.PartnerID} {
			want[p][i+1] = appended(t, store, p)
		}
		if i%2 == 0 {
			continue
		}
		relayed, _, err := s.Relay(t.Context(), 100, time.Hour, nothing)
		require.NoError(t, err)
		require.Equal(t, 4, relayed)
	}
	for p, events := range want {
		require.Equal(t, events, numbered(t, pool, p))
		require.EqualValues(t, 6, lastNumber(t, pool, p))
	}
}

// change appends an event of a deposit as a use case does: the deposit's row is locked before the position is drawn.
func change(ctx context.Context, pool *pgxpool.Pool, partnerID, depositID id.ID) (err error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var version int
	if err := tx.QueryRow(ctx, `UPDATE steps SET version = version + 1 WHERE deposit_id = $1 RETURNING version`,
		depositID).Scan(&version); err != nil {
		return err
	}
	// The clocks of processes differ, so ids do not tell the order.
	if _, err := tx.Exec(ctx,
		`INSERT INTO outbox (event_id, partner_id, name, deposit_id, data, created_at)
			VALUES ($1, $2, 'deposit.cancelled', $3, $4, now())`,
		skewed(), partnerID, depositID, fmt.Sprintf(`{"version":%d}`, version)); err != nil {
		return err
	}
	if rand.N(10) == 0 {
		return tx.Rollback(ctx)
	}
	return tx.Commit(ctx)
}

// skewed returns an id whose time is wrong by up to ten seconds, as from a process with a wrong clock.
func skewed() id.ID {
	e := portstest.NewID()
	e[4] += byte(rand.N(80)) - 40
	return e
}

// Several relays take events while writers commit and abort, and some relays fail in mid-transaction. Each feed ends
// without a gap, and the events of each deposit are in the order of its changes.
func TestRelay_ManyAtOnce_LeaveNoGap_AndKeepTheOrderOfADeposit(t *testing.T) {
	t.Parallel()
	const partners, deposits, changes, relays = 3, 4, 60, 3
	store, pool := storetest.New(t, postgres.Options{})
	exec := func(sql string, args ...any) {
		_, err := pool.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`CREATE TABLE steps (deposit_id uuid PRIMARY KEY, version integer NOT NULL DEFAULT 0)`)
	writers, readers := sync.WaitGroup{}, sync.WaitGroup{}
	failures := make(chan error, 100)
	var all []id.ID
	for range partners {
		partnerID := storetest.CreateDepositOrigin(t, store).PartnerID
		all = append(all, partnerID)
		for range deposits {
			depositID := portstest.NewID()
			exec(`INSERT INTO steps (deposit_id) VALUES ($1)`, depositID)
			for range 2 { // writers of the same deposit wait for each other
				writers.Go(func() {
					for range changes / 2 {
						if err := change(t.Context(), pool, partnerID, depositID); err != nil {
							failures <- err
							return
						}
					}
				})
			}
		}
	}
	written := make(chan struct{})
	for range relays {
		s := dispatchOver(t, pool.Config().ConnString())
		readers.Go(func() {
			for {
				over := false
				select {
				case <-written:
					over = true
				default:
				}
				relayed, err := relayOrFail(t.Context(), s, 1+rand.N(20))
				if err != nil {
					failures <- err
					return
				}
				if pending, _, err := s.OutboxPending(t.Context()); over && relayed == 0 && (err != nil || !pending) {
					return
				}
			}
		})
	}
	writers.Wait()
	close(written)
	readers.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	for _, p := range all {
		checkFeed(t, pool, p)
	}
}

// relayOrFail relays a batch of events. At random it cancels the transaction before the commit.
func relayOrFail(ctx context.Context, s *dispatchstore.Store, limit int) (int, error) {
	broken, breakOff := context.WithCancel(ctx)
	defer breakOff()
	fails := rand.N(8) == 0
	relayed, _, err := s.Relay(broken, limit, time.Hour,
		func([]ports.Event, []webhookports.Subscription) []webhookports.Delivery {
			if fails {
				breakOff()
			}
			return nil
		})
	if fails && errors.Is(err, fault.ErrUnavailable) {
		return 1, nil
	}
	return relayed, err
}

// checkFeed checks that the feed of a partner has every event once, without a gap, each deposit's in order.
func checkFeed(t *testing.T, pool *pgxpool.Pool, partnerID id.ID) {
	t.Helper()
	byNumber := numbered(t, pool, partnerID)
	last := lastNumber(t, pool, partnerID)
	require.NotZero(t, last)
	require.Len(t, byNumber, int(last))
	for n := range last {
		require.Contains(t, byNumber, n+1, "no gap")
	}
	var unordered, lost int
	require.NoError(t, pool.QueryRow(t.Context(), `
		SELECT count(*) FILTER (WHERE version <> expected), (SELECT count(*) FROM outbox)
		FROM (SELECT (data::jsonb->>'version')::integer AS version,
				row_number() OVER (PARTITION BY deposit_id ORDER BY sequence) AS expected
			FROM events WHERE partner_id = $1) e`, partnerID).Scan(&unordered, &lost))
	require.Zero(t, unordered, "the events of a deposit are in the order of its changes")
	require.Zero(t, lost)
}

// holdFeed locks the counter of a partner, as a relay in mid-transaction does.
func holdFeed(t *testing.T, pool *pgxpool.Pool, partnerID id.ID) (release func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	tag, err := tx.Exec(t.Context(), `SELECT FROM event_feeds WHERE partner_id = $1 FOR NO KEY UPDATE`, partnerID)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	return func() { require.NoError(t, tx.Rollback(t.Context())) }
}

// A relay that stands still holds back the events of its partners, and of no other.
func TestRelay_AnotherHoldsAPartner_RelaysTheOthers(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	held, free := storetest.CreateDepositOrigin(t, store).PartnerID, storetest.CreateDepositOrigin(t, store).PartnerID
	s := dispatchOver(t, pool.Config().ConnString())
	for range 4 {
		appended(t, store, held)
	}
	appended(t, store, free)
	release := holdFeed(t, pool, held)
	var relayed int
	for range 5 {
		n, _, err := s.Relay(t.Context(), 2, time.Hour, nothing)
		require.NoError(t, err)
		relayed += n
	}
	require.Equal(t, 1, relayed)
	require.Len(t, numbered(t, pool, free), 1)
	release()
	for range 2 {
		n, _, err := s.Relay(t.Context(), 2, time.Hour, nothing)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	}
	require.Len(t, numbered(t, pool, held), 4)
}

// An event that is filed already would take a number that no row has.
func TestRelay_AnEventThatIsFiledAlready_IsRefused_AndTakesNoNumber(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	partnerID := storetest.CreateDepositOrigin(t, store).PartnerID
	s := dispatchOver(t, pool.Config().ConnString())
	twice := appended(t, store, partnerID)
	_, _, err := s.Relay(t.Context(), 10, time.Hour, nothing)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(),
		`INSERT INTO outbox (event_id, partner_id, name, data, created_at) SELECT id, partner_id, name, data, created_at
			FROM events`)
	require.NoError(t, err)
	_, _, err = s.Relay(t.Context(), 10, time.Hour, nothing)
	var refused *webhookports.RefusedEventsError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, map[int64]id.ID{1: twice}, numbered(t, pool, partnerID))
	require.EqualValues(t, 1, lastNumber(t, pool, partnerID))
}

// While processes of two versions run, a relay of the older files events without numbers.
func TestEvents_FiledByAnOlderRelay_AreNumbered(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	partnerID := storetest.CreateDepositOrigin(t, store).PartnerID
	s := dispatchOver(t, pool.Config().ConnString())
	want := map[int64]id.ID{}
	for n := int64(1); n <= 6; n += 2 {
		old := storetest.NewDepositCancelledEvent(partnerID, portstest.NewID())
		_, err := pool.Exec(t.Context(),
			`INSERT INTO events (id, partner_id, name, deposit_id, data, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (partner_id, id) DO NOTHING`, old.ID, old.PartnerID, old.Name, old.DepositID, string(old.Data),
			old.CreatedAt)
		require.NoError(t, err)
		want[n], want[n+1] = old.ID, appended(t, store, partnerID)
		_, _, err = s.Relay(t.Context(), 10, time.Hour, nothing)
		require.NoError(t, err)
	}
	require.Equal(t, want, numbered(t, pool, partnerID))
	require.EqualValues(t, 6, lastNumber(t, pool, partnerID))
}
