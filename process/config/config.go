// Package config reads the environment into one validated struct (settings.md, "Environment").
// Load reports all mistakes together, so that an operator corrects them in a single round.
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

// Config is the whole configuration. An empty variable counts as not set.
//
// Tags of a field, beside those of caarlos0/env:
//
//	required  "always", "outside development" or "in production"; enforced for the commands whose Needs name the variable
//	example   a value for the message that asks for a required variable
//	form      the check of a text, by its name in forms.go
//	min, max  bounds of a number or a duration
//	above     a bound that a duration must exceed
//
// docs/guides/adding-a-setting.md lists the places that a new setting touches.
type Config struct {
	Environment partner.Environment `env:"SERVICE_ENV" envDefault:"development" form:"environment"`

	// Both URLs may carry a password: secret.Text keeps them out of logs.
	DatabaseURL secret.Text `env:"DATABASE_URL" required:"always" example:"postgres://user:password@host:5432/database" form:"postgres"`
	// True where DATABASE_URL leads to PgBouncer in transaction mode. Migrations need DATABASE_DIRECT_URL then.
	DatabasePooled    bool        `env:"DATABASE_POOLED"`
	DatabaseDirectURL secret.Text `env:"DATABASE_DIRECT_URL" form:"postgres"`

	RedisURL secret.Text `env:"REDIS_URL" required:"always" example:"redis://host:6379/0" form:"redis"`

	// that sentinels ask for; the URL has the password of the master
	RedisSentinelPassword secret.Text `env:"REDIS_SENTINEL_PASSWORD"`

	// Origins without a path. In development both default to http://localhost with the port of HTTP_ADDR.
	APIBaseURL       string `env:"API_BASE_URL" required:"outside development" example:"https://api.example.com" form:"origin"`
	DashboardBaseURL string `env:"DASHBOARD_BASE_URL" required:"outside development" example:"https://app.example.com" form:"origin"`

	SecretsKeyset secret.Text `env:"SECRETS_KEYSET" required:"outside development" form:"keyset"`

	HTTPAddr       string   `env:"HTTP_ADDR" envDefault:":8080" form:"listen"`
	MetricsAddr    string   `env:"METRICS_ADDR" envDefault:":9090" form:"listen"`
	MetricsPprof   bool     `env:"METRICS_PPROF"`                // serves /debug/pprof/ on METRICS_ADDR
	TrustedProxies []string `env:"TRUSTED_PROXIES" form:"proxy"` // addresses or CIDR ranges whose X-Real-IP is believed
	// The one header by which those tell the client's address. Unset: X-Real-IP, or else X-Forwarded-For.
	TrustedProxyHeader string `env:"TRUSTED_PROXY_HEADER" form:"proxy header"`

	// DrainDelay is the time in which a stopping http serves on after it has said that it is not ready: longer than the
	// balancer in front needs to notice. Development has none unless the variable is set.
	DrainDelay time.Duration `env:"DRAIN_DELAY" envDefault:"5s" min:"0s" max:"20s"`

	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string     `env:"LOG_FORMAT" envDefault:"json" form:"log format"`

	// smtp:// or smtps://. Unset: mails go to the log in development and wait in the database in staging, and no
	// address is verified.
	SMTPURL  secret.Text `env:"SMTP_URL" required:"in production" example:"smtps://user:password@host:465" form:"smtp"`
	MailFrom string      `env:"MAIL_FROM" form:"mail address"`

	// Shown to tenants at checkout and in mails.
	TermsURL     string `env:"TERMS_URL" required:"in production with stripe" example:"https://example.com/terms" form:"https"`
	PrivacyURL   string `env:"PRIVACY_URL" required:"in production with stripe" example:"https://example.com/privacy" form:"https"`
	SupportEmail string `env:"SUPPORT_EMAIL" required:"in production with stripe" example:"help@example.com" form:"plain address"`

	// Payments gives the provider where this is unset, which production refuses.
	PaymentsProvider    string      `env:"PAYMENTS_PROVIDER" required:"in production" example:"stripe" form:"payments provider"`
	StripeSecretKey     secret.Text `env:"STRIPE_SECRET_KEY" form:"stripe key"`
	StripeWebhookSecret secret.Text `env:"STRIPE_WEBHOOK_SECRET" required:"in production with stripe" example:"whsec_…" form:"stripe webhook secret"`
	StripeAPIBase       string      `env:"STRIPE_API_BASE" form:"stripe base"` // unset: Stripe itself

	// the wait before each attempt; the default is webhook.DefaultSchedule
	WebhookRetrySchedule       Schedule      `env:"WEBHOOK_RETRY_SCHEDULE"`
	WebhookTimeout             time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s" above:"0s" max:"1m"`
	WebhookConcurrency         int           `env:"WEBHOOK_CONCURRENCY" envDefault:"256" min:"1" max:"10000"`
	WebhookEndpointConcurrency int           `env:"WEBHOOK_ENDPOINT_CONCURRENCY" envDefault:"32" min:"1" max:"10000"`
	// allows http and private addresses; refused in production
	WebhookAllowInsecureTargets bool `env:"WEBHOOK_ALLOW_INSECURE_TARGETS"`
	// Ports of services that do not speak HTTP: no delivery may find out whether they listen. They are open with
	// insecure targets.
	WebhookBlockedPorts  []uint16 `env:"WEBHOOK_BLOCKED_PORTS" envDefault:"21,22,23,25,53,110,111,119,135,139,143,389,445,465,512,513,514,515,548,587,636,873,990,993,995,1080,1433,1521,1883,2049,2181,2375,2376,2379,2380,3306,3389,4369,5060,5061,5432,5671,5672,5900,6000,6379,6443,6667,8883,9042,9092,9200,9300,10250,11211,27017"`
	WebhookEventIDHeader bool     `env:"WEBHOOK_EVENT_ID_HEADER"` // sends X-Svc-Event-Id
	// The addresses or CIDR ranges from which deliveries come, as receivers see them. Unset: nothing is told.
	EgressAddresses []string `env:"EGRESS_ADDRESSES" form:"egress address"`

	RateLimitPerMinute       int `env:"RATE_LIMIT_PER_MINUTE" envDefault:"3000" min:"1"`
	RateLimitWritesPerMinute int `env:"RATE_LIMIT_WRITES_PER_MINUTE" envDefault:"1200" min:"1"`
	AuthAttemptsPerMinute    int `env:"AUTH_ATTEMPTS_PER_MINUTE" envDefault:"10" min:"1"`

	// without use, after which a session ends
	SessionIdle time.Duration `env:"SESSION_IDLE" envDefault:"12h" above:"0s" max:"336h"`

	CheckoutIdleAfter time.Duration `env:"CHECKOUT_IDLE_AFTER" envDefault:"30m" above:"0s"`
	CaptureWindow     time.Duration `env:"CLAIM_WINDOW" envDefault:"336h" above:"0s"`
	CoverMax          time.Duration `env:"COVERAGE_MAX" envDefault:"1440h" above:"0s"`
	// The times of the charges of a captured amount, counted from the capture; the default is
	// deposit.DefaultCollectionSchedule.
	CollectionRetrySchedule Schedule `env:"COLLECTION_RETRY_SCHEDULE"`

	SchedulerInterval time.Duration `env:"SCHEDULER_INTERVAL" envDefault:"10s" above:"0s"`

	TracesEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" form:"http"` // unset: no traces
	// Which traces are recorded, by the names of the OpenTelemetry specification, and the share for the samplers with
	// traceidratio in their names; unset: 1.
	TracesSampler    string `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" form:"traces sampler"`
	TracesSamplerArg string `env:"OTEL_TRACES_SAMPLER_ARG" form:"share"`
}

