package partnerapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servetest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// world is the API on a real socket, with real Postgres and Redis.
type world struct {
	*servicetest.Kit
	url       string
	redis     *goredis.Client
	work      *dispatchstore.Store
	clock     system.Clock
	contract  *contract
	http      *http.Client
	transport *http.Transport // without the checks of http
	seen      chan middleware.RequestObservation
	rings     atomic.Int64
	limited   atomic.Int64
	defect    atomic.Bool // every request panics
	results   chan idempotent.Result
}

// WakeRelays implements ports.Doorbell and counts the rings.
func (w *world) WakeRelays() { w.rings.Add(1) }

// WakeScans implements ports.Doorbell and counts the rings.
func (w *world) WakeScans() { w.rings.Add(1) }

// observe keeps what metrics would count.
func (w *world) observe(o middleware.RequestObservation) {
	select {
	case w.seen <- o:
	default: // a benchmark reads none
	}
}

const (
	apiBase       = "https://api.test"
	dashboardBase = "https://dashboard.test"
)

// newWorld starts the API: in staging, almost without limits, and with API keys that are looked up for every request.
func newWorld(t testing.TB, change ...func(*servicetest.Setup)) *world {
	t.Helper()
	return newWorldWith(t, func(*fiber.App, *partnerapi.Deps) {}, change...)
}

// newWorldWith starts the API with changed dependencies, or with more than the API.
func newWorldWith(t testing.TB, alter func(*fiber.App, *partnerapi.Deps), change ...func(*servicetest.Setup)) *world {
	t.Helper()
	w := &world{redis: redistest.New(t), contract: newContract(t),
		results: make(chan idempotent.Result, 10_000), seen: make(chan middleware.RequestObservation, 10_000)}
	var environment partner.Environment
	w.Kit = servicetest.New(t, func(s *servicetest.Setup) {
		s.Clock, s.Redis = w.clock, w.redis
		s.Config.Environment, s.Config.APIBaseURL, s.Config.DashboardBaseURL = partner.EnvironmentStaging, apiBase,
			dashboardBase
		s.Config.RateLimitPerMinute, s.Config.RateLimitWritesPerMinute = 1_000_000, 500_000
		s.Store.Doorbell, s.Store.KeysKeptFor = w, time.Nanosecond
		for _, c := range change {
			c(s)
		}
		environment = s.Config.Environment
		replace := s.Parts
		s.Parts = func(p *servicetest.Deps) {
			p.Doorbell, p.Idempotency = w, func(r idempotent.Result) { w.results <- r }
			if replace != nil {
				replace(p)
			}
		}
	})
	w.work = w.NewDispatchStore()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	app := fiber.New(
		middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{Logger: log})}))
	middleware.HardenServer(app, middleware.ServerHooks{})
	app.Use(middleware.RequestID(), middleware.AccessLog(log, w.observe), middleware.Recover(),
		middleware.SecurityHeaders(false), middleware.LimitHandlerTime(middleware.HandlerTimeout),
		middleware.RefuseSmuggling())
	app.Use(func(c *fiber.Ctx) error {
		if w.defect.Load() {
			panic("a defect that a test has ordered")
		}
		return c.Next()
	})
	deps := partnerapi.Deps{
		Partners: w.Partners, Connections: w.Connections, Clients: w.Clients, Deposits: w.Deposits, Webhooks: w.Webhooks,
		Events:   w.Events,
		Simulate: w.Payments, Idempotent: w.Idempotent, Limiter: w.Limiter, Clock: w.clock,
		ExplanationsPerMinute: 1_000_000,
		Environment:           environment, BaseURL: apiBase + "/", OnRateLimited: func() { w.limited.Add(1) },
	}
	alter(app, &deps)
	require.NoError(t, partnerapi.Mount(app, deps))
	w.url = "http://" + servetest.ServeApp(t, app)
	w.transport = &http.Transport{MaxIdleConnsPerHost: 64}
	w.http = &http.Client{Transport: w.contract.Transport(t, w.transport)}
	t.Cleanup(w.transport.CloseIdleConnections)
	return w
}

// caller is a partner with its key.
type caller struct {
	*world
	t       testing.TB
	http    *http.Client
	partner partner.Partner
	key     string
	keyID   string
}

func (w *world) caller(t testing.TB, slug string) *caller {
	t.Helper()
	made, err := w.Partners.Create(t.Context(), partners.NewPartner{Slug: slug, Name: "Partner " + slug})
	require.NoError(t, err)
	return &caller{world: w, t: t, http: w.http, partner: made.Partner, key: made.APIKey.Reveal(),
		keyID: id.APIKey.Of(made.Key.ID)}
}

