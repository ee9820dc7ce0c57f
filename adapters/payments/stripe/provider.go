package stripe

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// Time limits and connection limits of requests to Stripe.
const (
	requestTimeout = 20 * time.Second
	dialTimeout    = 5 * time.Second
	idleTimeout    = 90 * time.Second
	idleConns      = 32
	maxConns       = 64
)

// Options are the settings of the Stripe adapter. Pool, Clock, Log and SecretKey are required.
type Options struct {
	Pool  *pgxpool.Pool
	Clock ports.Clock
	Log   *slog.Logger
	// SecretKey is the setting STRIPE_SECRET_KEY: a secret key (sk_…) or a restricted key (rk_…).
	SecretKey secret.Text
	// WebhookSecret is the setting STRIPE_WEBHOOK_SECRET. Without it every callback of Stripe is refused.
	WebhookSecret secret.Text
	// BaseURL is the setting STRIPE_API_BASE; "" means Stripe's own address.
	BaseURL string
	// Transport sends the requests to Stripe; nil means one with the limits of this package.
	Transport http.RoundTripper
}

type Provider struct {
	store   store
	api     api
	clock   ports.Clock
	log     *slog.Logger
	webhook secret.Text
	live    bool
}

func New(o Options) *Provider {
	if o.Transport == nil {
		o.Transport = transport()
	}
	config := &stripe.BackendConfig{
		HTTPClient: client(o.Transport),
		// stripe-go must not repeat requests: callers do so, under the stored Idempotency-Key.
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
		// stripe-go must not log, since the bodies of requests contain addresses and secrets.
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if o.BaseURL != "" {
		config.URL = stripe.String(o.BaseURL)
	}
	return &Provider{
		store: store{pool: o.Pool}, clock: o.Clock, log: o.Log, webhook: o.WebhookSecret, live: IsLiveKey(o.SecretKey),
		api: api{backend: stripe.GetBackendWithConfig(stripe.APIBackend, config), key: o.SecretKey},
	}
}

// client makes an HTTP client for Stripe that follows no redirection, since every request carries the secret key.
func client(t http.RoundTripper) *http.Client {
	return &http.Client{
		Timeout: requestTimeout, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// transport makes the transport of requests to Stripe, without the environment's proxy.
func transport() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
		ResponseHeaderTimeout: requestTimeout, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: idleConns,
		MaxConnsPerHost:   maxConns,
		ForceAttemptHTTP2: true,
	}
}

// IsLiveKey reports whether a secret key of Stripe moves real money (sk_live_…, rk_live_…).
func IsLiveKey(key secret.Text) bool {
	return strings.HasPrefix(key.Reveal(), "sk_live_") || strings.HasPrefix(key.Reveal(), "rk_live_")
}

// IsTestKey reports whether a secret key of Stripe is of test mode (sk_test_…, rk_test_…).
func IsTestKey(key secret.Text) bool {
	return strings.HasPrefix(key.Reveal(), "sk_test_") || strings.HasPrefix(key.Reveal(), "rk_test_")
}
