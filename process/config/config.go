// Package config reads the configuration from environment variables into one struct (settings.md, "Environment").
// Load reports all mistakes together.
package config

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// Config is the whole configuration of a process. An empty variable counts as not set.
//
// Tags of a field, beside those of the library caarlos0/env:
//
//	required  "always", "outside development" or "in production"; enforced for the commands whose Needs name the variable
//	example   a value for the message that asks for a required variable
//	form      the check of a text, by its name in forms.go
//	min, max  bounds of a number or a duration
//	above     a bound that a duration must exceed
//
// docs/guides/adding.md lists the places that a new setting touches.
type Config struct {
	Environment partner.Environment `env:"SERVICE_ENV" envDefault:"development" form:"environment"`

	// Database URLs may contain a password: secret.Text keeps them out of logs.
	DatabaseURL secret.Text `env:"DATABASE_URL" required:"always" example:"postgres://user:password@host:5432/database" form:"postgres"`
	// Whether DATABASE_URL leads to PgBouncer in transaction mode, so that migrations need DATABASE_DIRECT_URL.
	DatabasePooled    bool        `env:"DATABASE_POOLED"`
	DatabaseDirectURL secret.Text `env:"DATABASE_DIRECT_URL" form:"postgres"`

	RedisURL secret.Text `env:"REDIS_URL" required:"always" example:"redis://host:6379/0" form:"redis"`

	// The password for the Redis sentinels. The password of the master is part of REDIS_URL.
	RedisSentinelPassword secret.Text `env:"REDIS_SENTINEL_PASSWORD"`

	// The origins of the API and of the dashboard, without a path. In development both default to http://localhost
	// with the port of HTTP_ADDR.
	APIBaseURL       string `env:"API_BASE_URL" required:"outside development" example:"https://api.example.com" form:"origin"`
	DashboardBaseURL string `env:"DASHBOARD_BASE_URL" required:"outside development" example:"https://app.example.com" form:"origin"`

	SecretsKeyset secret.Text `env:"SECRETS_KEYSET" required:"outside development" form:"keyset"`

	HTTPAddr    string `env:"HTTP_ADDR" envDefault:":8080" form:"listen"`
	MetricsAddr string `env:"METRICS_ADDR" envDefault:":9090" form:"listen"`
	// Whether the Go profiler is served at /debug/pprof/ on METRICS_ADDR.
	MetricsPprof bool `env:"METRICS_PPROF"`
	// The addresses or CIDR ranges of proxies whose X-Real-IP is trusted.
	TrustedProxies []string `env:"TRUSTED_PROXIES" form:"proxy"`
	// The only header by which trusted proxies state the client's address. Unset: X-Real-IP, or else X-Forwarded-For.
	TrustedProxyHeader string `env:"TRUSTED_PROXY_HEADER" form:"proxy header"`

	// DrainDelay is how long a stopping http continues to serve after /readyz has reported "not ready". The delay must be
	// longer than the load balancer needs to notice. Development has no delay unless the variable is set.
	DrainDelay time.Duration `env:"DRAIN_DELAY" envDefault:"5s" min:"0s" max:"20s"`

	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string     `env:"LOG_FORMAT" envDefault:"json" form:"log format"`

	// The mail server, as smtp:// or smtps://. Unset: mails go to the log in development and wait in the database in
	// staging, and no address is verified.
	SMTPURL  secret.Text `env:"SMTP_URL" required:"in production" example:"smtps://user:password@host:465" form:"smtp"`
	MailFrom string      `env:"MAIL_FROM" form:"mail address"`

	// The addresses that tenants are shown at checkout and in mails: terms, privacy notice, support.
	TermsURL     string `env:"TERMS_URL" required:"in production with stripe" example:"https://example.com/terms" form:"https"`
	PrivacyURL   string `env:"PRIVACY_URL" required:"in production with stripe" example:"https://example.com/privacy" form:"https"`
	SupportEmail string `env:"SUPPORT_EMAIL" required:"in production with stripe" example:"help@example.com" form:"plain address"`

	// The payment provider. If it is unset, which production refuses, the method Payments returns the default.
	PaymentsProvider    string      `env:"PAYMENTS_PROVIDER" required:"in production" example:"stripe" form:"payments provider"`
	StripeSecretKey     secret.Text `env:"STRIPE_SECRET_KEY" form:"stripe key"`
	StripeWebhookSecret secret.Text `env:"STRIPE_WEBHOOK_SECRET" required:"in production with stripe" example:"whsec_…" form:"stripe webhook secret"`
	// The address of Stripe's API; unset: Stripe itself.
	StripeAPIBase string `env:"STRIPE_API_BASE" form:"stripe base"`

	// The wait before each attempt to deliver a webhook; the default is webhook.DefaultRetrySchedule.
	WebhookRetrySchedule       DurationList  `env:"WEBHOOK_RETRY_SCHEDULE"`
	WebhookTimeout             time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s" above:"0s" max:"1m"`
	WebhookConcurrency         int           `env:"WEBHOOK_CONCURRENCY" envDefault:"256" min:"1" max:"10000"`
	WebhookEndpointConcurrency int           `env:"WEBHOOK_ENDPOINT_CONCURRENCY" envDefault:"32" min:"1" max:"10000"`
	// Whether endpoints may have http URLs and private addresses, which production refuses.
	WebhookAllowInsecureTargets bool `env:"WEBHOOK_ALLOW_INSECURE_TARGETS"`
	// Ports of services that do not speak HTTP. Deliveries to them are refused, so that nobody finds out by a delivery
	// whether such a service listens. They are allowed with WEBHOOK_ALLOW_INSECURE_TARGETS.
	WebhookBlockedPorts []uint16 `env:"WEBHOOK_BLOCKED_PORTS" envDefault:"21,22,23,25,53,110,111,119,135,139,143,389,445,465,512,513,514,515,548,587,636,873,990,993,995,1080,1433,1521,1883,2049,2181,2375,2376,2379,2380,3306,3389,4369,5060,5061,5432,5671,5672,5900,6000,6379,6443,6667,8883,9042,9092,9200,9300,10250,11211,27017"`
	// Whether deliveries carry the header X-Svc-Event-Id.
	WebhookEventIDHeader bool `env:"WEBHOOK_EVENT_ID_HEADER"`
	// The addresses or CIDR ranges from which deliveries are sent, as receivers see them. Unset: none are published.
	EgressAddresses []string `env:"EGRESS_ADDRESSES" form:"egress address"`

	RateLimitPerMinute       int `env:"RATE_LIMIT_PER_MINUTE" envDefault:"3000" min:"1"`
	RateLimitWritesPerMinute int `env:"RATE_LIMIT_WRITES_PER_MINUTE" envDefault:"1200" min:"1"`
	AuthAttemptsPerMinute    int `env:"AUTH_ATTEMPTS_PER_MINUTE" envDefault:"10" min:"1"`

	// The time without a request after which a session ends.
	SessionIdle time.Duration `env:"SESSION_IDLE" envDefault:"12h" above:"0s" max:"336h"`

	CheckoutIdleAfter time.Duration `env:"CHECKOUT_IDLE_AFTER" envDefault:"30m" above:"0s"`
	CaptureWindow     time.Duration `env:"CLAIM_WINDOW" envDefault:"336h" above:"0s"`
	CoverMax          time.Duration `env:"COVERAGE_MAX" envDefault:"1440h" above:"0s"`
	// The times at which a captured amount is charged, counted from the capture; the default is
	// deposit.DefaultCollectionSchedule.
	CollectionRetrySchedule DurationList `env:"COLLECTION_RETRY_SCHEDULE"`

	SchedulerInterval time.Duration `env:"SCHEDULER_INTERVAL" envDefault:"10s" above:"0s"`

	// The address to which traces are sent; unset: none are sent.
	TracesEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" form:"http"`
	// The sampler that decides which traces are recorded, by its name in OpenTelemetry, and the share for samplers
	// with traceidratio in their names; unset: 1.
	TracesSampler    string `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" form:"traces sampler"`
	TracesSamplerArg string `env:"OTEL_TRACES_SAMPLER_ARG" form:"share"`
}

