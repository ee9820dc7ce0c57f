package e2e_test

import (
	"encoding/base32"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/redistest"
)

// issued are the secrets of a run, by what they are.
type issued map[string][]string

func (s issued) add(t testing.TB, kind string, values ...string) {
	t.Helper()
	for _, v := range values {
		require.Greater(t, len(v), 7, "%s: %q is too short to be looked for", kind, v)
		s[kind] = append(s[kind], v)
	}
}

// foundIn gives the kinds of the secrets that a text holds, as they are, escaped for a URL, or as JSON.
func (s issued) foundIn(text string) (kinds []string) {
	for kind, values := range s {
		for _, v := range values {
			asJSON, err := json.Marshal(v)
			if err != nil || strings.Contains(text, v) || strings.Contains(text, url.QueryEscape(v)) ||
				strings.Contains(text, strings.Trim(string(asJSON), `"`)) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// cookies adds the values of a browser's cookies, which change with every log-in.
func (s issued) cookies(t testing.TB, b *browser, base string) {
	t.Helper()
	at, err := url.Parse(base)
	require.NoError(t, err)
	cookies := b.client.Jar.Cookies(at)
	require.NotEmpty(t, cookies)
	for _, c := range cookies {
		if len(c.Value) >= 16 { // a language is none
			s.add(t, "cookie "+c.Name, c.Value)
		}
	}
}

// watchRedis gives every command that a server of Redis gets from now on, with its arguments.
func watchRedis(t testing.TB, server *backing.Server) *procs.OutputBuffer {
	t.Helper()
	at, err := url.Parse(server.URL())
	require.NoError(t, err)
	conn, err := net.Dial("tcp", at.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "MONITOR\r\n")
	require.NoError(t, err)
	seen := &procs.OutputBuffer{}
	go func() { _, _ = io.Copy(seen, conn) }() // until the connection closes
	require.Eventually(t, func() bool { return strings.HasPrefix(seen.String(), "+OK") }, soon, often)
	return seen
}

// act sends the form of a page that has the intent.
func (b *browser) act(p page, intent string, fields url.Values) page {
	b.t.Helper()
	document, err := html.Parse(strings.NewReader(p.body))
	require.NoError(b.t, err)
	for node := range document.Descendants() {
		if node.Type != html.ElementNode || node.Data != "form" {
			continue
		}
		values, has := url.Values{}, false
		for input := range node.Descendants() {
			if input.Type == html.ElementNode && (input.Data == "input" || input.Data == "button") &&
				attribute(input, "value") != "" {
				has = has || (attribute(input, "name") == "intent" && attribute(input, "value") == intent)
				if attribute(input, "type") == "hidden" || attribute(input, "name") == "intent" {
					values.Set(attribute(input, "name"), attribute(input, "value"))
				}
			}
		}
		if !has {
			continue
		}
		for name, v := range fields {
			values[name] = v
		}
		target, err := p.url.Parse(attribute(node, "action"))
		require.NoError(b.t, err)
		response, err := b.client.PostForm(target.String(), values)
		require.NoError(b.t, err)
		return b.read(response)
	}
	require.FailNow(b.t, "the page has no form with the intent "+intent, p.body)
	return page{}
}

// secretRun is an installation whose every output is kept.
type secretRun struct {
	*deployment
	secrets issued
	mails   *smtpmock.Server
	traces  *collector
	redis   *procs.OutputBuffer
	started []*process
}

// openSecretRun prepares the stores. begin starts the processes.
func openSecretRun(t *testing.T) *secretRun {
	t.Helper()
	server, mails := mailServer(t)
	r := &secretRun{secrets: issued{}, traces: newCollector(t), mails: server}
	var made struct{ Keyset string }
	_, stdout, _ := run(t, nil, "admin", "secrets", "new-keyset", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &made))
	r.secrets.add(t, "keyset", made.Keyset)
	redis := redistest.StartServer(t)
	r.redis = watchRedis(t, redis)
	r.deployment = newWorldWithRedis(t, redis.URL(), "LOG_LEVEL=debug", "OTEL_EXPORTER_OTLP_ENDPOINT="+r.traces.url,
		"SECRETS_KEYSET="+made.Keyset, mails, "MAIL_FROM=Deposits <no-reply@example.com>",
		"WEBHOOK_RETRY_SCHEDULE=0s,100ms,100ms", "REDIS_SENTINEL_PASSWORD=of-no-sentinel")
	r.environ = append(r.environ, "DATABASE_DIRECT_URL="+r.databaseURL())
	r.secrets.add(t, "API key", r.apiKey)
	r.secrets.add(t, "connect secret", r.connectSecret)
	return r
}

func (r *secretRun) begin(t *testing.T) {
	t.Helper()
	r.started = []*process{r.http(t), r.dispatcher(t)}
}

// outputs stops the processes and gives their outputs, the spans, and the commands to Redis.
func (r *secretRun) outputs(t *testing.T) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	for i, name := range []string{"http", "dispatcher"} {
		p := r.started[i]
		for _, path := range []string{"/metrics", "/readyz"} {
			_, outputs[name+path] = fetch(p.opsURL + path)
		}
		require.Zero(t, p.stop(t))
		outputs["stderr of "+name], outputs["stdout of "+name] = p.log.String(), p.stdout.String()
	}
	outputs["traces"], outputs["Redis"] = r.traces.text(), r.redis.String()
	return outputs
}

// operator signs up, verifies, resets the password and turns two-factor codes on.
func (r *secretRun) operator(t *testing.T) (b *browser, accountID string) {
	t.Helper()
	const address, first, second = "olga.operator@example.com", "the-first-password-of-olga", "the-second-password-of-olga"
	r.secrets.add(t, "password", first, second, "a-wrong-password-of-olga")
	connectURL := r.connectURL(t, "villa-99")
	signed, err := url.Parse(connectURL)
	require.NoError(t, err)
	r.secrets.add(t, "signature of a connect URL", signed.Query().Get("sig"))
	b = newBrowser(t)
	b.submit(b.open(connectURL), url.Values{"email": {address}, "password": {first}, "companyName": {"Villa"}})
	r.secrets.cookies(t, b, r.baseURL)
	verify := linkTo(t, r.mails, address, "/verify?")
	b.submit(b.open(verify), nil)
	b.submit(b.open(r.baseURL+"/password/forgot"), url.Values{"email": {address}})
	reset := linkTo(t, r.mails, address, "/password/reset?")
	for _, link := range []string{verify, reset} {
		_, token, _ := strings.Cut(link, "token=")
		r.secrets.add(t, "token of a mail", token)
	}
	b.submit(b.open(reset), url.Values{"password": {second}})
	stranger := newBrowser(t)
	require.Equal(t, http.StatusUnprocessableEntity, stranger.submit(stranger.open(r.baseURL+"/login"),
		url.Values{"email": {address}, "password": {"a-wrong-password-of-olga"}}).status)
	b.submit(b.open(r.baseURL+"/login"), url.Values{"email": {address}, "password": {second}})
	r.secrets.cookies(t, b, r.baseURL)
	r.twoFactor(t, b, second)
	var accounts struct{ Data []struct{ AccountID string } }
	r.api(t).get("/accounts", &accounts)
	return b, accounts.Data[0].AccountID
}

func (r *secretRun) twoFactor(t *testing.T, b *browser, password string) {
	t.Helper()
	shown := b.act(b.open(r.baseURL+"/dashboard/settings"), "enable_totp", url.Values{"currentPassword": {password}})
	spaced := regexp.MustCompile(`(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}`).FindString(shown.body)
	plain := strings.ReplaceAll(spaced, " ", "")
	_, err := base32.StdEncoding.DecodeString(plain)
	require.NoError(t, err)
	r.secrets.add(t, "TOTP secret", spaced, plain)
	code, err := totp.GenerateCode(plain, time.Now())
	require.NoError(t, err)
	on := b.act(shown, "confirm_totp", url.Values{"code": {code}})
	require.Equal(t, http.StatusOK, on.status, on.body)
	recovery := regexp.MustCompile(`<code>([^<]{8,})</code>`).FindAllStringSubmatch(on.body, -1)
	require.Len(t, recovery, 10, on.body)
	for _, found := range recovery {
		r.secrets.add(t, "recovery code", found[1])
	}
	r.secrets.cookies(t, b, r.baseURL)
}

func TestIssued_FoundIn_SeesSecretsHoweverTheyAreEscaped(t *testing.T) {
	t.Parallel()
	s := issued{"one": {"abc+def/ghi="}, "two": {`quo"ted\secret`}, "three": {"plain-secret"}}
	require.Equal(t, []string{"one", "two"}, s.foundIn(`?a=abc%2Bdef%2Fghi%3D {"x":"quo\"ted\\secret"}`))
	require.Equal(t, []string{"three"}, s.foundIn("a plain-secret"))
	require.Empty(t, s.foundIn("nothing"))
}
