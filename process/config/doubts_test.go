package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/process/config"
)

func TestMisspelt_NamesTheNearestSetting(t *testing.T) {
	t.Parallel()
	for name, nearest := range map[string]string{
		"WEBHOOK_TIMOUT": "WEBHOOK_TIMEOUT", "WEBHOOK_RETRIES": "WEBHOOK_TIMEOUT",
		"RATE_LIMIT_PER_MIN": "RATE_LIMIT_PER_MINUTE", "LOG_LVEL": "LOG_LEVEL", "TRUSTED_PROXY": "TRUSTED_PROXIES",
		"DATABASE_POOLER":      "DATABASE_POOLED",
		"SECRETS_KEYSET_FILES": "SECRETS_KEYSET_FILE", "REDIS_SENTINEL_PASS": "REDIS_SENTINEL_PASSWORD",
		"SESSION_IDEL": "SESSION_IDLE",
	} {
		require.Equal(t, []config.Misspelling{{Name: name, Nearest: nearest}}, config.FindMisspellings([]string{name + "=x"}))
	}
	require.Equal(t, []config.Misspelling{{"LOG_LVEL", "LOG_LEVEL"}, {"WEBHOOK_TIMOUT", "WEBHOOK_TIMEOUT"}},
		config.FindMisspellings([]string{"WEBHOOK_TIMOUT=5s", "WEBHOOK_TIMEOUT=5s", "LOG_LVEL=warn"}))
}

// Kubernetes, hosts of databases, shells and other programs set variables beside ours.
func TestMisspelt_LeavesStrangersAlone(t *testing.T) {
	t.Parallel()
	require.Empty(t, config.FindMisspellings([]string{
		"WEBHOOK_SERVICE_HOST=10.0.0.1", "WEBHOOK_SERVICE_PORT_HTTPS=443", "WEBHOOK_PORT=tcp://10.0.0.1:443",
		"WEBHOOK_PORT_443_TCP_ADDR=10.0.0.1", "REDIS_PORT_6379_TCP=tcp://10.0.0.1:6379", "DATABASE_HOST=db",
		"DATABASE_NAME=x", "DATABASE_USER=x", "DATABASE_PASSWORD=x", "REDIS_HOST=r", "REDIS_PASSWORD=x",
		"DATABASE_URL=postgres://x", "DATABASE_URI=postgres://x", "KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=x",
		"HTTP_PROXY=x", "HTTPS_PROXY=x", "NO_PROXY=x", "SESSION_ID=x", "SESSION_MANAGER=x", "LOGNAME=x", "LOG_DIR=x",
		"SMTP_USER=x", "SMTP_HOST=x", "MAIL=x", "OTEL_SERVICE_NAME=x", "OTEL_EXPORTER_OTLP_TIMEOUT=10",
		"OTEL_TRACES_EXPORTER=otlp", "STRIPE_API_KEY=x", "STRIPE_PUBLISHABLE_KEY=x", "GOGC=200", "PATH=x", "TZ=UTC",
		"WEBHOOK_TIMOUT=", "DATABASE_URL_FILE=/run/x", "TMPDIR=/tmp", "SERVICE_ID=x", "SERVICE_URL=x", "API_KEY=x",
	}))
	require.Empty(t, config.FindMisspellings([]string{"LOG_LEVEL=warn", "WEBHOOK_TIMEOUT=5s"}))
}

func TestRepeatsAtOnce_OnlyWithAWaitOfZeroAfterTheFirst(t *testing.T) {
	t.Parallel()
	for schedule, repeats := range map[string]bool{"": false, "0s": false, "0s,5s": false, "5s,0s": true,
		"0s,5s,0s,5s": true} {
		c, err := config.Load([]string{"WEBHOOK_RETRY_SCHEDULE=" + schedule}, config.NothingRequired)
		require.NoError(t, err)
		require.Equal(t, repeats, c.RetriesWithoutWait(), schedule)
	}
}
