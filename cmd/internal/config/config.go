// Package config turns the environment into one validated struct (operations.md, "Environment").
// Every mistake is reported at once, so that nobody has to start the service five times to find five of them.
package config

import (
	"log/slog"
	"net"
	"strings"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// Config is the whole configuration. A variable that is empty counts as not set.
type Config struct {
	Environment partner.Environment `env:"SERVICE_ENV" envDefault:"development"`

	DatabaseURL secret.Text `env:"DATABASE_URL"` // carries a password: never logged
	RedisURL    secret.Text `env:"REDIS_URL"`

	APIBaseURL       string `env:"API_BASE_URL"`       // origin of the partner API; in development http://localhost and the port of HTTP_ADDR
	DashboardBaseURL string `env:"DASHBOARD_BASE_URL"` // origin of connect pages, checkout and dashboard; the same default

	SecretsKeyset secret.Text `env:"SECRETS_KEYSET"` // as `admin secrets new-keyset` gives it

	HTTPAddr       string   `env:"HTTP_ADDR" envDefault:":8080"`
	MetricsAddr    string   `env:"METRICS_ADDR" envDefault:":9090"`
	TrustedProxies []string `env:"TRUSTED_PROXIES"` // addresses or CIDR ranges whose X-Real-IP is believed

	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string     `env:"LOG_FORMAT" envDefault:"json"`

	SMTPURL  secret.Text `env:"SMTP_URL"` // smtp:// or smtps://; "": mails go to the log in development and wait in the database elsewhere
	MailFrom string      `env:"MAIL_FROM"`

	WebhookRetrySchedule        Schedule      `env:"WEBHOOK_RETRY_SCHEDULE"` // waits before each attempt, the first one 0s
	WebhookTimeout              time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s"`
	WebhookConcurrency          int           `env:"WEBHOOK_CONCURRENCY" envDefault:"256"`
	WebhookEndpointConcurrency  int           `env:"WEBHOOK_ENDPOINT_CONCURRENCY" envDefault:"32"`
	WebhookAllowInsecureTargets bool          `env:"WEBHOOK_ALLOW_INSECURE_TARGETS"` // http and private addresses; not in production
	WebhookEventIDHeader        bool          `env:"WEBHOOK_EVENT_ID_HEADER"`        // send X-Svc-Event-Id

	RateLimitPerMinute       int `env:"RATE_LIMIT_PER_MINUTE" envDefault:"3000"`
	RateLimitWritesPerMinute int `env:"RATE_LIMIT_WRITES_PER_MINUTE" envDefault:"1200"`
	AuthAttemptsPerMinute    int `env:"AUTH_ATTEMPTS_PER_MINUTE" envDefault:"10"`

	CheckoutIdleAfter time.Duration `env:"CHECKOUT_IDLE_AFTER" envDefault:"30m"`
	ClaimWindow       time.Duration `env:"CLAIM_WINDOW" envDefault:"336h"`
	CoverageMax       time.Duration `env:"COVERAGE_MAX" envDefault:"1440h"`
	SchedulerInterval time.Duration `env:"SCHEDULER_INTERVAL" envDefault:"10s"`

	TracesEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"` // "": no tracing
}

// Needs are the variables that a command cannot do without.
type Needs []string

// What the commands need. Outside development a service also needs its keyset and its base URLs.
var (
	Service  = Needs{"DATABASE_URL", "REDIS_URL", "SECRETS_KEYSET", "API_BASE_URL", "DASHBOARD_BASE_URL"}
	Secrets  = Needs{"DATABASE_URL", "SECRETS_KEYSET"}
	Links    = Needs{"DATABASE_URL", "SECRETS_KEYSET", "DASHBOARD_BASE_URL"}
	Database = Needs{"DATABASE_URL"}
	Nothing  = Needs{}
)

// Timers are the deposit's timers of api.md §3.
func (c Config) Timers() deposit.Timers {
	return deposit.Timers{ClaimWindow: c.ClaimWindow, CoverageMax: c.CoverageMax, CheckoutIdleAfter: c.CheckoutIdleAfter}
}

// Retries is the schedule of webhook attempts.
func (c Config) Retries() webhook.Schedule { return webhook.Schedule(c.WebhookRetrySchedule) }

// InsecureURLs tells whether return URLs may be http on localhost (api.md §4).
func (c Config) InsecureURLs() bool { return c.Environment != partner.Production }

// HTTPS tells whether browsers reach our pages over https, which decides cookies and Strict-Transport-Security.
func (c Config) HTTPS() bool { return strings.HasPrefix(c.DashboardBaseURL, "https://") }

// localBaseURL is where a service that listens on addr is reached from the same machine.
func localBaseURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
