package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	"partnerdeposits/process/config"
)

// documented is a setting as a document gives it.
type documented struct{ Name, Default string }

// inOrder lists the settings of Config with their defaults, in its order. A variable without a default has "".
func inOrder() []documented {
	var all []documented
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name := field.Tag.Get("env")
		usual := field.Tag.Get("envDefault")
		switch {
		case name == "WEBHOOK_RETRY_SCHEDULE":
			usual = text(webhook.DefaultRetrySchedule)
		case name == "COLLECTION_RETRY_SCHEDULE":
			usual = text(webhook.RetrySchedule(deposit.DefaultCollectionSchedule()))
		case field.Type.Kind() == reflect.Bool:
			usual = "false"
		}
		all = append(all, documented{name, usual})
	}
	return all
}

// text writes a schedule as documents do: 2h, not 2h0m0s.
func text(schedule webhook.RetrySchedule) string {
	var waits []string
	for _, wait := range schedule {
		waits = append(waits, strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(wait.String()))
	}
	return strings.Join(waits, ",")
}

func TestEnvExample_HasEverySettingWithItsDefaultInTheOrderOfConfig(t *testing.T) {
	content, err := os.ReadFile("../../.env.example")
	require.NoError(t, err)
	var found []documented
	var pairs []string
	above := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if name, value, isPair := strings.Cut(line, "="); isPair && !strings.HasPrefix(line, "#") {
			require.Regexp(t, `^# [^-]`, above, "%s needs a line above that says its meaning", name)
			found = append(found, documented{name, value})
			pairs = append(pairs, line)
		}
		above = line
	}
	require.Equal(t, inOrder(), found)

	want, err := config.Load(nil, config.NothingRequired)
	require.NoError(t, err)
	got, err := config.Load(pairs, config.NothingRequired)
	require.NoError(t, err)
	want.DrainDelay = got.DrainDelay // development has none only where the variable is not set
	require.Equal(t, want, got, "the file as it is changes nothing else")
}
