package checkout_test

import (
	"context"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servetest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const (
	goodCard = "4242 4242 4242 4242"
	badCard  = "4000 0000 0000 0002"
	partner  = "https://partner.test/back?booking=7"
)

// world is the pages behind a real listener, over a bench.
type world struct {
	*checkouttest.Fixture
	t       *testing.T
	base    string
	limiter *limiter
}

// withImprint shows terms, privacy notice and support address, as in production.
func withImprint(s *servicetest.Setup) {
	s.Config.TermsURL, s.Config.PrivacyURL = "https://deposits.example/terms", "https://deposits.example/privacy"
	s.Config.SupportEmail = "support@deposits.example"
}

func setup(t *testing.T, change ...func(*servicetest.Setup)) *world {
	t.Parallel()
	addr, serve := servetest.Listen(t)
	w := &world{t: t, base: "http://" + addr, limiter: &limiter{}}
	w.Fixture = checkouttest.New(t, w.base, change...)
	site, err := ui.NewSiteCookies(w.base, system.Entropy{}, nil)
	require.NoError(t, err)
	log := slog.New(slog.NewTextHandler(w.Log, nil))
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{
		Logger: log, RenderPage: ui.RenderProblem, IsPage: func(*fiber.Ctx) bool { return true },
	})}))
	app.Use(middleware.RequestID(), middleware.AccessLog(log, func(middleware.RequestObservation) {}),
		middleware.Recover(),
		middleware.SecurityHeaders(false), middleware.LimitHandlerTime(time.Minute), middleware.RefuseSmuggling())
	checkout.Mount(app,
		checkout.Deps{Checkout: w.Checkout, Limiter: w.limiter, RequestsPerMinute: 120, Site: site, Log: log})
	sandbox.Mount(app, w.Sandbox)
	ui.MountAssets(app)
	serve(app)
	return w
}

// limiter allows everything until it is told not to.
type limiter struct {
	mu      sync.Mutex
	refuse  bool
	refuses string // the name of a rule
	counted []ports.LimitRule
}

func (l *limiter) Allow(_ context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counted = append(l.counted, rules...)
	refused := l.refuse || slices.ContainsFunc(rules, func(r ports.LimitRule) bool { return r.Name == l.refuses })
	return ports.LimitDecision{Allowed: !refused, RetryAfter: 7 * time.Second}
}

func (l *limiter) Uncount(context.Context, ...ports.LimitRule) {}

// browser keeps cookies and follows redirects within the service, as the tenant's would; it stops at the partner's
// door.
type browser struct {
	t      *testing.T
	client *http.Client
	lang   string
}

func (w *world) browser() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	home := strings.TrimPrefix(w.base, "http://")
	transport := &http.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: w.t,
		client: &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if r.URL.Host != home {
				return http.ErrUseLastResponse
			}
			return nil
		}}}
}

// page is where the browser ended up.
type page struct {
	at       *url.URL
	status   int
	header   http.Header
	body     string
	location string // of a redirect away from the service
}

func (b *browser) do(method, address string, form url.Values) page {
	b.t.Helper()
	p, _ := b.fetch(method, address, form)
	return p
}

// raw gives the bytes of a page as they came.
func (b *browser) raw(address string) string {
	b.t.Helper()
	_, text := b.fetch(http.MethodGet, address, nil)
	return text
}

func (b *browser) fetch(method, address string, form url.Values) (page, string) {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, address, body)
	require.NoError(b.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept-Language", b.lang)
	req.Header.Set("Accept", "text/html")
	res, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return page{
		at: res.Request.URL, status: res.StatusCode, header: res.Header, body: html.UnescapeString(string(text)),
		location: res.Header.Get("Location"),
	}, string(text)
}

func (b *browser) get(address string) page { b.t.Helper(); return b.do(http.MethodGet, address, nil) }

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// send fills in the n-th form of the page, hidden fields included.
func (b *browser) send(p page, n int, fields url.Values) page {
	b.t.Helper()
	forms := strings.Split(p.body, "<form")
	require.Greater(b.t, len(forms), n+1, "form %d of %s:\n%s", n, p.at, p.body)
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(strings.Split(forms[n+1], "</form>")[0], -1) {
		form.Set(field[1], field[2])
	}
	for k, v := range fields {
		form[k] = v
	}
	return b.do(http.MethodPost, p.at.String(), form)
}

func (w *world) address(token secret.Text) string { return w.base + "/checkout/" + token.Reveal() }

func person(email, first, last string) url.Values {
	return url.Values{"email": {email}, "firstName": {first}, "lastName": {last}, "agree": {"yes"}}
}

var grace = person("grace@example.com", "Grace", "Hopper")

func card(number string) url.Values {
	return url.Values{"cardNumber": {number}, "cardExpiry": {"12/34"}, "cardCvc": {"123"}}
}

// requireLeft checks that the browser stands at the partner's door with the outcome.
func (w *world) requireLeft(p page, d *deposit.Deposit, outcome string) {
	w.t.Helper()
	require.Equal(w.t, http.StatusSeeOther, p.status, p.body)
	require.Equal(w.t, partner+"&depositId="+id.Deposit.Of(d.ID)+"&depositStatus="+outcome, p.location)
}

func (w *world) requireStatus(d *deposit.Deposit, status deposit.Status, reason string) {
	w.t.Helper()
	now := w.LoadDeposit(w.t, d.ID)
	require.Equal(w.t, status, now.Status)
	require.Equal(w.t, reason, now.StatusReason)
}
