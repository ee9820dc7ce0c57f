package webhook

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/hostiletest"
)

func TestPost_JudgesTheStatus(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status int
		result webhook.AttemptResult
		detail string
	}{
		{200, webhook.ResultSuccess, ""}, {201, webhook.ResultSuccess, ""}, {202, webhook.ResultSuccess, ""},
		{299, webhook.ResultSuccess, ""},
		{300, webhook.ResultNon2xx, "The endpoint answered 300 Multiple Choices."},
		{301, webhook.ResultRedirect,
			"The endpoint answered 301 Moved Permanently; redirects are not followed. Register the final URL."},
		{302, webhook.ResultRedirect, "The endpoint answered 302 Found; redirects are not followed. Register the final URL."},
		{303, webhook.ResultRedirect,
			"The endpoint answered 303 See Other; redirects are not followed. Register the final URL."},
		{307, webhook.ResultRedirect,
			"The endpoint answered 307 Temporary Redirect; redirects are not followed. Register the final URL."},
		{308, webhook.ResultRedirect,
			"The endpoint answered 308 Permanent Redirect; redirects are not followed. Register the final URL."},
		{304, webhook.ResultNon2xx, "The endpoint answered 304 Not Modified."},
		{400, webhook.ResultNon2xx, "The endpoint answered 400 Bad Request."},
		{401, webhook.ResultNon2xx, "The endpoint answered 401 Unauthorized."},
		{404, webhook.ResultNon2xx, "The endpoint answered 404 Not Found."},
		{410, webhook.ResultNon2xx, "The endpoint answered 410 Gone."},
		{429, webhook.ResultNon2xx, "The endpoint answered 429 Too Many Requests."},
		{500, webhook.ResultNon2xx, "The endpoint answered 500 Internal Server Error."},
		{503, webhook.ResultNon2xx, "The endpoint answered 503 Service Unavailable."},
		{600, webhook.ResultNon2xx, "The endpoint answered 600."},
		{999, webhook.ResultNon2xx, "The endpoint answered 999."},
	}
	elsewhere := serve(t, answering(ok, nil))
	s := newSender(t, nil)
	for _, c := range cases {
		t.Run(strconv.Itoa(c.status), func(t *testing.T) {
			t.Parallel()
			r := serve(t, answering("HTTP/1.1 "+strconv.Itoa(c.status)+" Whatever\r\nLocation: http://"+elsewhere.Address+
				"/\r\nContent-Length: 0\r\n\r\n", nil))
			a := s.Post(t.Context(), postTo("http://"+r.Address), signedAt)
			require.Equal(t, c.result, a.Result)
			require.Equal(t, c.status, a.ResponseStatus)
			require.Equal(t, c.detail, a.Detail)
		})
	}
	t.Cleanup(func() { require.Zero(t, elsewhere.Conns.Load(), "a redirect was followed") })
}

// After a switch of protocols the body is the connection itself, which no context ends.
func TestPost_AnsweredWithASwitchOfProtocols_EndsTheConnection(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	r := serve(t,
		answering("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: forever\r\n\r\n", func(c net.Conn) {
			hostiletest.SilentHandler(c)
			close(closed)
		}))
	a := newSender(t, nil).Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultNon2xx, a.Result)
	require.Equal(t, 101, a.ResponseStatus)
	<-closed
}

func TestPost_With2xxInTime_IsSuccessWhateverFollows(t *testing.T) {
	t.Parallel()
	const begin = "HTTP/1.1 200 OK\r\n"
	cases := map[string]func(net.Conn){
		"reset":              answering(begin+"Content-Length: 10\r\n\r\nhel", hostiletest.ResetConnection),
		"closed too early":   answering(begin+"Content-Length: 10\r\n\r\nhel", func(net.Conn) {}),
		"nothing follows":    answering(begin+"Content-Length: 10\r\n\r\n", hostiletest.SilentHandler),
		"one byte at a time": answering(begin+"Content-Length: 100000\r\n\r\n", hostiletest.TrickleHandler("x")),
		"a gigabyte":         answering(begin+"Content-Length: 1073741824\r\n\r\n", hostiletest.EndlessHandler("x")),
		"no end":             answering(begin+"\r\n", hostiletest.EndlessHandler("x")),
		"endless chunks": answering(begin+"Transfer-Encoding: chunked\r\n\r\n",
			hostiletest.EndlessHandler("1\r\nx\r\n")),
		"endless chunk extensions": answering(begin+"Transfer-Encoding: chunked\r\n\r\n1;", hostiletest.EndlessHandler("x")),
		"endless trailers": answering(begin+"Transfer-Encoding: chunked\r\n\r\n0\r\n",
			hostiletest.EndlessHandler("X: y\r\n")),
		"broken chunks": answering(begin+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", hostiletest.SilentHandler),
		"more than was announced": answering(begin+"Content-Length: 1\r\n\r\n",
			hostiletest.EndlessHandler("HTTP/1.1 500 No\r\n\r\n")),
	}
	for name, handle := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, nil)
			s.bodyTimeout = 100 * time.Millisecond
			r := serve(t, handle)
			a := s.Post(t.Context(), postTo("http://"+r.Address), signedAt)
			require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
			require.Equal(t, 200, a.ResponseStatus)
			require.LessOrEqual(t, len(a.Snippet), webhook.MaxResponseSnippet)
		})
	}
}

