package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/process/config"
)

var complete = []string{"DATABASE_URL=postgres://u:hunter2@db:5432/svc", "REDIS_URL=redis://r:6379/0"}

const keyset = "SECRETS_KEYSET=" + secrets.DevelopmentKeyset

func with(pairs ...string) []string { return append(append([]string{}, complete...), pairs...) }

func TestLoad_DefaultsOfDevelopment(t *testing.T) {
	c, err := config.Load(complete, config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, partner.EnvironmentDevelopment, c.Environment)
	require.Equal(t, "http://localhost:8080", c.APIBaseURL)
	require.Equal(t, "http://localhost:8080", c.DashboardBaseURL)
	require.Equal(t, webhook.DefaultRetrySchedule, c.DeliverySchedule())
	require.Equal(t, 10*time.Second, c.WebhookTimeout)
	require.Equal(t, 3000, c.RateLimitPerMinute)
	require.Equal(t, 1200, c.RateLimitWritesPerMinute)
	require.Equal(t, 10, c.AuthAttemptsPerMinute)
	require.Equal(t, 30*time.Minute, c.DepositTimerDurations().CheckoutIdleAfter)
	require.Equal(t, 14*24*time.Hour, c.DepositTimerDurations().CaptureWindow)
	require.Equal(t, 60*24*time.Hour, c.DepositTimerDurations().CoverMax)
	require.Equal(t, 10*time.Second, c.SchedulerInterval)
	require.True(t, c.AllowsLocalReturnURLs())
	require.False(t, c.UsesHTTPS())
	require.Zero(t, c.DrainDelay, "Ctrl-C does not wait")

	c, err = config.Load(with("DRAIN_DELAY=3s"), config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, 3*time.Second, c.DrainDelay)
}

func TestLoad_ReadsEveryKindOfValue(t *testing.T) {
	c, err := config.Load(with(
		"SERVICE_ENV=production", keyset, "API_BASE_URL=https://api.example.com/",
		"DASHBOARD_BASE_URL=https://app.example.com",
		"LOG_LEVEL=warn", "LOG_FORMAT=text", "TRUSTED_PROXIES=10.0.0.0/8,192.0.2.1", "WEBHOOK_RETRY_SCHEDULE=0s, 1s,5m",
		"WEBHOOK_EVENT_ID_HEADER=true", "SMTP_URL=smtps://u:p@mail:465", "MAIL_FROM=Deposits <no-reply@example.com>",
		"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=rk_live_1", "STRIPE_WEBHOOK_SECRET=whsec_1",
		"STRIPE_API_BASE=https://stripe.example",
		"TERMS_URL=https://example.com/terms", "PRIVACY_URL=https://example.com/privacy", "SUPPORT_EMAIL=help@example.com",
	), config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, "https://api.example.com", c.APIBaseURL)
	require.Equal(t, slog.LevelWarn, c.LogLevel)
	require.Equal(t, []string{"10.0.0.0/8", "192.0.2.1"}, c.TrustedProxies)
	require.Equal(t, webhook.RetrySchedule{0, time.Second, 5 * time.Minute}, c.DeliverySchedule())
	require.True(t, c.WebhookEventIDHeader)
	require.Equal(t, 5*time.Second, c.DrainDelay)
	require.True(t, c.UsesHTTPS())
	require.False(t, c.AllowsLocalReturnURLs())
}

func TestLoad_EmptyCountsAsNotSet(t *testing.T) {
	c, err := config.Load(with("WEBHOOK_TIMEOUT=", "LOG_FORMAT=", "API_BASE_URL="), config.RequiredForService)
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, c.WebhookTimeout)
	require.Equal(t, "json", c.LogFormat)
}

