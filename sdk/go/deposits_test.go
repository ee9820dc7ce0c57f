package deposits_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	deposits "partnerdeposits/sdk/go"
)

const key = "svc_pk_test_q1W2e3R4t5Y6u7I8o9P0"

// seen is a request that arrived.
type seen struct {
	method, path, body string
	header             http.Header
}

// service answers over a real connection, and notes the requests.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

func serve(t *testing.T, answer func(w http.ResponseWriter, n int)) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, seen{r.Method, r.RequestURI, string(body), r.Header})
		n := len(s.requests)
		s.mu.Unlock()
		answer(w, n)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) all() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// client waits for nothing between attempts.
func (s *service) client(opts ...deposits.Option) *deposits.Client {
	at := func(time.Duration) <-chan time.Time { return time.After(0) }
	return deposits.New(key, append([]deposits.Option{deposits.WithBaseURL(s.URL + "/"),
		deposits.WithBackoff(at, func() float64 { return 1 })}, opts...)...)
}

func data(body string) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, _ int) { fmt.Fprintf(w, `{"data":%s,"pagination":{"hasMore":false}}`, body) }
}

func equal[T comparable](t *testing.T, want, got T) {
	t.Helper()
	if want != got {
		t.Errorf("want %v, got %v", want, got)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClient_IsPrintedWithoutItsKey(t *testing.T) {
	c := deposits.New(key, deposits.WithBaseURL("https://staging.example.com"))
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		fmt.Fprintf(&out, verb+verb+verb, c, *c, c.Deposits)
	}
	inJSON, err := json.Marshal(c)
	noError(t, err)
	out.Write(inJSON)
	if strings.Contains(out.String(), key) || strings.Contains(out.String(), fmt.Sprintf("%x", key)) {
		t.Errorf("the key stands in %s", out.String())
	}
	equal(t, "deposits.Client(https://staging.example.com)", fmt.Sprint(c))
}

func TestClient_SendsItsHeaders(t *testing.T) {
	s := serve(t, data(`{"partnerId":"prt_1"}`))
	me, err := s.client().Me.Get(context.Background())
	noError(t, err)
	equal(t, "prt_1", me.PartnerID)
	got := s.all()[0]
	equal(t, "/api/partner/v1/me", got.path)
	equal(t, key, got.header.Get("x-api-key"))
	equal(t, "application/json", got.header.Get("Accept"))
	equal(t, "application/json", got.header.Get("Content-Type"))
	version, err := os.ReadFile("../VERSION")
	noError(t, err)
	language := strings.TrimPrefix(runtime.Version(), "go")
	agent := fmt.Sprintf("partner-deposits-go/%s go/%s", bytes.TrimSpace(version), language)
	equal(t, agent, got.header.Get("User-Agent"))
}

// A wire cuts answers and lets attempts run out of time in ways that a script of answers does not know.
func TestClient_RepeatsAfterAnAnswerThatIsCutOrLate(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, n int) {
		switch n {
		case 1:
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"data":{"id":"dep_`)
		case 2:
			<-release
		default:
			data(`{"id":"dep_1"}`)(w, n)
		}
	})
	defer close(release)
	created, err := s.client(deposits.WithTimeout(time.Second)).Deposits.Create(context.Background(),
		&deposits.CreateDepositParams{AccountID: "acct_1", Amount: deposits.Euros("500.50")})
	noError(t, err)
	equal(t, "dep_1", created.ID)
	requests := s.all()
	equal(t, 3, len(requests))
	for _, r := range requests {
		equal(t, `{"accountId":"acct_1","amount":500.50}`, r.body)
		equal(t, requests[0].header.Get("Idempotency-Key"), r.header.Get("Idempotency-Key"))
	}
}

func TestClient_WrapsTheErrorOfTheConnection(t *testing.T) {
	s := serve(t, data(`{}`))
	c := s.client()
	s.Close()
	_, err := c.Me.Get(context.Background())
	var e *deposits.Error
	if err == nil || errors.As(err, &e) || errors.Unwrap(err) == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got %v", err)
	}
}

func TestClient_RepeatsNothingThatTheCallerEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := serve(t, func(w http.ResponseWriter, _ int) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	forever := deposits.WithBackoff(func(time.Duration) <-chan time.Time { return nil }, func() float64 { return 1 })
	if _, err := s.client(forever).Me.Get(ctx); err == nil {
		t.Error("no error")
	}
	if _, err := s.client(forever).Me.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	waiting, stop := context.WithCancel(context.Background())
	other := serve(t, func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusServiceUnavailable) })
	stopper := func(time.Duration) <-chan time.Time { stop(); return nil }
	stopping := deposits.WithBackoff(stopper, func() float64 { return 1 })
	if _, err := other.client(stopping).Me.Get(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	equal(t, 1, len(s.all()))
	equal(t, 1, len(other.all()))
}

