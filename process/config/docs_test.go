package config_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/process/config"
)

// otherVariables are read by tests, not by the service.
var otherVariables = []string{"TEST_DATABASE_URL", "TEST_REDIS_URL", "TEST_SERVICES"}

// settings gives each variable of Config with the default that a page shows.
func settings() map[string]string {
	found := map[string]string{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name, standard := field.Tag.Get("env"), field.Tag.Get("envDefault")
		switch {
		case name == "WEBHOOK_RETRY_SCHEDULE":
			standard = text(webhook.DefaultRetrySchedule)
		case name == "COLLECTION_RETRY_SCHEDULE":
			standard = text(webhook.RetrySchedule(deposit.DefaultCollectionSchedule()))
		case slices.Contains(config.RequiredForDatabase, name) || name == "REDIS_URL":
			standard = "required"
		case name == "SMTP_URL" || name == "PAYMENTS_PROVIDER":
			standard = "required in production"
		case name == "STRIPE_WEBHOOK_SECRET" || name == "TERMS_URL" || name == "PRIVACY_URL" || name == "SUPPORT_EMAIL":
			standard = "required in production with stripe"
		case slices.Contains(config.RequiredForService, name):
			standard = "required outside development"
		case standard == "" && field.Type.Kind() == reflect.Bool:
			standard = "false"
		case standard == "":
			standard = "–"
		}
		found[name] = standard
	}
	return found
}

func TestDocs_ListEverySettingWithItsDefault(t *testing.T) {
	got := map[string]string{}
	for _, row := range docstest.TableRows(t, "docs/spec/settings.md", "Environment") {
		got[strings.Trim(row[0], "`")] = strings.Trim(row[1], "`")
	}
	require.Equal(t, settings(), got)
}

func TestDocs_NameNoOtherSetting(t *testing.T) {
	known := settings()
	variable := regexp.MustCompile(`^([A-Z]+(?:_[A-Z]+)+)(=\S*)?$`)
	pages, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "docs/spec/*.md"))
	require.NoError(t, err)
	require.Len(t, pages, 8)
	for _, page := range pages {
		path, err := filepath.Rel(docstest.RepositoryRoot(), page)
		require.NoError(t, err)
		for _, code := range docstest.CodeSpans(docstest.ReadFile(t, path)) {
			if m := variable.FindStringSubmatch(code); m != nil && !slices.Contains(otherVariables, m[1]) {
				secret, byFile := strings.CutSuffix(m[1], "_FILE")
				require.True(t, known[m[1]] != "" || byFile && secretSettings[secret] != "", "%s names %s", path, code)
			}
		}
	}
}
