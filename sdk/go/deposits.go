// Package deposits is the library of the Partner API: a client that repeats requests safely, signed connect URLs, and
// webhooks that are verified before they are read.
package deposits

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Client calls the API with one API key. Goroutines may share it.
type Client struct {
	Resources
	baseURL   string
	retries   int
	http      http.Client
	after     func(time.Duration) <-chan time.Time
	random    func() float64
	authorize func(http.Header) // holds the key, so that a Client that is printed does not show it
}

// Option changes a Client: the installation (https://api.example.com by default), the time of an attempt (30 s), how
// often a request is repeated (2), what sends requests, and, for tests, what waits for an attempt, and the random part.
type Option func(*Client)

func WithBaseURL(base string) Option           { return func(c *Client) { c.baseURL = base } }
func WithTimeout(d time.Duration) Option       { return func(c *Client) { c.http.Timeout = d } }
func WithRetries(n int) Option                 { return func(c *Client) { c.retries = n } }
func WithTransport(t http.RoundTripper) Option { return func(c *Client) { c.http.Transport = t } }
func WithBackoff(after func(time.Duration) <-chan time.Time, random func() float64) Option {
	return func(c *Client) { c.after, c.random = after, random }
}

// New makes a Client of an API key.
func New(apiKey string, opts ...Option) *Client {
	c := &Client{baseURL: "https://api.example.com", retries: 2, after: time.After, random: rand.Float64}
	c.authorize = func(h http.Header) { h.Set("X-Api-Key", apiKey) }
	c.http.Timeout, c.Resources = 30*time.Second, newResources(c)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, opt := range opts {
		opt(c)
	}
	return c
}

func (c Client) String() string   { return "deposits.Client(" + c.baseURL + ")" }
func (c Client) GoString() string { return c.String() }

// CallOption changes a call: its Idempotency-Key, a UUID v4 that the call makes if none is given; of Follow, the feed
// that is expected, how long to wait at a time (25 s; with 0 it ends when no event is left), and how many to ask for.
type CallOption func(*call)

func WithIdempotencyKey(key string) CallOption { return func(do *call) { do.key = key } }
func WithFeedID(id string) CallOption          { return func(do *call) { do.feedID = id } }
func WithWaitSeconds(n int64) CallOption       { return func(do *call) { do.wait = n } }
func WithLimit(n int64) CallOption             { return func(do *call) { do.limit = n } }

type call struct {
	method, path, key, feedID string
	body                      any  // nil for none
	keyed, paged              bool // takes an Idempotency-Key; answers a page
	wait, limit               int64
	timeout                   time.Duration // of an attempt, at least
}

// Error is an answer of the API that is no success, or, with the code unreadable_answer, not one of the API.
type Error struct {
	Status                   int `json:"-"`
	Code, Message, RequestID string
	RetryAfter               time.Duration `json:"-"` // 0 where the answer does not say
}

func (e *Error) Error() string {
	return fmt.Sprintf("deposits: %s (%d %s, request %s)", e.Message, e.Status, e.Code, e.RequestID)
}

// send makes a call and repeats it. Its error is an *Error, or wraps that of the connection or of a wrong argument.
func (c *Client) send(ctx context.Context, do call, opts []CallOption, into any) error {
	for _, opt := range opts {
		opt(&do)
	}
	object, err := json.Marshal(do.body)
	body := strings.NewReader(strings.TrimPrefix(string(object), "null"))
	req, urlErr := http.NewRequest(do.method, strings.TrimRight(c.baseURL, "/")+do.path, body)
	if err = errors.Join(err, urlErr); err != nil {
		return fmt.Errorf("deposits: %w", err)
	}
	c.authorize(req.Header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "partner-deposits-go/"+Version+" go/"+strings.TrimPrefix(runtime.Version(), "go"))
	if r := rand.Uint64; do.keyed {
		uuid := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r()>>32, r()>>48, r()>>52, r()>>52, r()>>16)
		req.Header.Set("Idempotency-Key", cmp.Or(do.key, uuid))
	}
	for n := 0; ; n++ {
		err, e := c.attempt(req.Clone(ctx), do, into), &Error{}
		lost := !errors.As(err, &e) || e.Status == 500 || e.Status == 502 || e.Status == 504 // perhaps a success
		again := e.Status == 429 || e.Status == 503 || e.Code == "idempotency_key_in_use" ||
			lost && (do.keyed || do.method != http.MethodPost)
		if err == nil || !again || n >= c.retries || e.RetryAfter > time.Minute || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.after(max(e.RetryAfter, time.Duration(c.random()*float64(time.Second/2<<n)))):
		}
	}
}