// newStory returns the caller of a new world, with a linked account.
func newStory(t testing.TB, change ...func(*servicetest.Setup)) (*caller, string) {
	t.Helper()
	c := newWorld(t, change...).caller(t, "acme")
	return c, c.link("hotel-1")
}

// link links a new account to the caller.
func (c *caller) link(externalID string) string {
	c.t.Helper()
	accountID := c.CreateAccount("Hotel").ID
	c.LinkAccount(c.partner.ID, accountID, externalID)
	return id.Account.Of(accountID)
}

func (c *caller) revoke(accountID string) {
	c.t.Helper()
	parsed, ok := id.Account.Parse(accountID)
	require.True(c.t, ok)
	c.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		_, err := repos.Links.Revoke(ctx, c.partner.ID, parsed, connect.RevokedByOperator, c.clock.Now())
		return err
	})
}

// dashboardDeposit creates a deposit by the operator of an account linked to the caller.
func (c *caller) dashboardDeposit(accountID string) string {
	c.t.Helper()
	parsed, ok := id.Account.Parse(accountID)
	require.True(c.t, ok)
	now := c.clock.Now()
	d, _ := c.CreateDeposit(deposit.Origin{AccountID: parsed, PartnerID: c.partner.ID, ExternalID: "hotel-1"},
		deposit.Draft{Amount: 10_000, ContractStartAt: now, ContractEndAt: now})
	return id.Deposit.Of(d.ID)
}

// reply is a response with its body read.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

type object = map[string]any

// do sends a request. body is nil, a string sent as it is, or a value sent as JSON. header holds names and values in
// turn.
func (c *caller) do(method, path string, body any, header ...string) reply {
	c.t.Helper()
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(c.t, err)
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+partnerapi.PathPrefix+path, sent)
	require.NoError(c.t, err)
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("x-api-key", c.key)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header[http.CanonicalHeaderKey(header[i])] = nil
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return reply{t: c.t, status: res.StatusCode, header: res.Header, body: raw}
}

func (c *caller) get(path string, header ...string) reply {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, header...)
}

func (c *caller) post(path string, body any, header ...string) reply {
	c.t.Helper()
	return c.do(http.MethodPost, path, body, header...)
}

func (r reply) parsed() (out struct {
	Data       json.RawMessage
	Pagination struct {
		NextCursor *string
		HasMore    bool
	}
	Error problem.ErrorDetail
},
) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.body, &out), "%s", r.body)
	return out
}

// ok returns the data of a successful response.
func (r reply) ok(status int) object {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.body)
	var data object
	require.NoError(r.t, json.Unmarshal(r.parsed().Data, &data))
	return data
}

// list returns the data of a list response.
func (r reply) list() []object {
	r.t.Helper()
	require.Equal(r.t, http.StatusOK, r.status, "%s", r.body)
	var data []object
	require.NoError(r.t, json.Unmarshal(r.parsed().Data, &data))
	return data
}

// refused checks status and code, and returns the message.
func (r reply) refused(status int, code string) string {
	r.t.Helper()
	e := r.parsed().Error
	require.Equal(r.t, []any{status, code}, []any{r.status, e.Code}, "%s", r.body)
	return e.Message
}

func text(t testing.TB, o object, key string) string {
	t.Helper()
	s, ok := o[key].(string)
	require.True(t, ok, "%s in %v", key, o)
	return s
}

// draft is a valid deposit request with changes: names and values in turn; a nil value removes the field.
func draft(accountID string, changes ...any) object {
	d := object{
		"accountId": accountID, "amount": 500, "contractStartAt": "2030-08-01T15:00:00Z",
		"contractEndAt":  "2030-08-08T10:00:00Z",
		"rentalContract": "BK-1",
	}
	for i := 0; i < len(changes); i += 2 {
		name, _ := changes[i].(string)
		d[name] = changes[i+1]
		if changes[i+1] == nil {
			delete(d, name)
		}
	}
	return d
}

// created creates a deposit and returns its id.
func (c *caller) created(accountID string, changes ...any) string {
	c.t.Helper()
	return text(c.t, c.post("/deposits", draft(accountID, changes...)).ok(http.StatusCreated), "id")
}

func (c *caller) simulated(depositID, outcome string) object {
	c.t.Helper()
	return c.post("/test/deposits/"+depositID+"/simulate", object{"outcome": outcome}).ok(http.StatusOK)
}

// leavesNothing runs do and checks that no row has changed.
func (w *world) leavesNothing(t testing.TB, do func()) {
	t.Helper()
	before := w.snapshot(t)
	do()
	require.Equal(t, before, w.snapshot(t))
}

// newKey returns a new Idempotency-Key.
func newKey() string {
	b := system.Entropy{}.Bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