func TestLoad_NamesEachMistake(t *testing.T) {
	production := []string{
		"SERVICE_ENV=production", keyset, "API_BASE_URL=https://a.example", "DASHBOARD_BASE_URL=https://b.example",
		"SMTP_URL=smtp://mail:25", "MAIL_FROM=a@b.example", "PAYMENTS_PROVIDER=none",
	}
	cases := map[string]struct {
		environ []string
		want    string
	}{
		"no database":          {[]string{"REDIS_URL=redis://r"}, "DATABASE_URL: is required"},
		"no Redis":             {[]string{"DATABASE_URL=postgres://db/x"}, "REDIS_URL: is required"},
		"environment":          {with("SERVICE_ENV=prod"), `SERVICE_ENV: "prod" is not`},
		"database URL":         {with("DATABASE_URL=postgres://u:p@db:nope/x"), "DATABASE_URL: is not a Postgres URL"},
		"direct URL":           {with("DATABASE_DIRECT_URL=mysql://db/x"), "DATABASE_DIRECT_URL: is not a Postgres URL"},
		"Redis URL":            {with("REDIS_URL=http://r"), "REDIS_URL: must be redis://host:port/db"},
		"Redis cluster and db": {with("REDIS_URL=redis://a,b/1"), "REDIS_URL: must be"},
		"Sentinel's master":    {with("REDIS_URL=redis-sentinel://a,b"), "REDIS_URL: must be"},
		"base URL with path":   {with("API_BASE_URL=https://a.example/x"), "API_BASE_URL: is not an origin"},
		"base URL, no scheme":  {with("DASHBOARD_BASE_URL=a.example"), "DASHBOARD_BASE_URL: is not an origin"},
		"http in production": {append(with(production...), "API_BASE_URL=http://a.example"),
			"API_BASE_URL: must be https in production"},
		"keyset in staging": {append(with(production[2:]...), "SERVICE_ENV=staging"),
			"SECRETS_KEYSET: is required outside development"},
		"keyset":               {with("SECRETS_KEYSET=hunter2"), "SECRETS_KEYSET: is not a keyset"},
		"listen address":       {with("HTTP_ADDR=8080"), `HTTP_ADDR: "8080" is not`},
		"metrics port":         {with("METRICS_ADDR=:99999"), `METRICS_ADDR: ":99999" is not`},
		"proxy":                {with("TRUSTED_PROXIES=10.0.0.0/8,proxy"), `TRUSTED_PROXIES: "proxy" is neither`},
		"drain delay":          {with("DRAIN_DELAY=soon"), `DRAIN_DELAY: "soon" is not a duration`},
		"long drain delay":     {with("DRAIN_DELAY=21s"), "DRAIN_DELAY: 21s is not between 0s and 20s"},
		"negative drain delay": {with("DRAIN_DELAY=-1s"), "DRAIN_DELAY: -1s is not between 0s and 20s"},
		"log level":            {with("LOG_LEVEL=loud"), `LOG_LEVEL: "loud" is not`},
		"proxy header": {with("TRUSTED_PROXY_HEADER=Forwarded"),
			`TRUSTED_PROXY_HEADER: "Forwarded" is not X-Real-IP or X-Forwarded-For`},
		"a port": {with("WEBHOOK_BLOCKED_PORTS=22,65536"),
			`WEBHOOK_BLOCKED_PORTS: "22,65536" is not a list of ports`},
		"log format":  {with("LOG_FORMAT=xml"), `LOG_FORMAT: "xml" is not`},
		"mail server": {with("SMTP_URL=mail:25", "MAIL_FROM=a@b.example"), "SMTP_URL: is not an smtp"},
		"no sender":   {with("SMTP_URL=smtp://mail:25"), "MAIL_FROM: is required with SMTP_URL"},
		"sender":      {with("MAIL_FROM=nobody"), `MAIL_FROM: "nobody" is not`},
		"Stripe, no terms": {
			append(with(production...), "PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=rk_live_1",
				"STRIPE_WEBHOOK_SECRET=whsec_1", "PRIVACY_URL=https://a.example", "SUPPORT_EMAIL=a@b.example"),
			"TERMS_URL: is required in production with stripe"},
		"terms": {with("TERMS_URL=example.com/terms"), "TERMS_URL: is not a URL such as"},
		"privacy by http": {append(with(production...), "PRIVACY_URL=http://a.example"),
			"PRIVACY_URL: must be https in production"},
		"support": {with("SUPPORT_EMAIL=Help <help@example.com>"),
			`SUPPORT_EMAIL: "Help <help@example.com>" is not`},
		"provider": {with("PAYMENTS_PROVIDER=paypal"),
			`PAYMENTS_PROVIDER: "paypal" is not sandbox, stripe or none`},
		"no provider": {with(production[:6]...), "PAYMENTS_PROVIDER: is required in production, such as stripe"},
		"sandbox": {append(with(production...), "PAYMENTS_PROVIDER=sandbox"),
			"PAYMENTS_PROVIDER: is sandbox, which takes no money"},
		"no Stripe key": {with("PAYMENTS_PROVIDER=stripe"),
			"STRIPE_SECRET_KEY: is required with PAYMENTS_PROVIDER=stripe"},
		"no webhook secret": {
			append(with(production...), "PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=rk_live_1", "TERMS_URL=https://a.example",
				"PRIVACY_URL=https://a.example", "SUPPORT_EMAIL=a@b.example"),
			"STRIPE_WEBHOOK_SECRET: is required in production with stripe, such as whsec_…"},
		"Stripe key":      {with("STRIPE_SECRET_KEY=hunter2"), "STRIPE_SECRET_KEY: is not a secret key of Stripe"},
		"publishable key": {with("STRIPE_SECRET_KEY=pk_test_1"), "STRIPE_SECRET_KEY: is not a secret key of Stripe"},
		"test key": {append(with(production...), "STRIPE_SECRET_KEY=sk_test_1"),
			"STRIPE_SECRET_KEY: is a key of test mode"},
		"restricted test key": {append(with(production...), "STRIPE_SECRET_KEY=rk_test_1"),
			"STRIPE_SECRET_KEY: is a key of test mode"},
		"webhook secret":   {with("STRIPE_WEBHOOK_SECRET=hunter2"), "STRIPE_WEBHOOK_SECRET: is not the secret"},
		"Stripe's address": {with("STRIPE_API_BASE=https://api.example/v1"), "STRIPE_API_BASE: is not an origin"},
		"Stripe by http": {append(with(production...), "STRIPE_API_BASE=http://localhost:12111"),
			"STRIPE_API_BASE: must be https in production"},
		"schedule":      {with("WEBHOOK_RETRY_SCHEDULE=0s,soon"), "WEBHOOK_RETRY_SCHEDULE: \"0s,soon\" is not a list"},
		"negative wait": {with("WEBHOOK_RETRY_SCHEDULE=0s,-1s"), "WEBHOOK_RETRY_SCHEDULE: -1s is not between"},
		"no charge":     {with("COLLECTION_RETRY_SCHEDULE=now"), "COLLECTION_RETRY_SCHEDULE: \"now\" is not a list"},
		"charges not in order": {with("COLLECTION_RETRY_SCHEDULE=0s,24h,24h"),
			"COLLECTION_RETRY_SCHEDULE: 24h0m0s does not come after 24h0m0s"},
		"a late charge": {with("COLLECTION_RETRY_SCHEDULE=0s,721h"),
			"COLLECTION_RETRY_SCHEDULE: 721h0m0s is later than 720h0m0s"},
		"an early charge": {with("COLLECTION_RETRY_SCHEDULE=-1s"),
			"COLLECTION_RETRY_SCHEDULE: -1s is before the capture"},
		"too many charges": {with("COLLECTION_RETRY_SCHEDULE=0s" + strings.Repeat(",1h", 15)),
			"COLLECTION_RETRY_SCHEDULE: must have 1 to 15 times"},
		"timeout":            {with("WEBHOOK_TIMEOUT=10"), `WEBHOOK_TIMEOUT: "10" is not a duration`},
		"timeout of an hour": {with("WEBHOOK_TIMEOUT=1h"), "WEBHOOK_TIMEOUT: 1h0m0s is not"},
		"concurrency":        {with("WEBHOOK_CONCURRENCY=0"), "WEBHOOK_CONCURRENCY: 0 is not between"},
		"endpoint concurrency": {with("WEBHOOK_ENDPOINT_CONCURRENCY=many"),
			`WEBHOOK_ENDPOINT_CONCURRENCY: "many" is not a whole`},
		"insecure targets": {append(with(production...), "WEBHOOK_ALLOW_INSECURE_TARGETS=true"),
			"WEBHOOK_ALLOW_INSECURE_TARGETS: is for"},
		"egress address": {with("EGRESS_ADDRESSES=203.0.113.7,gateway"),
			`EGRESS_ADDRESSES: "gateway" is neither an IP address nor a range`},
		"egress range": {with("EGRESS_ADDRESSES=203.0.113.7/24"),
			`EGRESS_ADDRESSES: "203.0.113.7/24" is an address within the range 203.0.113.0/24`},
		"egress everything": {with("EGRESS_ADDRESSES=0.0.0.0/0"), `EGRESS_ADDRESSES: "0.0.0.0/0" has every address`},
		"a bool":            {with("WEBHOOK_EVENT_ID_HEADER=si"), `WEBHOOK_EVENT_ID_HEADER: "si" is not true or false`},
		"rate limit":        {with("RATE_LIMIT_PER_MINUTE=0"), "RATE_LIMIT_PER_MINUTE: 0 is not"},
		"write limit":       {with("RATE_LIMIT_WRITES_PER_MINUTE=-1"), "RATE_LIMIT_WRITES_PER_MINUTE: -1 is not"},
		"auth attempts":     {with("AUTH_ATTEMPTS_PER_MINUTE=0"), "AUTH_ATTEMPTS_PER_MINUTE: 0 is not"},
		"sessions for ever": {with("SESSION_IDLE=337h"), "SESSION_IDLE: 337h0m0s is not above 0s and at most 336h0m0s"},
		"no mail server": {with(append(slices.Clone(production[:4]), "PAYMENTS_PROVIDER=none")...),
			"SMTP_URL: is required in production, such as smtps://"},
		"idle":         {with("CHECKOUT_IDLE_AFTER=0s"), "CHECKOUT_IDLE_AFTER: 0s is not above"},
		"claim window": {with("CLAIM_WINDOW=14d"), `CLAIM_WINDOW: "14d" is not a duration`},
		"coverage":     {with("COVERAGE_MAX=-1h"), "COVERAGE_MAX: -1h0m0s is not above"},
		"interval":     {with("SCHEDULER_INTERVAL=0s"), "SCHEDULER_INTERVAL: 0s is not above"},
		"traces":       {with("OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"), "OTEL_EXPORTER_OTLP_ENDPOINT: is not an http"},
		"sampler": {with("OTEL_TRACES_SAMPLER=often"),
			`OTEL_TRACES_SAMPLER: "often" is none of always_on, always_off, traceidratio, parentbased_always_on`},
		"share":         {sampled("OTEL_TRACES_SAMPLER_ARG=10%"), `OTEL_TRACES_SAMPLER_ARG: "10%" is not a share from 0 to 1`},
		"share above 1": {sampled("OTEL_TRACES_SAMPLER_ARG=1.1"), `OTEL_TRACES_SAMPLER_ARG: "1.1" is not a share`},
		"no number":     {sampled("OTEL_TRACES_SAMPLER_ARG=NaN"), `OTEL_TRACES_SAMPLER_ARG: "NaN" is not a share`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(c.environ, config.RequiredForService)
			var found config.Mistakes
			require.ErrorAs(t, err, &found)
			require.Len(t, found, 1, "%v", found)
			require.Contains(t, found[0], c.want)
		})
	}
}