func (c *Client) attempt(req *http.Request, do call, into any) error {
	sender := c.http
	sender.Timeout = max(sender.Timeout, do.timeout)
	req.Body, _ = req.GetBody()
	res, err := sender.Do(req)
	if err != nil {
		return fmt.Errorf("deposits: no answer: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("deposits: the answer was cut: %w", err)
	}
	var answer struct {
		Data, Pagination *json.RawMessage
		Error            *Error
	}
	readable, success := json.Unmarshal(body, &answer) == nil, res.StatusCode/100 == 2
	whole := readable && answer.Data != nil && (answer.Pagination != nil || !do.paged)
	if success && (into == nil || whole && json.Unmarshal(body, into) == nil) {
		return nil
	}
	e := answer.Error
	if !readable || success || e == nil || e.Code == "" {
		e = &Error{Code: "unreadable_answer", Message: "The answer is not one of the API."}
	}
	wait, _ := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31)
	e.Status, e.RetryAfter = res.StatusCode, time.Duration(wait)*time.Second
	e.RequestID = cmp.Or(e.RequestID, res.Header.Get("X-Request-Id"))
	return e
}

// Ensure finds the subscription of a URL, and gives it the events, if any are named. Without one it creates one:
// only then is there a Secret.
func (r *WebhooksResource) Ensure(ctx context.Context, url string, events ...EventName) (*CreatedWebhook, error) {
	set := func(events []EventName) []EventName { return slices.Compact(slices.Sorted(slices.Values(events))) }
	for w, err := range r.List(ctx, nil) {
		if err == nil && w.URL != url {
			continue
		}
		if err == nil && len(events) > 0 && !slices.Equal(set(w.Events), set(events)) {
			w, err = r.Update(ctx, w.ID, &UpdateWebhookParams{Events: events})
		}
		if err != nil {
			return nil, err
		}
		ensured := &CreatedWebhook{}
		return ensured, json.Unmarshal(w.Raw(), ensured)
	}
	return r.Create(ctx, &CreateWebhookParams{URL: url, Events: events})
}

// Oldest is the position before the oldest event that the feed keeps.
const Oldest int64 = -1

// Follow yields the events after a position, the Sequence of an event, as they happen. The error feed_changed says that
// positions have lost their meaning: follow from Oldest.
func (r *EventsResource) Follow(ctx context.Context, after int64, opts ...CallOption) iter.Seq2[*FeedEvent, error] {
	do := call{wait: 25}
	for _, opt := range opts {
		opt(&do)
	}
	patient := func(each *call) { each.timeout = time.Duration(do.wait+10) * time.Second }
	return func(yield func(*FeedEvent, error) bool) {
		after, feedID := after, do.feedID
		for more := true; more; {
			params := &ReadFeedParams{Limit: do.limit, WaitSeconds: &do.wait}
			if after != Oldest {
				params.After = &after
			}
			feed, err := r.Feed(ctx, params, patient)
			if err == nil && feedID != "" && feedID != feed.FeedID {
				err = &Error{Status: 200, Code: "feed_changed", Message: "The feed is another: follow from Oldest."}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range feed.Data {
				feed.Data[i].FeedID = feed.FeedID
				if !yield(&feed.Data[i], nil) {
					return
				}
			}
			after, feedID, more = feed.NextAfter, feed.FeedID, do.wait > 0 || len(feed.Data) > 0
		}
	}
}

// Money is an amount of euros in decimal digits, never a float. The zero Money is no amount.
type Money struct{ unit, digits string }

// Euros makes Money of a decimal text or of whole euros: Euros("500.50"), Euros(500).
func Euros[T string | int | int64](euros T) Money { return Money{"EUR", fmt.Sprint(euros)} }

// Cents makes Money of cents: Cents(50050) is Euros("500.50").
func Cents(cents int64) Money { return Euros(fmt.Sprintf("%d.%02d", cents/100, cents%100)) }

func (m Money) String() string                     { return m.digits }
func (m *Money) UnmarshalJSON(number []byte) error { *m = Euros(string(number)); return nil }

// MarshalJSON gives a number of the very digits.
func (m Money) MarshalJSON() ([]byte, error) {
	if !decimal.MatchString(m.digits) {
		return nil, fmt.Errorf("%q is not an amount of euros, such as 500.50", m.digits)
	}
	return []byte(m.digits), nil
}

// ConnectParams say whom a connect URL is for. Page is register by default, or login; TS, now by default, Unix seconds.
type ConnectParams struct {
	Slug, Secret, ExternalID, Email, Name, ReturnURL, Page string
	TS                                                     *string
}

var (
	decimal  = regexp.MustCompile(`^\d{1,12}(\.\d{1,2})?$`)
	slug     = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)
	unix     = regexp.MustCompile(`^[0-9]{1,15}$`)
	digest   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	base64ed = regexp.MustCompile(`^[A-Za-z0-9+/]{43}=$`)
	// The form of our bodies: no white space outside of strings, and in them no escapes but those that we write.
	ours = regexp.MustCompile(`^\{"event":(?:[^"\s]|"(?:[^"\\<>&\x{2028}\x{2029}]|\\["\\bfnrt]|` +
		`\\u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd))*")*$`)
)

