package config

import (
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/mail"
	"partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
)

// Bounds that keep a slip of the pen from becoming an outage.
const (
	maxConcurrency = 10_000
	maxAttempts    = 50
	maxWait        = 7 * 24 * time.Hour
	maxTimeout     = time.Minute
)

// invalid checks what was read. Variables that are not set were handled by missing.
func (c Config) invalid() mistakes {
	found := mistakes{}
	check := func(name string, ok bool, format string, args ...any) {
		if !ok {
			found.addAll(mistakes{name: fmt.Sprintf(format, args...)})
		}
	}
	known := []partner.Environment{partner.Development, partner.Staging, partner.Production}
	check("SERVICE_ENV", slices.Contains(known, c.Environment), "%q is not development, staging or production", string(c.Environment))
	c.checkStores(check)
	c.checkAddresses(check)
	check("LOG_FORMAT", c.LogFormat == "json" || c.LogFormat == "text", "%q is not json or text", c.LogFormat)
	c.checkMail(check)
	c.checkWebhooks(check)
	c.checkNumbers(check)
	check("OTEL_EXPORTER_OTLP_ENDPOINT", c.TracesEndpoint == "" || isHTTP(c.TracesEndpoint), "is not an http or https URL")
	return found
}

type checker func(name string, ok bool, format string, args ...any)

func (c Config) checkStores(check checker) {
	if raw := c.DatabaseURL.Reveal(); raw != "" {
		_, err := pgx.ParseConfig(raw)
		check("DATABASE_URL", err == nil, "is not a Postgres URL such as postgres://user:password@host:5432/database")
	}
	if raw := c.RedisURL.Reveal(); raw != "" {
		client, err := redis.NewClient(raw) // connects to nothing
		check("REDIS_URL", err == nil, "must be redis://host:port/db, rediss://…, redis://host1,host2,… for a cluster, or redis-sentinel://host1,host2,…?master=name")
		if err == nil {
			_ = client.Close() // nothing was opened
		}
	}
	if raw := c.SecretsKeyset.Reveal(); raw != "" {
		_, err := secrets.Open(raw)
		check("SECRETS_KEYSET", err == nil, "is not a keyset; `admin secrets new-keyset` makes one")
	}
}

func (c Config) checkAddresses(check checker) {
	for _, base := range []struct{ name, value string }{{"API_BASE_URL", c.APIBaseURL}, {"DASHBOARD_BASE_URL", c.DashboardBaseURL}} {
		if base.value == "" {
			continue
		}
		u, err := url.Parse(base.value)
		origin := err == nil && isHTTP(base.value) && (u.Path == "" || u.Path == "/") && u.User == nil && !strings.ContainsAny(base.value, "?#")
		check(base.name, origin, "is not an origin such as https://api.example.com")
		check(base.name, !origin || u.Scheme == "https" || c.Environment != partner.Production || returnurl.IsLocalhost(u.Hostname()),
			"must be https in production")
	}
	check("HTTP_ADDR", isListen(c.HTTPAddr), "%q is not an address to listen on, such as :8080 or 127.0.0.1:8080", c.HTTPAddr)
	check("METRICS_ADDR", isListen(c.MetricsAddr), "%q is not an address to listen on, such as :9090 or 127.0.0.1:9090", c.MetricsAddr)
	for _, proxy := range c.TrustedProxies {
		_, errAddr := netip.ParseAddr(proxy)
		_, errRange := netip.ParsePrefix(proxy)
		check("TRUSTED_PROXIES", errAddr == nil || errRange == nil, "%q is neither an IP address nor a range such as 10.0.0.0/8", proxy)
	}
}

func (c Config) checkMail(check checker) {
	if raw := c.SMTPURL.Reveal(); raw != "" {
		_, err := mail.ParseURL(raw)
		check("SMTP_URL", err == nil, "%s", withoutName(err, "mail: SMTP_URL "))
		check("MAIL_FROM", c.MailFrom != "", "is required with SMTP_URL")
	}
	if c.MailFrom != "" {
		_, err := netmail.ParseAddress(c.MailFrom)
		check("MAIL_FROM", err == nil, "%q is not an address such as Deposits <no-reply@example.com>", c.MailFrom)
	}
}

func (c Config) checkWebhooks(check checker) {
	s := c.WebhookRetrySchedule
	check("WEBHOOK_RETRY_SCHEDULE", len(s) >= 1 && len(s) <= maxAttempts, "must have 1 to %d waits", maxAttempts)
	for _, wait := range s {
		check("WEBHOOK_RETRY_SCHEDULE", wait >= 0 && wait <= maxWait, "%s is not between 0s and %s", wait, maxWait)
	}
	check("WEBHOOK_TIMEOUT", c.WebhookTimeout > 0 && c.WebhookTimeout <= maxTimeout, "%s is not above 0s and at most %s", c.WebhookTimeout, maxTimeout)
	check("WEBHOOK_CONCURRENCY", c.WebhookConcurrency >= 1 && c.WebhookConcurrency <= maxConcurrency, "%d is not between 1 and %d", c.WebhookConcurrency, maxConcurrency)
	check("WEBHOOK_ENDPOINT_CONCURRENCY", c.WebhookEndpointConcurrency >= 1 && c.WebhookEndpointConcurrency <= maxConcurrency,
		"%d is not between 1 and %d", c.WebhookEndpointConcurrency, maxConcurrency)
	check("WEBHOOK_ALLOW_INSECURE_TARGETS", !c.WebhookAllowInsecureTargets || c.Environment != partner.Production, "is for development and staging only")
}

func (c Config) checkNumbers(check checker) {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"RATE_LIMIT_PER_MINUTE", c.RateLimitPerMinute},
		{"RATE_LIMIT_WRITES_PER_MINUTE", c.RateLimitWritesPerMinute},
		{"AUTH_ATTEMPTS_PER_MINUTE", c.AuthAttemptsPerMinute},
	} {
		check(n.name, n.value >= 1, "%d is not 1 or more", n.value)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"CHECKOUT_IDLE_AFTER", c.CheckoutIdleAfter},
		{"CLAIM_WINDOW", c.ClaimWindow},
		{"COVERAGE_MAX", c.CoverageMax},
		{"SCHEDULER_INTERVAL", c.SchedulerInterval},
	} {
		check(d.name, d.value > 0, "%s is not above 0s", d.value)
	}
}

func isListen(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || strings.ContainsAny(host, " /") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n <= 65535
}

func isHTTP(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// withoutName takes off what an adapter's error begins with: the list of mistakes names the variable itself.
func withoutName(err error, prefix string) string {
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), prefix)
}
