package webhook

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestPost_SendsWhatTheSpecLists(t *testing.T) {
	t.Parallel()
	heads, bodies := make(chan string, 1), make(chan string, 1)
	r := serve(t, func(c net.Conn) {
		head, body, _ := request(bufio.NewReader(c))
		heads <- head
		bodies <- body
		_, _ = io.WriteString(c, ok)
	})
	p := postTo("http://" + r.Address + "/hooks/a%2Fb?tenant=1&x=%00")
	p.Body = []byte("{\"raw\":\"\x00\xff\u2028 stays as it is\"}\n")
	timestamp, signature := webhook.Sign(p.Secret, p.Body, signedAt)
	a := newSender(t, nil).Post(t.Context(), p, signedAt)
	require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
	require.Equal(t, string(p.Body), <-bodies)
	lines := strings.Split(strings.TrimSuffix(<-heads, "\r\n\r\n"), "\r\n")
	require.Equal(t, "POST /hooks/a%2Fb?tenant=1&x=%00 HTTP/1.1", lines[0])
	sent := map[string]string{}
	for _, l := range lines[1:] {
		name, value, _ := strings.Cut(l, ": ")
		sent[name] = value
	}
	// All headers: neither Idempotency-Key nor Accept-Encoding is sent.
	require.Empty(t, cmp.Diff(map[string]string{
		"Host": r.Address, "User-Agent": "test/1", "Content-Length": strconv.Itoa(len(p.Body)),
		"Content-Type":    "application/json",
		"X-Svc-Signature": signature, "X-Svc-Timestamp": timestamp, "X-Svc-Event": "deposit.activated",
	}, sent))
}

func TestPost_OverHTTP2_SendsTheSame(t *testing.T) {
	t.Parallel()
	type seen struct {
		proto  string
		header http.Header
		body   string
	}
	requests := make(chan seen, 1)
	ca := newAuthority(t)
	url := ca.ServeHTTPS(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Proto, r.Header, string(body)}
	})
	p := postTo(url)
	p.EventID = id.ID{1}
	timestamp, signature := webhook.Sign(p.Secret, p.Body, signedAt)
	s := newSender(t, func(c *Config) {
		trusting(ca)(c)
		c.EventIDHeader = true
	})
	a := s.Post(t.Context(), p, signedAt)
	require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
	got := <-requests
	require.Equal(t, "HTTP/2.0", got.proto)
	require.Equal(t, string(p.Body), got.body)
	require.Empty(t, cmp.Diff(http.Header{
		"User-Agent": {"test/1"}, "Content-Length": {strconv.Itoa(len(p.Body))}, "Content-Type": {"application/json"},
		"X-Svc-Signature": {signature}, "X-Svc-Timestamp": {timestamp}, "X-Svc-Event": {"deposit.activated"},
		"X-Svc-Event-Id": {id.Event.Of(p.EventID)},
	}, got.header))
}

func TestPost_TellsHowItWent(t *testing.T) {
	t.Parallel()
	r := serve(t, answering("HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello", nil))
	a := newSender(t, nil).Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, 201, a.ResponseStatus)
	require.Equal(t, "hello", a.Snippet)
	require.Empty(t, a.Detail)
	require.Positive(t, a.Duration)
	require.False(t, a.StartedAt.IsZero())
	require.Equal(t, "UTC", a.StartedAt.Location().String())
}

func TestPost_AThousandTimes_KeepsTheConnectionsThatAreUsedAtOnce(t *testing.T) {
	t.Parallel()
	const concurrency, posts = 8, 1000
	all := make(chan struct{})
	var waiting atomic.Int32
	r := serve(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, _, there := request(in); !there {
				return
			}
			if waiting.Add(1) == concurrency { // the first answers wait until every connection is in use
				close(all)
			}
			<-all
			if _, err := io.WriteString(c, ok); err != nil {
				return
			}
		}
	})
	s := newSender(t, func(c *Config) { c.EndpointConcurrency = concurrency })
	var left atomic.Int32
	left.Store(posts)
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if a := s.Post(t.Context(), postTo("http://"+r.Address), signedAt); !a.OK() {
					t.Error(a.Detail)
				}
			}
		})
	}
	wg.Wait()
	// On a machine so busy that the writing goroutine waits 50 ms for a processor, net/http gives a connection up.
	require.LessOrEqual(t, r.Conns.Load(), int32(2*concurrency))
}

