package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// racers is the number of concurrent callers in a race.
const racers = 50

// at0 is the time of every row, unless a test gives another time.
var at0 = time.Date(2026, 8, 1, 15, 0, 0, 123_456_000, time.UTC)

// pooledStore is a store behind PgBouncer in transaction mode, with helpers that insert rows. So every statement of the
// store is shown to need no session of its own; the tests of app/ run the statements on direct connections.
type pooledStore struct {
	*postgres.Store
	t *testing.T
}

// pooled is a store over a database that many tests share. Such a test looks at its own rows only.
func pooled(t *testing.T) *pooledStore {
	t.Helper()
	return pooledOver(t, pgtest.SharedDatabaseURL(t, "pooled", nil))
}

// alone is a store over a database without rows of other tests.
func alone(t *testing.T) *pooledStore {
	t.Helper()
	return pooledOver(t, pgtest.NewDatabaseURL(t))
}

func pooledOver(t *testing.T, databaseURL string) *pooledStore {
	t.Helper()
	pool := storetest.NewPool(t, pgtest.PgBouncerURL(t, databaseURL), postgres.PoolOptions{Pooled: true, MaxConns: 4})
	return &pooledStore{storetest.NewStoreOverPool(t, pool, postgres.Options{}), t}
}

// idAt makes an id that contains the given time.
func idAt(at time.Time) id.ID {
	made := portstest.NewID()
	ms := at.UnixMilli()
	for i := range 6 {
		made[i] = byte(ms >> (8 * (5 - i)))
	}
	return made
}

// do runs fn in a transaction, and fails the test unless the transaction commits.
func (w *pooledStore) do(fn func(ctx context.Context, r *postgres.Store) error) {
	w.t.Helper()
	require.NoError(w.t, w.try(fn))
}

// try runs fn in a transaction and returns the error.
func (w *pooledStore) try(fn func(ctx context.Context, r *postgres.Store) error) error {
	return w.WithinTx(w.t.Context(), func(ctx context.Context) error { return fn(ctx, w.Store) })
}

// race runs attempt in racers goroutines at once and counts the calls by error.
func (w *pooledStore) race(attempt func(i int) error) map[string]int {
	w.t.Helper()
	ended := make([]error, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-start
			ended[i] = attempt(i)
		})
	}
	close(start)
	wg.Wait()
	count := map[string]int{}
	for _, err := range ended {
		count[fmt.Sprint(err)]++
	}
	return count
}

func (w *pooledStore) partner() partner.Partner {
	w.t.Helper()
	partnerID := portstest.NewID()
	p := partner.Partner{ID: partnerID, Slug: "p-" + partnerID.Encode(), Name: "Harbour PMS",
		ContactEmail: "dev@pms.example", CreatedAt: at0}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Partners.Insert(ctx, p, "") })
	return p
}

func (w *pooledStore) account() connect.Account {
	w.t.Helper()
	o := connect.Operator{ID: portstest.NewID(), PasswordHash: "hash", CreatedAt: at0}
	o.Email = o.ID.Encode() + "@rentals.example"
	a := connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "Gîtes du Port", CreatedAt: at0}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Operators.Insert(ctx, o, a) })
	return a
}

func (w *pooledStore) link(partnerID, accountID id.ID, externalID string, at time.Time) connect.Link {
	w.t.Helper()
	l := connect.Link{ID: portstest.NewID(), PartnerID: partnerID, AccountID: accountID, ExternalID: externalID,
		LinkedAt: at}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Links.Insert(ctx, l) })
	return l
}

func (w *pooledStore) client(partnerID, accountID id.ID) tenant.Client {
	w.t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: accountID, PartnerID: partnerID, CreatedAt: at0,
		Person: tenant.Person{Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace", Phone: "+33612345678",
			Locale: "fr"}}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Clients.Insert(ctx, c) })
	return c
}

func newDeposit(from deposit.Origin, at time.Time) *deposit.Deposit {
	depositID := portstest.NewID()
	d := deposit.New(depositID, "D-"+depositID.Encode(), from, deposit.Draft{
		Amount: 50_000, ContractStartAt: at, ContractEndAt: at.Add(7 * 24 * time.Hour), RentalContract: "BK-17",
		ReturnURL:     "https://pms.example/back",
		URLGeneration: true, Metadata: map[string]string{"channel": "direct"}, Locale: "fr",
	}, nil, at)
	return d
}

func tokenOf(d *deposit.Deposit) secret.Text { return secret.Text("token of " + d.Reference) }

func (w *pooledStore) insert(d *deposit.Deposit) *deposit.Deposit {
	w.t.Helper()
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Deposits.Insert(ctx, d, tokenOf(d)) })
	if d.URLGeneration {
		d.CheckoutToken = tokenOf(d)
	}
	return d
}

// deposit adds a pending deposit for a new account, created by partner p.
func (w *pooledStore) deposit(p partner.Partner) *deposit.Deposit {
	w.t.Helper()
	return w.insert(newDeposit(deposit.Origin{AccountID: w.account().ID, PartnerID: p.ID, PartnerName: p.Name,
		ExternalID: "op-1", ByPartnerAPI: true}, at0))
}

// move applies a trigger and stores the transition.
func (w *pooledStore) move(depositID id.ID, trigger deposit.Trigger, at time.Time) *deposit.Deposit {
	w.t.Helper()
	var d *deposit.Deposit
	w.do(func(ctx context.Context, r *postgres.Store) (err error) {
		if d, err = r.Deposits.LockRow(ctx, depositID); err != nil {
			return err
		}
		step, err := d.ApplyTrigger(trigger, deposit.DefaultTimerDurations(), at)
		if err != nil {
			return err
		}
		return r.Deposits.StoreTransition(ctx, d, step)
	})
	return d
}

func newSubscription(partnerID id.ID, at time.Time) webhook.Subscription {
	return webhook.Subscription{ID: portstest.NewID(), PartnerID: partnerID, URL: "https://pms.example/hooks",
		Events: webhook.EventNames, Enabled: true, CreatedAt: at}
}

func (w *pooledStore) subscribe(partnerID id.ID) webhook.Subscription {
	w.t.Helper()
	s := newSubscription(partnerID, at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_first")
	})
	return s
}

// testDelivery adds a test delivery; other deliveries are made by the relay.
func (w *pooledStore) testDelivery(s webhook.Subscription, at time.Time) webhook.Delivery {
	w.t.Helper()
	d := webhook.Delivery{ID: idAt(at), SubscriptionID: s.ID, EventID: portstest.NewID(),
		Event:     webhook.EventDepositActivated,
		DepositID: portstest.NewID(), Test: true,
		CreatedAt: at.Truncate(time.Millisecond), Body: []byte(`{"event":"deposit.activated"}`)}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Deliveries.InsertTest(ctx, d) })
	return d
}

// walk reads all pages of a list, two items each, and checks that only the last page may be shorter.
func walk[T any](t *testing.T, next func(ports.Page) (ports.ListPage[T], error)) []T {
	t.Helper()
	var all []T
	page := ports.Page{Limit: 2}
	for {
		got, err := next(page)
		require.NoError(t, err)
		all = append(all, got.Items...)
		if got.Next.IsZero() {
			return all
		}
		require.Len(t, got.Items, page.Limit)
		page.Cursor = got.Next
	}
}

func idsOf[T any](items []T, idOf func(T) id.ID) []id.ID {
	out := make([]id.ID, len(items))
	for i, item := range items {
		out[i] = idOf(item)
	}
	return out
}
