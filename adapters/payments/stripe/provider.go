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

// Limits of a request to Stripe.
const (
	requestTimeout = 20 * time.Second
	dialTimeout    = 5 * time.Second
	idleTimeout    = 90 * time.Second
	idleConns      = 32
	maxConns       = 64
)

// Options of the provider. Pool, Clock, Log and SecretKey are required.
type Options struct {
	Pool  *pgxpool.Pool
	Clock ports.Clock
	Log   *slog.Logger
	// SecretKey is STRIPE_SECRET_KEY: sk_… or a restricted key, rk_….
	SecretKey secret.Text
	// WebhookSecret is STRIPE_WEBHOOK_SECRET; "" refuses every callback.
	WebhookSecret secret.Text
	// BaseURL is STRIPE_API_BASE; "" is Stripe itself.
	BaseURL string
	// Transport is the transport of requests; nil: one with limits of its own.
	Transport http.RoundTripper
}

// Provider implements paymentports.PaymentProvider, and the ports of callbacks, books, erasure and checks.
type Provider struct {
	store   store
	api     api
	clock   ports.Clock
	log     *slog.Logger
	webhook secret.Text
	live    bool
}

// New makes the provider. No request is sent.
func New(o Options) *Provider {
	if o.Transport == nil {
		o.Transport = transport()
	}
	config := &stripe.BackendConfig{
		HTTPClient:        client(o.Transport),
		MaxNetworkRetries: stripe.Int64(0), // callers repeat a request under its stored key
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // bodies contain addresses and secrets
	}
	if o.BaseURL != "" {
		config.URL = stripe.String(o.BaseURL)
	}
	return &Provider{
		store: store{pool: o.Pool}, clock: o.Clock, log: o.Log, webhook: o.WebhookSecret, live: IsLive(o.SecretKey),
		api: api{backend: stripe.GetBackendWithConfig(stripe.APIBackend, config), key: o.SecretKey},
	}
}

// client follows no redirection: the secret key travels with every request.
func client(t http.RoundTripper) *http.Client {
	return &http.Client{
		Timeout: requestTimeout, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// transport uses no proxy of the environment.
func transport() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
		ResponseHeaderTimeout: requestTimeout, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: idleConns,
		MaxConnsPerHost:   maxConns,
		ForceAttemptHTTP2: true,
	}
}

// IsLive tells whether a key moves money: sk_live_… and rk_live_….
func IsLive(key secret.Text) bool {
	return strings.HasPrefix(key.Reveal(), "sk_live_") || strings.HasPrefix(key.Reveal(), "rk_live_")
}

// IsTest tells whether a key is of test mode: sk_test_… and rk_test_….
func IsTest(key secret.Text) bool {
	return strings.HasPrefix(key.Reveal(), "sk_test_") || strings.HasPrefix(key.Reveal(), "rk_test_")
}