// Servers close kept connections when they like, which we may learn only after having written the next request.
func TestPost_OnAKeptConnectionThatIsClosed_GoesOutAgain(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(net.Conn){"closed": func(net.Conn) {}, "reset": hostiletest.ResetConnection} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			var heads sync.Map
			r := serve(t, func(c net.Conn) {
				in := bufio.NewReader(c)
				for served := 0; ; served++ {
					head, _, there := request(in)
					if !there {
						return
					}
					heads.Store(requests.Add(1), head)
					if served == 1 { // the second request of a connection gets no answer
						end(c)
						return
					}
					_, _ = io.WriteString(c, ok)
				}
			})
			s := newSender(t, nil)
			for range 2 {
				a := s.Post(t.Context(), postTo("http://"+r.Address), signedAt)
				require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
			}
			require.EqualValues(t, 2, r.Conns.Load())
			require.EqualValues(t, 3, requests.Load())
			first, _ := heads.Load(int32(2))
			again, _ := heads.Load(int32(3))
			require.Equal(t, first, again)
			require.NotContains(t, again, "Idempotency")
		})
	}
}

func TestPost_OnAFreshConnectionThatIsClosed_DoesNotGoOutAgain(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c net.Conn) { _, _, _ = request(bufio.NewReader(c)) })
	a := newSender(t, nil).Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultConnectFailed, a.Result)
	require.EqualValues(t, 1, r.Conns.Load())
}

func TestPost_RefusesURLsThatAreNotForIt(t *testing.T) {
	t.Parallel()
	secure := newSender(t, func(c *Config) { c.AllowInsecure = false })
	insecure := newSender(t, nil)
	for _, url := range []string{"", "https://", "https:///path", "https://:443/", "//hooks.example", "https://a b/",
		"https://[::1", "https://127%2E0%2E0%2E1/",
		"file:///etc/passwd", "gopher://hooks.example/", "ftp://hooks.example/", "unix:///run/x.sock",
		"javascript:alert(1)"} {
		for _, s := range []*Sender{secure, insecure} {
			a := s.Post(t.Context(), postTo(url), signedAt)
			require.Equal(t, webhook.ResultAddressBlocked, a.Result, url)
			require.Regexp(t, `^The URL (cannot be read|is not https)\.$`, a.Detail, url)
			require.False(t, a.StartedAt.IsZero())
		}
	}
	a := secure.Post(t.Context(), postTo("http://hooks.example/"), signedAt)
	require.Equal(t, webhook.ResultAddressBlocked, a.Result)
	require.Equal(t, "The URL is not https.", a.Detail)
}

func TestPost_BrokenOff_SaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := serve(t, func(c net.Conn) {
		_, _, _ = request(bufio.NewReader(c))
		cancel()
		hostiletest.SilentHandler(c)
	})
	a := newSender(t, nil).Post(ctx, postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultConnectFailed, a.Result)
	require.Equal(t, "The attempt was broken off on our side.", a.Detail)
}

func TestTemplates_AreBounded(t *testing.T) {
	t.Parallel()
	ts := templates{}
	for i := range 3 * maxTemplates {
		template, refusal := ts.of("https://hooks.example/" + strconv.Itoa(i))
		require.Empty(t, refusal)
		require.Equal(t, "/"+strconv.Itoa(i), template.URL.Path)
		require.LessOrEqual(t, len(ts.byURL), maxTemplates)
	}
}

// The project's own library verifies what a subscription with its headers gets, and ours are as without them.
func TestPost_WithStandardWebhooks_IsVerifiedByTheirLibrary(t *testing.T) {
	t.Parallel()
	type seen struct {
		header http.Header
		body   []byte
	}
	requests := make(chan seen, 1)
	ca := newAuthority(t)
	url := ca.ServeHTTPS(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Header, body}
	})
	s := newSender(t, trusting(ca))
	library, err := standardwebhooks.NewWebhook(webhook.StandardWebhooksSecret(postTo("").Secret))
	require.NoError(t, err)
	wrong, err := standardwebhooks.NewWebhook(webhook.StandardWebhooksSecret(secret.Text("svc_whsec_another")))
	require.NoError(t, err)

	post := func(standard bool, at time.Time) seen {
		t.Helper()
		p := postTo(url)
		p.EventID, p.Body, p.Standard = id.ID{1}, []byte(`{"event":"deposit.activated","createdAt":"ë"}`), standard
		require.Equal(t, webhook.ResultSuccess, s.Post(t.Context(), p, at).Result)
		return <-requests
	}
	now := time.Now()
	plain, first, retry := post(false, now), post(true, now), post(true, now.Add(time.Minute))
	for _, got := range []seen{first, retry} {
		require.NoError(t, library.Verify(got.body, got.header))
		require.Error(t, wrong.Verify(got.body, got.header))
		require.Error(t, library.Verify(append(got.body, '\n'), got.header))
		require.Equal(t, []string{id.Event.Of(id.ID{1})}, got.header["Webhook-Id"])
		require.Equal(t, got.header["X-Svc-Timestamp"], got.header["Webhook-Timestamp"])
	}
	require.NotEqual(t, first.header["Webhook-Signature"], retry.header["Webhook-Signature"])
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		require.NotContains(t, plain.header, name)
		first.header.Del(name)
	}
	require.Equal(t, plain.header, first.header)
}
