package e2e_test

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/redistest"
)

// deployment is what a test has of its own: a database, a Redis, a partner, and the processes that the test starts.
type deployment struct {
	environ []string
	baseURL string
	bin     string // folder of the binaries; "": those of this tree

	partnerID, slug, connectSecret, apiKey string
}

// newWorld prepares the stores and a partner. No process runs yet.
func newWorld(t testing.TB, environ ...string) *deployment {
	t.Helper()
	return worldOn(t, pgtest.NewDatabaseURL(t), redistest.EmptyDatabaseURL(t), environ...)
}

// stores names a database with the schema and a Redis of the servers that all tests share.
func stores(t testing.TB) (environ []string) {
	t.Helper()
	return []string{"DATABASE_URL=" + pgtest.NewDatabaseURL(t), "REDIS_URL=" + redistest.EmptyDatabaseURL(t)}
}

// newWorldWithRedis is newWorld with a Redis that the test controls.
func newWorldWithRedis(t testing.TB, redisURL string, environ ...string) *deployment {
	t.Helper()
	return worldOn(t, pgtest.NewDatabaseURL(t), redisURL, environ...)
}

func worldOn(t testing.TB, databaseURL, redisURL string, environ ...string) *deployment {
	t.Helper()
	w := &deployment{}
	w.prepare(t, databaseURL, redisURL, environ...)
	return w
}

// prepare creates the partner, in a database with the schema.
func (w *deployment) prepare(t testing.TB, databaseURL, redisURL string, environ ...string) {
	t.Helper()
	addr := freePort(t)
	w.baseURL, w.slug = "http://"+addr, "acme"
	w.environ = append([]string{
		"DATABASE_URL=" + databaseURL, "REDIS_URL=" + redisURL, "HTTP_ADDR=" + addr,
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "SCHEDULER_INTERVAL=200ms",
	}, environ...)
	var made struct{ PartnerID, Slug, ConnectSecret, APIKey string }
	w.admin(t, &made, "partner", "create", "--slug", w.slug, "--name", "Acme Stays")
	w.partnerID, w.connectSecret, w.apiKey = made.PartnerID, made.ConnectSecret, made.APIKey
}

// databaseURL is the address of the database of the world.
func (w *deployment) databaseURL() string {
	at := slices.IndexFunc(w.environ, func(v string) bool { return strings.HasPrefix(v, "DATABASE_URL=") })
	return strings.TrimPrefix(w.environ[at], "DATABASE_URL=")
}

// database is a pool of the test's own on the database of the world.
func (w *deployment) database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), w.databaseURL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// binary gives the path of a command of the deployment.
func (w *deployment) binary(t testing.TB, name string) string {
	t.Helper()
	if w.bin == "" {
		return binary(t, name)
	}
	return filepath.Join(w.bin, name)
}

// admin runs an admin command that must succeed and reads its JSON.
func (w *deployment) admin(t testing.TB, into any, args ...string) {
	t.Helper()
	code, stdout, stderr := runAt(t, w.binary(t, "admin"), w.environ, append(args, "--json")...)
	require.Zero(t, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), into), stdout)
}

func (w *deployment) http(t testing.TB) *process {
	t.Helper()
	return start(t, "http", w.environ...).ready(t)
}

func (w *deployment) dispatcher(t testing.TB) *process {
	t.Helper()
	return start(t, "dispatcher", w.environ...).ready(t)
}

// connectURL makes a connect URL.
func (w *deployment) connectURL(t testing.TB, externalID string, more ...string) string {
	t.Helper()
	var link struct{ URL string }
	w.admin(t, &link, append([]string{"connect-url", "--partner", w.slug, "--external-id", externalID}, more...)...)
	return link.URL
}

// link lets an operator open a connect URL and sign up, and gives the account as the partner sees it.
func (w *deployment) link(t testing.TB, externalID string) (accountID string) {
	t.Helper()
	b := newBrowser(t)
	page := b.open(w.connectURL(t, externalID))
	end := b.submit(page, url.Values{"email": {externalID + "@example.com"}, "password": {"correct-horse"},
		"companyName": {"Villa " + externalID}})
	require.Equal(t, "/dashboard", end.url.Path)

	var accounts struct {
		Data []struct{ AccountID, ExternalID, Status string }
	}
	w.api(t).get("/accounts?externalId="+externalID, &accounts)
	require.Len(t, accounts.Data, 1)
	require.Equal(t, "active", accounts.Data[0].Status)
	return accounts.Data[0].AccountID
}

// subscribe registers a webhook and hands its secret to the receiver.
func (w *deployment) subscribe(t testing.TB, r *hook, events ...string) (webhookID string) {
	t.Helper()
	body := map[string]any{"url": r.URL}
	if len(events) > 0 {
		body["events"] = events
	}
	var made struct{ Data struct{ ID, Secret string } }
	w.api(t).post("/webhooks", body, &made)
	require.True(t, strings.HasPrefix(made.Data.Secret, "svc_whsec_"))
	r.SetSecret(made.Data.Secret)
	return made.Data.ID
}

// deposit creates a deposit with a checkout URL.
func (w *deployment) deposit(t testing.TB, accountID string) (depositID, checkoutURL string) {
	t.Helper()
	return w.stay(t, accountID, "2030-06-01T14:00:00Z", "2030-06-08T10:00:00Z")
}

// stay creates a deposit for a stay.
func (w *deployment) stay(t testing.TB, accountID, start, end string) (depositID, checkoutURL string) {
	t.Helper()
	var made struct {
		Data struct{ ID, Reference, Status, DepositURL string }
	}
	w.api(t).with("Idempotency-Key", uuid.NewString()).post("/deposits", map[string]any{
		"accountId": accountID, "amount": 700, "contractStartAt": start, "contractEndAt": end, "rentalContract": "B-1",
		"depositUrlGeneration": true, "returnUrl": "https://partner.example/thanks?booking=1",
	}, &made)
	require.Equal(t, "pending", made.Data.Status)
	require.NotEmpty(t, made.Data.DepositURL)
	return made.Data.ID, made.Data.DepositURL
}

// secure lets a tenant open the checkout URL and pay at the provider's page with a good card.
func (w *deployment) secure(t testing.TB, checkoutURL string) {
	t.Helper()
	b := newBrowser(t)
	hosted := b.submit(b.open(checkoutURL),
		url.Values{"firstName": {"Tina"}, "lastName": {"Tenant"}, "email": {"tina@example.com"}, "agree": {"yes"}})
	end := b.submit(hosted, url.Values{"cardNumber": {"4242 4242 4242 4242"}, "cardExpiry": {"12/40"}, "cardCvc": {"123"}})
	require.Equal(t, "partner.example", end.url.Host, "the tenant is sent back to the partner")
	require.Equal(t, "secured", end.url.Query().Get("depositStatus"))
	require.Equal(t, "1", end.url.Query().Get("booking"), "what returnUrl had stays")
}