// ConnectURL signs the URL that brings an operator to the pages at base.
func ConnectURL(base string, p ConnectParams) (string, error) {
	ts, page := strconv.FormatInt(time.Now().Unix(), 10), cmp.Or(p.Page, "register")
	if p.TS != nil {
		ts = *p.TS
	}
	if wrong := cmp.Or(
		when(!strings.HasPrefix(p.Secret, "svc_cs_"), "Secret is not a connect secret (svc_cs_…)"),
		when(!slug.MatchString(p.Slug), "Slug is not 2 to 40 of a-z, 0-9 and -"),
		when(p.ExternalID == "" || len(p.ExternalID) > 255, "ExternalID has not 1 to 255 bytes"),
		when(!unix.MatchString(ts) || len(ts) > 10, "TS is not Unix seconds"),
		when(page != "register" && page != "login", "Page is neither register nor login"),
	); wrong != "" {
		return "", errors.New("deposits: " + wrong)
	}
	link := strings.TrimRight(base, "/") + "/" + page + "?partner=" + p.Slug + "&external_id=" + escape(p.ExternalID) +
		"&ts=" + ts + "&sig=" + sign(p.Secret, p.Slug+"."+p.ExternalID+"."+ts)
	for _, more := range [][2]string{{"&email=", p.Email}, {"&name=", p.Name}, {"&return_url=", p.ReturnURL}} {
		link += when(more[1] != "", more[0]+escape(more[1]))
	}
	return link, nil
}

// Return is what a verified return URL says. Its Error is not signed.
type Return struct {
	Status, AccountID, ExternalID, Error string
	TS                                   int64
}

// VerifyReturn reads the URL with which an operator comes back. Its error is a *SignatureError.
func VerifyReturn(returned, connectSecret string, opts ...VerifyOption) (*Return, error) {
	returned, _, _ = strings.Cut(returned, "#")
	_, query, _ := strings.Cut(returned, "?")
	q, _ := url.ParseQuery(query) // without the pairs that cannot be decoded
	var missing, twice bool
	for _, name := range []string{"connectStatus", "accountId", "externalId", "returnTs", "returnSig"} {
		missing, twice = missing || len(q[name]) == 0, twice || len(q[name]) > 1
	}
	ts, signature := q.Get("returnTs"), q.Get("returnSig")
	r := &Return{q.Get("connectStatus"), q.Get("accountId"), q.Get("externalId"), q.Get("connectError"), 0}
	r.TS, _ = strconv.ParseInt(ts, 10, 64)
	if reason := cmp.Or(
		when(missing, "missing_parameter"),
		when(twice || !unix.MatchString(ts) || !digest.MatchString(signature), "malformed_parameter"),
		when(!signed(signature, connectSecret, "return:"+r.Status+"."+r.AccountID+"."+ts+"."+r.ExternalID), "mismatch"),
		when(late(ts, 1<<63-1, opts) != "", "expired"),
	); reason != "" {
		return nil, &SignatureError{Reason: reason}
	}
	return r, nil
}

// SignatureError says why a webhook or a return URL is refused. Hint is "" where the cause cannot be told.
type SignatureError struct{ Reason, Hint string }

