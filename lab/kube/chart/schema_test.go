package chart_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/process/config"
)

var update = flag.Bool("update", false, "write golden files and the settings of the schema anew")

// forms are the schemas of settings by their tag `form`; other forms take any text.
var forms = map[string]map[string]any{
	"environment": {"enum": []any{partner.EnvironmentDevelopment, partner.EnvironmentStaging,
		partner.EnvironmentProduction}},
	"log format":        {"enum": []any{"json", "text"}},
	"proxy header":      {"enum": []any{"X-Real-IP", "X-Forwarded-For", ""}},
	"payments provider": {"enum": append([]any{""}, anys(config.PaymentsProviders)...)},
	"origin":            {"type": "string", "pattern": `^https?://[^/?#@]+/?$`},
	"share":             {"type": []any{"string", "number"}},
	"listen":            {"type": "string", "pattern": `^[^ /]*:[1-9][0-9]{3,4}$`}, // ports of users other than root
}

// schemaOf is the schema of a setting.
func schemaOf(field reflect.StructField) map[string]any {
	if schema, ok := forms[field.Tag.Get("form")]; ok {
		return schema
	}
	switch {
	case field.Tag.Get("env") == "DRAIN_DELAY": // so that 40 s of grace fit
		return map[string]any{"type": "string", "pattern": `^([0-9]|1[0-9]|20)s$`}
	case field.Name == "LogLevel":
		return map[string]any{"enum": []any{"debug", "info", "warn", "error"}}
	case field.Type == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))*$`}
	case field.Type.Kind() == reflect.Bool:
		return map[string]any{"enum": []any{true, false, "true", "false", ""}}
	case field.Type.Kind() == reflect.Int:
		schema := map[string]any{"type": []any{"integer", "string"}, "pattern": "^[0-9]*$"}
		for tag, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
			if bound, err := strconv.Atoi(field.Tag.Get(tag)); err == nil {
				schema[keyword] = bound
			}
		}
		return schema
	case field.Tag.Get("form") == "": // lists, schedules and texts without a form, which YAML may read as a number
		return map[string]any{"type": []any{"string", "number"}}
	}
	return map[string]any{"type": "string"}
}

// settingsSchema is the schema of settings, and the names of those that hold a secret.
func settingsSchema() (settings map[string]any, secrets []string) {
	properties := map[string]any{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name := field.Tag.Get("env")
		if field.Type == reflect.TypeFor[secret.Text]() {
			secrets = append(secrets, name)
			continue
		}
		properties[name] = schemaOf(field)
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}, secrets
}

// demands are the settings that an environment requires, as the conditions of a schema.
func demands() []any {
	required := map[string][]any{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if tag := field.Tag.Get("required"); tag != "" && field.Type != reflect.TypeFor[secret.Text]() {
			required[tag] = append(required[tag], field.Tag.Get("env"))
		}
	}
	is := func(name string, values ...any) map[string]any {
		properties := map[string]any{name: map[string]any{"enum": values}}
		return map[string]any{"required": []any{name}, "properties": properties}
	}
	production := is("SERVICE_ENV", partner.EnvironmentProduction)
	return []any{
		map[string]any{"if": is("SERVICE_ENV", partner.EnvironmentStaging, partner.EnvironmentProduction),
			"then": map[string]any{"required": required["outside development"]}},
		map[string]any{"if": production, "then": map[string]any{"required": required["in production"]}},
		map[string]any{"if": map[string]any{"allOf": []any{production, is("PAYMENTS_PROVIDER", config.PaymentsStripe)}},
			"then": map[string]any{"required": required["in production with stripe"]}},
	}
}

// The schema names every setting of the service with its form, and refuses those that hold a secret.
func TestSchema_HasTheSettingsOfTheService(t *testing.T) {
	path := filepath.Join(folder, "values.schema.json")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(before, &schema))
	settings, secrets := settingsSchema()
	schema["$defs"].(map[string]any)["settings"] = settings
	schema["$defs"].(map[string]any)["secret"] = map[string]any{"enum": secrets}
	all := append([]any{map[string]any{"$ref": "#/$defs/settings"}}, demands()...) // draft 7 reads nothing beside $ref
	schema["properties"].(map[string]any)["settings"] = map[string]any{"allOf": all}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(schema))
	if *update {
		require.NoError(t, os.WriteFile(path, want.Bytes(), 0o600))
		before = want.Bytes()
	}
	require.Equal(t, want.String(), string(before), "go test ./chart -update mends it, in lab/kube")
}

// Values and schema have the same fields, so that no value is without a default and a comment.
func TestSchema_AgreesWithTheValues(t *testing.T) {
	values := read(t, filepath.Join(folder, "values.yaml"))
	text, err := os.ReadFile(filepath.Join(folder, "values.schema.json"))
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	properties := schema["properties"].(map[string]any)
	delete(properties, "global") // Helm's own
	compareFields(t, properties, values, "")
}

func compareFields(t *testing.T, properties map[string]any, values Values, path string) {
	t.Helper()
	for name, value := range values {
		require.Contains(t, properties, name, "values.schema.json has %s", path+name)
		field := properties[name].(map[string]any)
		if fields, ok := field["properties"].(map[string]any); ok {
			compareFields(t, fields, value.(map[string]any), path+name+".")
		}
	}
	for name := range properties {
		require.Contains(t, values, name, "values.yaml has %s", path+name)
	}
}

func anys(texts []string) []any {
	var all []any
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// A wrong value is refused, and the message names its path.
func TestSchema_NamesWrongValues(t *testing.T) {
	for _, wrong := range []struct{ values, path, reason string }{
		{"image: {tagg: v1}", "/image", "additional properties 'tagg' not allowed"},
		{"image: {digest: abc}", "/image/digest", "does not match pattern"},
		{"http: {replicas: two}", "/http/replicas", "got string, want integer"},
		{"dispatcher: {replica: 2}", "/dispatcher", "additional properties 'replica' not allowed"},
		{"http: {terminationGracePeriodSeconds: 30}", "/http/terminationGracePeriodSeconds", "minimum: got 30, want 40"},
		{"settings: {DRAIN_DELAY: 21s}", "/settings/DRAIN_DELAY", "does not match pattern"},
		{"settings: {RATE_LIMIT_PER_MINUT: 5}", "/settings", "additional properties 'RATE_LIMIT_PER_MINUT' not allowed"},
		{"settings: {RATE_LIMIT_PER_MINUTE: 0}", "/settings/RATE_LIMIT_PER_MINUTE", "minimum: got 0, want 1"},
		{"settings: {SERVICE_ENV: prod}", "/settings/SERVICE_ENV", "value must be one of 'development', 'staging', 'production'"},
		{"settings: {API_BASE_URL: null}", "/settings", "missing property 'API_BASE_URL'"},
		{"settings: {API_BASE_URL: api.example.com}", "/settings/API_BASE_URL", "does not match pattern"},
		{"settings: {PAYMENTS_PROVIDER: stripe}", "/settings", "missing properties 'TERMS_URL', 'PRIVACY_URL', 'SUPPORT_EMAIL'"},
		{"settings: {STRIPE_SECRET_KEY: sk}", "/settings", "additional properties 'STRIPE_SECRET_KEY' not allowed"},
		{"dispatcher: {settings: {DATABASE_URL: x}}", "/dispatcher/settings", "additional properties 'DATABASE_URL' not allowed"},
		{"http: {settings: {HTTP_ADDR: \":80\"}}", "/http/settings/HTTP_ADDR", "does not match pattern"},
		{"secrets: {DATABASE_URL: x}", "/secrets", "additional properties 'DATABASE_URL' not allowed"},
		{"secrets: {keys: [MAIL_FROM]}", "/secrets/keys/0", "value must be one of"},
		{"secrets: {from: {REDIS_URL: {name: a}}}", "/secrets/from/REDIS_URL", "missing property 'key'"},
		{"spread: {nodes: Never}", "/spread/nodes", "value must be one of"},
		{"migration: {activeDeadlineSeconds: 60}", "/migration/activeDeadlineSeconds", "minimum: got 60, want 660"},
		{"networkPolicy: {postgres: {to: []}}", "/networkPolicy/postgres/to", "minItems: got 0, want 1"},
		{"networkPolicy: {clusterRanges: {ipv6: [fd00::/8]}}", "/networkPolicy/clusterRanges/ipv6/0", "does not match pattern"},
		{"httpRoute: {enabled: true}", "/httpRoute/parentRefs", "minItems: got 0, want 1"},
		{"dispatcher: {resources: {limits: {memory: 1 GB}}}", "/dispatcher/resources/limits/memory", "does not match pattern"},
	} {
		t.Run(wrong.values, func(t *testing.T) {
			_, err := Texts("demo", Merge(least(t), parsed(t, wrong.values)))
			require.ErrorContains(t, err, "at '"+wrong.path+"'")
			require.ErrorContains(t, err, wrong.reason)
			require.NotContains(t, err.Error(), "got null")
		})
	}
}

// A secret that the process would miss is named before anything is installed.
func TestSecrets_ThatAreMissing_AreNamed(t *testing.T) {
	for _, wrong := range [][2]string{
		{"secrets: {existingSecret: \"\"}", "secrets.existingSecret"},
		{"secrets: {keys: [DATABASE_URL, SECRETS_KEYSET, SMTP_URL]}", "REDIS_URL is in neither secrets.keys nor secrets.from"},
		{"secrets: {keys: [DATABASE_URL, REDIS_URL, SMTP_URL]}", "SECRETS_KEYSET is in neither"},
		{"secrets: {keys: [REDIS_URL, SECRETS_KEYSET, SMTP_URL]}", "DATABASE_URL is in neither"},
		{"secrets: {keys: [DATABASE_URL, REDIS_URL, SECRETS_KEYSET]}", "SMTP_URL is in neither"},
		{"settings: {PAYMENTS_PROVIDER: stripe, TERMS_URL: https://a.example, PRIVACY_URL: https://a.example, SUPPORT_EMAIL: a@a.example}",
			"STRIPE_SECRET_KEY is in neither"},
		{"settings: {DATABASE_POOLED: true}", "DATABASE_DIRECT_URL is in neither"},
	} {
		_, err := Texts("demo", Merge(least(t), parsed(t, wrong[0])))
		require.ErrorContains(t, err, wrong[1])
	}
	_, secrets := settingsSchema()
	require.Len(t, slices.Compact(slices.Clone(secrets)), len(secrets))
	require.True(t, strings.HasPrefix(secrets[0], "DATABASE"), "the settings were found")
}