func TestClient_TellsHowLongToWait(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ int) {
		w.Header().Set("Retry-After", "61")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := s.client().Me.Get(context.Background())
	var e *deposits.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	equal(t, 61*time.Second, e.RetryAfter)
	equal(t, 1, len(s.all()))
	equal(t, "deposits: The answer is not one of the API. (429 unreadable_answer, request )", err.Error())
}

func TestClient_RefusesAWrongArgument(t *testing.T) {
	s := serve(t, data(`{}`))
	for _, amount := range []deposits.Money{{}, deposits.Euros(""), deposits.Euros("1.005"), deposits.Euros(-1)} {
		_, err := s.client().Deposits.Create(context.Background(), &deposits.CreateDepositParams{Amount: amount})
		var e *deposits.Error
		if err == nil || errors.As(err, &e) {
			t.Errorf("%q: got %v", amount, err)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		_, got := s.client().Deposits.Get(context.Background(), id)
		_, captured := s.client().Deposits.Capture(context.Background(), id, nil)
		for _, err := range []error{got, captured, s.client().Accounts.Delete(context.Background(), id)} {
			var e *deposits.Error
			if err == nil || errors.As(err, &e) {
				t.Errorf("%q: got %v", id, err)
			}
		}
	}
	for _, base := range []string{"", "://", "ftp://host", "http://hotel:pass@host", "http://hotel:pass@host:wrong"} {
		c := s.client(deposits.WithBaseURL(base))
		_, err := c.Me.Get(context.Background())
		if shown := fmt.Sprint(err, c, fmt.Sprintf("%+v", *c)); err == nil || strings.Contains(shown, "hotel") {
			t.Errorf("%s: got %s", base, shown)
		}
	}
	equal(t, 0, len(s.all()))
}

func TestClient_TakesABaseURLWithAPathAndIDsOfAnyText(t *testing.T) {
	s := serve(t, data(`{}`))
	c := s.client(deposits.WithBaseURL(s.URL + "/behind/"))
	for _, id := range []string{"...", ".a", "../me", "a?b#c"} {
		_, err := c.Deposits.Get(context.Background(), id)
		noError(t, err)
		path := "/behind/api/partner/v1/deposits/" + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
		equal(t, path, s.all()[len(s.all())-1].path)
	}
}

func TestClient_IsSafeForManyGoroutines(t *testing.T) {
	s := serve(t, data(`{"id":"dep_1"}`))
	c := s.client()
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := c.Deposits.Cancel(context.Background(), "dep_1", nil)
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	keys := map[string]bool{}
	for _, r := range s.all() {
		keys[r.header.Get("Idempotency-Key")] = true
		equal(t, "", r.body)
	}
	equal(t, 20, len(keys))
}

func TestParams_SayAllThatTheAPITakes(t *testing.T) {
	paris := time.Date(2026, 8, 1, 17, 0, 0, 0, time.FixedZone("CEST", 7200))
	s := serve(t, func(w http.ResponseWriter, n int) { data(map[bool]string{true: `{}`, false: `[]`}[n < 5])(w, n) })
	c, ctx := s.client(), context.Background()
	text := deposits.Ptr[string]
	_, err := c.Clients.Update(ctx, "cli_1", &deposits.UpdateClientParams{Phone: deposits.Null[string](),
		Locale: deposits.Set("fr"), LastName: text("Dupont"), FirstName: text("")})
	noError(t, err)
	_, err = c.Clients.Update(ctx, "cli_1", &deposits.UpdateClientParams{})
	noError(t, err)
	_, err = c.Webhooks.Update(ctx, "pwh_1", &deposits.UpdateWebhookParams{Enabled: deposits.Ptr(false)})
	noError(t, err)
	_, err = c.Deposits.Create(ctx, &deposits.CreateDepositParams{Amount: deposits.Euros(70), ContractStartAt: paris,
		Metadata: map[string]string{"a": "<é>"}})
	noError(t, err)
	_, err = c.Events.Feed(ctx, &deposits.ReadFeedParams{After: deposits.Ptr[int64](0), Limit: 5})
	noError(t, err)
	_, err = c.Deposits.ListPage(ctx, &deposits.ListDepositsParams{CreatedFrom: paris, Cursor: "a+b",
		Status: []deposits.DepositStatus{"active", "new"}})
	noError(t, err)
	want := []seen{
		{method: "PATCH", path: "/api/partner/v1/clients/cli_1",
			body: `{"firstName":"","lastName":"Dupont","locale":"fr","phone":null}`},
		{method: "PATCH", path: "/api/partner/v1/clients/cli_1", body: `{}`},
		{method: "PATCH", path: "/api/partner/v1/webhooks/pwh_1", body: `{"enabled":false}`},
		{method: "POST", path: "/api/partner/v1/deposits",
			body: `{"amount":70,"contractStartAt":"2026-08-01T15:00:00Z","metadata":{"a":"\u003cé\u003e"}}`},
		{method: "GET", path: "/api/partner/v1/events/feed?after=0&limit=5"},
		{method: "GET", path: "/api/partner/v1/deposits?status=active%2Cnew" +
			"&createdFrom=2026-08-01T15%3A00%3A00Z&cursor=a%2Bb"},
	}
	for i, got := range s.all() {
		got.header = nil
		equal(t, fmt.Sprint(want[i]), fmt.Sprint(got))
	}
}

func TestAnswers_KeepWhatTheLibraryDoesNotKnow(t *testing.T) {
	item := `{"id":"dep_1","amount":500.5,"amountCents":50050,"status":"frozen","client":{"id":"cli_1","vip":true},` +
		`"createdAt":"2026-06-02T09:58:03.471Z","insurer":"A1"}`
	c, ctx := serve(t, data("["+item+"]")).client(), context.Background()
	for range 2 { // a list can be read again
		count := 0
		for d, err := range c.Deposits.List(ctx, nil) {
			noError(t, err)
			count++
			equal(t, item, string(d.Raw()))
			equal(t, `{"id":"cli_1","vip":true}`, string(d.Client.Raw()))
			equal(t, deposits.Euros("500.50"), d.Amount)
			equal(t, "500.50", fmt.Sprint(d.Amount))
			equal(t, "frozen", string(d.Status))
			equal(t, time.Date(2026, 6, 2, 9, 58, 3, 471e6, time.UTC), d.CreatedAt)
			equal(t, nil, d.ActivatedAt)
		}
		equal(t, 1, count)
	}
	page, err := c.Deposits.ListPage(ctx, &deposits.ListDepositsParams{Limit: 1})
	noError(t, err)
	equal(t, item, string(page.Data[0].Raw()))
}

func TestEvent_GivesItsDataByKind(t *testing.T) {
	events := `[{"id":"evt_1","event":"deposit.activated","data":{"id":"dep_1","status":"active","new":1}},` +
		`{"id":"evt_2","event":"rental_operator.linked","data":{"partnerId":"prt_1","accountId":"acct_1"}}]`
	page, err := serve(t, data(events)).client().Events.ListPage(context.Background(), nil)
	noError(t, err)
	deposit, err := page.Data[0].Data.Deposit()
	noError(t, err)
	equal(t, deposits.DepositStatusActive, deposit.Status)
	equal(t, `{"id":"dep_1","status":"active","new":1}`, string(page.Data[0].Data.RawMessage))
	link, err := page.Data[1].Data.Link()
	noError(t, err)
	equal(t, "acct_1", link.AccountID)
	if _, err := page.Data[1].Data.Deposit(); err == nil {
		t.Error("a link is read as a deposit")
	}
	if _, err := page.Data[0].Data.Link(); err == nil {
		t.Error("a deposit is read as a link")
	}
}

// TestFollow_OutlastsTheWaitOfTheService reads the deadline of an attempt where the transport asks for a proxy.
func TestFollow_OutlastsTheWaitOfTheService(t *testing.T) {
	var limits []time.Duration
	transport := &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
		deadline, _ := r.Context().Deadline()
		// up to the next five seconds: on a busy machine, some of the time is over
		limits = append(limits, time.Until(deadline).Truncate(5*time.Second)+5*time.Second)
		return nil, nil
	}}
	s := serve(t, func(w http.ResponseWriter, _ int) {
		fmt.Fprint(w, `{"data":[{"sequence":7,"event":"deposit.activated"}],"nextAfter":7,"feedId":"feed_1"}`)
	})
	c := s.client(deposits.WithTimeout(5*time.Second), deposits.WithTransport(transport))
	for event, err := range c.Events.Follow(context.Background(), deposits.Oldest) {
		noError(t, err)
		equal(t, 7, event.Sequence)
		equal(t, "feed_1", event.FeedID)
		break
	}
	_, err := c.Events.Feed(context.Background(), nil)
	noError(t, err)
	equal(t, fmt.Sprint([]time.Duration{35 * time.Second, 5 * time.Second}), fmt.Sprint(limits))
	equal(t, "/api/partner/v1/events/feed?waitSeconds=25", s.all()[0].path)
}