// TracesSamplers lists the values of OTEL_TRACES_SAMPLER.
var TracesSamplers = []string{"always_on", "always_off", "traceidratio", "parentbased_always_on",
	"parentbased_always_off", "parentbased_traceidratio"}

// TracesShare is the share of traces that the samplers with traceidratio in their names record, from 0 to 1.
func (c Config) TracesShare() float64 {
	if share, err := strconv.ParseFloat(c.TracesSamplerArg, 64); err == nil {
		return share
	}
	return 1
}

// Egress are the ranges of EGRESS_ADDRESSES in order, each once. An address is the range that has nothing else.
func (c Config) Egress() []string {
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

// Needs are the variables that a command requires.
type Needs []string

// Needs of the commands. A field that is required "outside development" has a default there.
var (
	Service = Needs{"DATABASE_URL", "REDIS_URL", "SECRETS_KEYSET", "API_BASE_URL", "DASHBOARD_BASE_URL", "SMTP_URL",
		"PAYMENTS_PROVIDER", "STRIPE_WEBHOOK_SECRET", "TERMS_URL", "PRIVACY_URL", "SUPPORT_EMAIL"}
	Secrets  = Needs{"DATABASE_URL", "SECRETS_KEYSET"}
	Links    = Needs{"DATABASE_URL", "SECRETS_KEYSET", "DASHBOARD_BASE_URL"}
	Database = Needs{"DATABASE_URL"}
	Nothing  = Needs{}
)

// MigrationURL is the URL of the database for migrations, which need a session of their own.
//
// Returns Mistakes when only a pooled connection is known.
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

// Timers are the deposit's timers (api.md §3).
func (c Config) Timers() deposit.Timers {
	return deposit.Timers{CaptureWindow: c.CaptureWindow, CoverMax: c.CoverMax,
		CheckoutIdleAfter: c.CheckoutIdleAfter}
}

// Imprint are the addresses that tenants are shown.
func (c Config) Imprint() agreement.Imprint {
	return agreement.Imprint{TermsURL: c.TermsURL, PrivacyURL: c.PrivacyURL, SupportEmail: c.SupportEmail}
}

// Retries is the schedule of webhook attempts.
func (c Config) Retries() webhook.Schedule { return webhook.Schedule(c.WebhookRetrySchedule) }

// WebhookTargets are the rules for endpoints.
func (c Config) WebhookTargets() webhook.TargetRules {
	return webhook.TargetRules{Insecure: c.WebhookAllowInsecureTargets, BlockedPorts: c.WebhookBlockedPorts}
}

// CollectionSchedule is the schedule of the charges of a captured amount.
func (c Config) CollectionSchedule() deposit.CollectionSchedule {
	return deposit.CollectionSchedule(c.CollectionRetrySchedule)
}

// InsecureURLs tells whether return URLs may be http on localhost (api.md §4).
func (c Config) InsecureURLs() bool { return c.Environment != partner.Production }

// Trusts tells whether an address is in TRUSTED_PROXIES.
func (c Config) Trusts(address string) bool {
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

// Payment providers.
const (
	PaymentsSandbox = "sandbox" // plays a provider; outside production
	PaymentsStripe  = "stripe"
	PaymentsNone    = "none" // takes no payments: tenants are asked to come back
)

// PaymentsProviders lists every payment provider.
var PaymentsProviders = []string{PaymentsSandbox, PaymentsStripe, PaymentsNone}

// Payments is the payment provider: PAYMENTS_PROVIDER, else the sandbox outside production and none in production.
func (c Config) Payments() string {
	switch {
	case c.PaymentsProvider != "":
		return c.PaymentsProvider
	case c.Environment == partner.Production:
		return PaymentsNone
	}
	return PaymentsSandbox
}

// CatchesMails tells whether mails stay here, for /sandbox/mails to show them.
func (c Config) CatchesMails() bool { return c.Environment == partner.Development && c.SMTPURL == "" }

// VerifiesAddresses tells whether operators verify their addresses: only where mails are sent.
func (c Config) VerifiesAddresses() bool { return c.SMTPURL != "" }

// HTTPS tells whether browsers reach our pages over https, which decides cookies and Strict-Transport-Security.
func (c Config) HTTPS() bool { return strings.HasPrefix(c.DashboardBaseURL, "https://") }

// LocalMetricsURL is the origin under which this machine reaches METRICS_ADDR. A container may have no /etc/hosts that
// knows localhost.
func (c Config) LocalMetricsURL() string { return localBaseURL(c.MetricsAddr, "127.0.0.1") }

// localBaseURL is the origin under which this machine, by the name self, reaches a service that listens on addr.
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