func TestPost_WithAnEndlessBodyOverHTTP2_IsSuccess(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	written := make(chan int, 1)
	url := ca.ServeHTTPS(t, func(w http.ResponseWriter, _ *http.Request) {
		block := bytes.Repeat([]byte("x"), 64<<10)
		total := 0
		for {
			n, err := w.Write(block)
			total += n
			if err != nil {
				written <- total
				return
			}
		}
	})
	a := newSender(t, trusting(ca)).Post(t.Context(), postTo(url), signedAt)
	require.Equal(t, webhook.ResultSuccess, a.Result, a.Detail)
	require.Len(t, a.Snippet, webhook.MaxResponseSnippet)
	require.Less(t, <-written, 1<<20, "the sender took more than its bounds")
}

func TestPost_DoesNotUnpackBodies(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := w.Write(make([]byte, 8<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r := serve(t, answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "+strconv.Itoa(bomb.Len())+
		"\r\n\r\n"+bomb.String(), nil))
	a := newSender(t, nil).Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultSuccess, a.Result)
	require.True(t, strings.HasPrefix(a.Snippet, "\x1f\uFFFD\x08"), "%q", a.Snippet[:8])
}

func TestPrintable_GivesTextThatEveryStoreTakes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", webhook.MaxResponseSnippet)
	cases := map[string]struct{ in, want string }{
		"empty":                 {"", ""},
		"text":                  {"naïve ✓", "naïve ✓"},
		"NUL":                   {"a\x00b", "a\uFFFDb"},
		"invalid UTF-8":         {"a\xff\xfeb", "a\uFFFDb"},
		"half a rune":           {"a\xe2\x82", "a\uFFFD"},
		"a surrogate":           {"\xed\xa0\x80", "\uFFFD"},
		"full":                  {long, long},
		"too long":              {long + "y", long},
		"a rune over the edge":  {long[1:] + "€uro", long[1:]},
		"a rune up to the edge": {long[3:] + "€uro", long[3:] + "€"},
		"grows":                 {strings.Repeat("\x00", webhook.MaxResponseSnippet), strings.Repeat("\uFFFD", webhook.MaxResponseSnippet/3)},
	}
	for name, c := range cases {
		got := printable([]byte(c.in))
		require.Equal(t, c.want, got, name)
		require.True(t, utf8.ValidString(got), name)
		require.LessOrEqual(t, len(got), webhook.MaxResponseSnippet, name)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add([]byte("a\x00\xff€"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := printable(b)
		if !utf8.ValidString(s) || len(s) > webhook.MaxResponseSnippet || strings.Contains(s, "\x00") {
			t.Fatalf("%q", s)
		}
	})
}

func TestRetryAfter_TakesTheFormsOfTheStandard(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 22, 40, 0, 0, time.UTC)
	cases := []struct {
		value string
		want  time.Duration
	}{
		{"", 0}, {"0", 0}, {"1", time.Second}, {"120", 2 * time.Minute}, {" 7 ", 7 * time.Second}, {"007", 7 * time.Second},
		{"3600", time.Hour}, {"3601", time.Hour}, {"9999999999", time.Hour}, {"99999999999999999999999", time.Hour},
		{"-1", 0}, {"+5", 0}, {"1.5", 0}, {"1e3", 0}, {"0x10", 0}, {"soon", 0}, {"120, 240", 0},
		{"Fri, 20 Nov 2026 22:42:00 GMT", 2 * time.Minute},
		{"Friday, 20-Nov-26 22:42:00 GMT", 2 * time.Minute},
		{"Fri Nov 20 22:42:00 2026", 2 * time.Minute},
		{"Fri, 20 Nov 2026 22:39:59 GMT", 0},
		{"Wed, 20 Nov 2126 22:39:59 GMT", time.Hour},
		{"2026-11-20T22:42:00Z", 0},
	}
	for _, c := range cases {
		for status, want := range map[int]time.Duration{429: c.want, 503: c.want, 500: 0, 200: 0, 301: 0} {
			r := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {c.value}}}
			require.Equal(t, want, retryAfter(r, now), "%d %q", status, c.value)
		}
	}
}

func TestPost_HandsOnRetryAfter(t *testing.T) {
	t.Parallel()
	r := serve(t, answering("HTTP/1.1 429 Slow down\r\nretry-after: 90\r\nContent-Length: 0\r\n\r\n", nil))
	a := newSender(t, nil).Post(t.Context(), postTo("http://"+r.Address), signedAt)
	require.Equal(t, webhook.ResultNon2xx, a.Result)
	require.Equal(t, 90*time.Second, a.RetryAfter)
}