func TestLocalMetricsURL_OfEveryAddress_AsksNoResolver(t *testing.T) {
	for addr, want := range map[string]string{
		"": "http://127.0.0.1:9090", ":1": "http://127.0.0.1:1", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:1": "http://127.0.0.1:1", "[::1]:1": "http://[::1]:1", "10.0.0.1:1": "http://10.0.0.1:1",
	} {
		c, err := config.Load(with("METRICS_ADDR="+addr), config.RequiredForService)
		require.NoError(t, err)
		require.Equal(t, want, c.LocalMetricsURL(), addr)
	}
}

// sampled is with a sampler that takes a share.
func sampled(arg string) []string { return with("OTEL_TRACES_SAMPLER=parentbased_traceidratio", arg) }

func TestLoad_AnArgumentOfASamplerWithoutAShare_IsIgnored(t *testing.T) {
	for _, sampler := range []string{"", "always_on", "parentbased_always_off"} {
		_, err := config.Load(with("OTEL_TRACES_SAMPLER="+sampler, "OTEL_TRACES_SAMPLER_ARG=endpoint=http://sampler:14250"),
			config.RequiredForService)
		require.NoError(t, err, sampler)
	}
}

func TestLoad_ListsAllMistakesAtOnce(t *testing.T) {
	_, err := config.Load([]string{
		"SERVICE_ENV=production", "REDIS_URL=redis://user:hunter2@", "HTTP_ADDR=nowhere", "LOG_LEVEL=loud",
		"WEBHOOK_TIMEOUT=never",
		"RATE_LIMIT_PER_MINUTE=0", "WEBHOOK_ALLOW_INSECURE_TARGETS=1", "STRIPE_SECRET_KEY=sk_test_hunter2",
		"STRIPE_API_BASE=http://s.example",
	}, config.RequiredForService)
	var found config.Mistakes
	require.True(t, errors.As(err, &found))
	var names []string
	for _, m := range found {
		name, _, _ := strings.Cut(m, ":")
		names = append(names, name)
	}
	require.Equal(t, []string{
		"DATABASE_URL", "REDIS_URL", "API_BASE_URL", "DASHBOARD_BASE_URL", "SECRETS_KEYSET", "HTTP_ADDR", "LOG_LEVEL",
		"SMTP_URL", "PAYMENTS_PROVIDER", "STRIPE_SECRET_KEY", "STRIPE_API_BASE", "WEBHOOK_TIMEOUT",
		"WEBHOOK_ALLOW_INSECURE_TARGETS", "RATE_LIMIT_PER_MINUTE",
	}, names)
	require.Contains(t, err.Error(), "the configuration has 14 mistakes:")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestLoad_ACommandNeedsNoMoreThanItUses(t *testing.T) {
	_, err := config.Load(nil, config.NothingRequired)
	require.NoError(t, err)
	_, err = config.Load([]string{"SERVICE_ENV=production", "DATABASE_URL=postgres://db/x"}, config.RequiredForDatabase)
	require.NoError(t, err)
}

func TestPayments_DefaultsToTheSandboxOutsideProductionOnly(t *testing.T) {
	for environment, want := range map[string]string{"development": config.PaymentsSandbox,
		"staging": config.PaymentsSandbox, "production": config.PaymentsNone} {
		cfg, err := config.Load([]string{"SERVICE_ENV=" + environment}, config.NothingRequired)
		require.NoError(t, err)
		require.Equal(t, want, cfg.PaymentsProviderOrDefault(), environment)
	}
	cfg, err := config.Load(
		[]string{"SERVICE_ENV=production", "PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=sk_live_hunter2"},
		config.NothingRequired)
	require.NoError(t, err)
	require.Equal(t, config.PaymentsStripe, cfg.PaymentsProviderOrDefault())
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg, cfg), "hunter2")
}

func TestMigrationURL_IsTheDirectWay(t *testing.T) {
	for name, c := range map[string]struct {
		environ    []string
		want, fail string
	}{
		"direct database": {nil, "postgres://u:hunter2@db:5432/svc", ""},
		"pooled":          {[]string{"DATABASE_POOLED=true"}, "", "DATABASE_DIRECT_URL: is required with DATABASE_POOLED"},
		"pooled, direct": {[]string{"DATABASE_POOLED=true", "DATABASE_DIRECT_URL=postgres://pg/svc"}, "postgres://pg/svc",
			""},
	} {
		cfg, err := config.Load(with(c.environ...), config.RequiredForDatabase)
		require.NoError(t, err, name)
		url, err := cfg.MigrationURL()
		require.Equal(t, c.want, url.Reveal(), name)
		if c.fail == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.fail, name)
		}
	}
}
