// Package deposits is the library of the Partner API: a client that retries safely, signed connect URLs and
// verified webhooks.
package deposits

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client calls the Partner API with one API key; goroutines may share it.
type Client struct {
	Resources
	baseURL   string // The base URL of the API; empty when the given one was refused.
	retries   int
	http      http.Client
	after     func(time.Duration) <-chan time.Time
	random    func() float64
	authorize func(http.Header) // Adds the API key, so that a printed Client does not show it.
}

// Option changes a Client: the base URL (default https://api.example.com), the time limit of an attempt (30 s), the
// number of retries (2), the HTTP transport, and, for tests, the wait before a retry and its random part.
type Option func(*Client)

func WithBaseURL(base string) Option           { return func(c *Client) { c.baseURL = origin.FindString(base) } }
func WithTimeout(d time.Duration) Option       { return func(c *Client) { c.http.Timeout = d } }
func WithRetries(n int) Option                 { return func(c *Client) { c.retries = n } }
func WithTransport(t http.RoundTripper) Option { return func(c *Client) { c.http.Transport = t } }
func WithBackoff(after func(time.Duration) <-chan time.Time, random func() float64) Option {
	return func(c *Client) { c.after, c.random = after, random }
}

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

// CallOption changes a call: its Idempotency-Key (default: a new UUID v4); for Follow, the expected feed id, the
// seconds to wait for events (25; with 0, Follow ends at the last event), and the events per request.
type CallOption func(*call)

func WithIdempotencyKey(key string) CallOption { return func(do *call) { do.key = key } }
func WithFeedID(id string) CallOption          { return func(do *call) { do.feedID = id } }
func WithWaitSeconds(n int64) CallOption       { return func(do *call) { do.wait = n } }
func WithLimit(n int64) CallOption             { return func(do *call) { do.limit = n } }

type call struct {
	method, path, key, feedID string
	body                      any  // The value of the JSON body; nil for none.
	keyed, paged              bool // keyed: an Idempotency-Key is sent; paged: the response is a page of a list.
	wait, limit               int64
	timeout                   time.Duration // A time limit of an attempt that replaces a shorter one of the Client.
}

// Error is an error response of the API, or, with unreadable_answer, a response that is not the API's.
type Error struct {
	Status                   int `json:"-"`
	Code, Message, RequestID string
	RetryAfter               time.Duration `json:"-"` // The wait in the Retry-After header; 0 for none.
}

func (e *Error) Error() string {
	return fmt.Sprintf("deposits: %s (%d %s, request %s)", e.Message, e.Status, e.Code, e.RequestID)
}

// send sends a request with retries. It returns an *Error, or wraps an error of connection or argument.
func (c *Client) send(ctx context.Context, do call, opts []CallOption, into any) error {
	for _, opt := range opts {
		opt(&do)
	}
	object, err := json.Marshal(do.body)
	body := strings.NewReader(strings.TrimPrefix(string(object), "null"))
	req, urlErr := http.NewRequest(do.method, strings.TrimRight(c.baseURL, "/")+do.path, body)
	if c.baseURL == "" {
		urlErr = errors.New("the base URL is not http or https, or has credentials, ? or #")
	} else if elsewhere.MatchString(do.path) {
		urlErr = errors.New("an id is empty, . or .., and would lead to another path")
	}
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
		lost := !errors.As(err, &e) || e.Status == 500 || e.Status >= 502 && e.Status <= 504
		again := e.Status == 429 || e.Code == "idempotency_key_in_use" ||
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
		Data       *json.RawMessage
		Pagination *Pagination
		Error      *Error
	}
	readable, success := json.Unmarshal(body, &answer) == nil, res.StatusCode/100 == 2
	p := answer.Pagination // Refuse a page without a cursor: the next would be the first page again.
	whole := readable && answer.Data != nil && (!do.paged || p != nil && (p.NextCursor != "" || !p.HasMore))
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

// Ensure returns a URL's subscription, set to the events if any; or creates one, then with its Secret.
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

// Oldest is the position before the oldest event of a feed.
const Oldest int64 = -1

// Follow yields a feed's events after a position, the Sequence of an event. On the error feed_changed, follow from
// Oldest: stored positions are void.
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

// Money is an exact amount of euros; zero is no amount, with which a capture takes the whole deposit.
type Money struct{ unit, digits string }

// Euros returns the Money of a decimal text or whole euros: Euros("500.50"), Euros(500).
func Euros[T string | int | int64](euros T) Money { return Money{"EUR", fmt.Sprint(euros)} }

// Cents returns the Money of cents: Cents(50050) is Euros("500.50").
func Cents(cents int64) Money { return Euros(fmt.Sprintf("%d.%02d", cents/100, cents%100)) }

func (m Money) String() string                     { return m.digits }
func (m *Money) UnmarshalJSON(number []byte) error { *m = Euros(string(number)); return nil }

// MarshalJSON returns the amount as a JSON number with these digits.
func (m Money) MarshalJSON() ([]byte, error) {
	if !decimal.MatchString(m.digits) {
		return nil, fmt.Errorf("%q is not an amount of euros, such as 500.50", m.digits)
	}
	return []byte(m.digits), nil
}