var TracesSamplers = []string{"always_on", "always_off", "traceidratio", "parentbased_always_on",
	"parentbased_always_off", "parentbased_traceidratio"}

// TraceSampleRatio returns the share of traces that samplers with traceidratio in their names record.
func (c Config) TraceSampleRatio() float64 {
	if share, err := strconv.ParseFloat(c.TracesSamplerArg, 64); err == nil {
		return share
	}
	return 1
}

// EgressRanges returns EGRESS_ADDRESSES in order, each once, with a single address as a range.
func (c Config) EgressRanges() []string {
	var all []netip.Prefix
	for _, text := range c.EgressAddresses {
		if r, err := addressRange(text); err == nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	var texts []string
	for _, r := range slices.Compact(all) {
		texts = append(texts, r.String())
	}
	return texts
}

type RequiredVariables []string

// The environment variables that each kind of command requires.
var (
	RequiredForService = RequiredVariables{"DATABASE_URL", "REDIS_URL", "SECRETS_KEYSET", "API_BASE_URL",
		"DASHBOARD_BASE_URL", "SMTP_URL",
		"PAYMENTS_PROVIDER", "STRIPE_WEBHOOK_SECRET", "TERMS_URL", "PRIVACY_URL", "SUPPORT_EMAIL"}
	RequiredForSecrets        = RequiredVariables{"DATABASE_URL", "SECRETS_KEYSET"}
	RequiredForDashboardLinks = RequiredVariables{"DATABASE_URL", "SECRETS_KEYSET", "DASHBOARD_BASE_URL"}
	RequiredForDatabase       = RequiredVariables{"DATABASE_URL"}
	NothingRequired           = RequiredVariables{}
)

// MigrationURL returns the database URL for migrations, which need a session that no pooler shares.
//
// Returns Mistakes if only a pooled connection is configured.
func (c Config) MigrationURL() (secret.Text, error) {
	switch {
	case c.DatabaseDirectURL != "":
		return c.DatabaseDirectURL, nil
	case c.DatabasePooled:
		return "",
			Mistakes{"DATABASE_DIRECT_URL: is required with DATABASE_POOLED: a migration needs a connection to Postgres itself"}
	}
	return c.DatabaseURL, nil
}

// DepositTimerDurations returns the configured durations (api.md §3).
func (c Config) DepositTimerDurations() deposit.TimerDurations {
	return deposit.TimerDurations{CaptureWindow: c.CaptureWindow, CoverMax: c.CoverMax,
		CheckoutIdleAfter: c.CheckoutIdleAfter}
}

func (c Config) Imprint() agreement.Imprint {
	return agreement.Imprint{TermsURL: c.TermsURL, PrivacyURL: c.PrivacyURL, SupportEmail: c.SupportEmail}
}

func (c Config) DeliverySchedule() webhook.RetrySchedule {
	return webhook.RetrySchedule(c.WebhookRetrySchedule)
}

func (c Config) WebhookTargetRules() webhook.TargetRules {
	return webhook.TargetRules{Insecure: c.WebhookAllowInsecureTargets, BlockedPorts: c.WebhookBlockedPorts}
}

func (c Config) CollectionSchedule() deposit.CollectionSchedule {
	return deposit.CollectionSchedule(c.CollectionRetrySchedule)
}

// AllowsLocalReturnURLs reports whether return URLs may be http on localhost (api.md §4).
func (c Config) AllowsLocalReturnURLs() bool { return c.Environment != partner.EnvironmentProduction }

func (c Config) TrustsProxy(address string) bool {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(c.TrustedProxies, func(trusted string) bool {
		if prefix, err := netip.ParsePrefix(trusted); err == nil {
			return prefix.Contains(addr.Unmap())
		}
		single, err := netip.ParseAddr(trusted)
		return err == nil && single.Unmap() == addr.Unmap()
	})
}

const (
	PaymentsSandbox = "sandbox" // The sandbox simulates a payment provider; production refuses it.
	PaymentsStripe  = "stripe"
	PaymentsNone    = "none" // No payments are taken: tenants are asked to come back later.
)

var PaymentsProviders = []string{PaymentsSandbox, PaymentsStripe, PaymentsNone}

// PaymentsProviderOrDefault returns PAYMENTS_PROVIDER, or else the sandbox outside production and none in
// production.
func (c Config) PaymentsProviderOrDefault() string {
	switch {
	case c.PaymentsProvider != "":
		return c.PaymentsProvider
	case c.Environment == partner.EnvironmentProduction:
		return PaymentsNone
	}
	return PaymentsSandbox
}

// CatchesMails reports whether mails are shown at /sandbox/mails instead of being sent: in development without
// SMTP_URL.
func (c Config) CatchesMails() bool {
	return c.Environment == partner.EnvironmentDevelopment && c.SMTPURL == ""
}

// VerifiesEmailAddresses reports whether operators must verify their e-mail addresses: only if mails are sent.
func (c Config) VerifiesEmailAddresses() bool { return c.SMTPURL != "" }

// UsesHTTPS reports whether browsers reach the pages over https.
func (c Config) UsesHTTPS() bool { return strings.HasPrefix(c.DashboardBaseURL, "https://") }

// LocalMetricsURL returns the origin at which this machine reaches METRICS_ADDR, without the name localhost, which
// some containers do not resolve.
func (c Config) LocalMetricsURL() string { return localBaseURL(c.MetricsAddr, "127.0.0.1") }

// localBaseURL returns the origin at which this machine reaches addr. self is the host for an address without one.
func localBaseURL(addr, self string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = self
	}
	return "http://" + net.JoinHostPort(host, port)
}