func (e *SignatureError) Error() string {
	return strings.TrimSpace(words[e.Reason] + " " + words[e.Hint])
}

// VerifyOption sets the greatest age of a signature, by default 300 s for webhooks and none for returns, or the clock.
type VerifyOption func(tolerance *time.Duration, now *func() time.Time)

func WithTolerance(d time.Duration) VerifyOption {
	return func(tolerance *time.Duration, _ *func() time.Time) { *tolerance = d }
}
func WithClock(clock func() time.Time) VerifyOption {
	return func(_ *time.Duration, now *func() time.Time) { *now = clock }
}

// Unwrap verifies a webhook by its raw body, and reads its event, which has no ID. Its error is a *SignatureError.
func Unwrap(body []byte, header http.Header, secret string, opts ...VerifyOption) (*Event, error) {
	all := map[string][]string{} // by names in one case
	for name, values := range header {
		name = http.CanonicalHeaderKey(name)
		all[name] = append(all[name], values...)
	}
	ts, signature := strings.Join(all["X-Svc-Timestamp"], ","), strings.Join(all["X-Svc-Signature"], ",")
	hash, prefixed := strings.CutPrefix(signature, "sha256=")
	text, trimmed := string(body), strings.Trim(string(body), "\ufeff \t\r\n")
	e, event, lateness := &SignatureError{}, &Event{}, late(ts, 300*time.Second, opts)
	switch {
	case ts == "" || signature == "":
		e.Reason = "missing_header"
	case !unix.MatchString(ts):
		e.Reason = "malformed_header"
	case !prefixed || !digest.MatchString(hash):
		e.Reason, e.Hint = "malformed_header", cmp.Or(
			when(digest.MatchString(signature), "prefix_missing"),
			when(digest.MatchString(strings.ToLower(hash)), "upper_case"),
			when(base64ed.MatchString(hash), "base64"))
	case !signed(hash, secret, ts+"."+text):
		e.Reason, e.Hint = "mismatch", cmp.Or(
			when(strings.TrimSpace(strings.ReplaceAll(secret, "\ufeff", "")) != secret, "secret_whitespace"),
			when(!strings.HasPrefix(secret, "svc_whsec_"), "wrong_secret_kind"),
			when(signed(hash, secret, text+"."+ts) || signed(hash, secret, ts+text) ||
				signed(hash, secret, text), "order"),
			when(len(ts) == 13, "milliseconds"),
			when(!isObject(trimmed) || trimmed != text, "body_changed"),
			when(!ours.MatchString(text), "body_reserialized"))
	case lateness != "":
		e.Reason, e.Hint = "expired", lateness
	case !isObject(text) || json.Unmarshal(body, event) != nil:
		e.Reason = "invalid_json"
	default:
		return event, nil
	}
	return nil, e
}

// late says how Unix seconds are outside the tolerance.
func late(ts string, tolerance time.Duration, opts []VerifyOption) string {
	now := time.Now
	for _, opt := range opts {
		opt(&tolerance, &now)
	}
	seconds, _ := strconv.ParseInt(ts, 10, 64)
	age := time.Unix(now().Unix(), 0).Sub(time.Unix(seconds, 0))
	return when(age.Abs() > tolerance, cmp.Or(when(len(ts) == 13, "milliseconds"), when(age > 0, "stale"), "future"))
}

func when(holds bool, word string) string {
	if holds {
		return word
	}
	return ""
}

func isObject(text string) bool {
	var fields map[string]json.RawMessage
	return utf8.ValidString(text) && json.Unmarshal([]byte(text), &fields) == nil && fields != nil
}

func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") } // as RFC 3986

// sign gives the HMAC-SHA256 of a message in lower-case hex.
func sign(secret, message string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(message))
	return fmt.Sprintf("%x", mac.Sum(nil))
}

// signed tells, in constant time, whether a signature is that of a message. With an empty secret everybody could sign.
func signed(signature, secret, message string) bool {
	return secret != "" && hmac.Equal([]byte(sign(secret, message)), []byte(signature))
}

// StandardSecret gives a signing secret in the form of libraries for Standard Webhooks.
func StandardSecret(secret string) (string, error) {
	if !strings.HasPrefix(secret, "svc_whsec_") || len(secret) < 24 || len(secret) > 64 {
		return "", errors.New("deposits: the secret is not a signing secret (svc_whsec_…)")
	}
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(secret)), nil
}
