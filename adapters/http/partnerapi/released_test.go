package partnerapi_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
	"github.com/stretchr/testify/require"
)

// releasedFile is the contract as it was last released. docs/guides/releasing.md explains when it is
// replaced.
const releasedFile = "released/openapi-v1.yaml"

// breaks lists the changes from base to revision that break a partner's client, as oasdiff finds them.
func breaks(t *testing.T, base, revision []byte) []string {
	t.Helper()
	read := func(text []byte) *load.SpecInfo {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		require.NoError(t, err)
		return &load.SpecInfo{Spec: doc, Url: "openapi.yaml", Version: doc.Info.Version}
	}
	report, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), read(base), read(revision))
	require.NoError(t, err)
	var out []string
	for _, change := range checker.CheckBackwardCompatibilityUntilLevel(checker.NewConfig(checker.GetAllChecks()), report,
		sources, checker.INFO) {
		if change.GetLevel() < checker.WARN && !slices.Contains(harmful, change.GetId()) {
			continue
		}
		line := change.GetId() + ": " + change.GetOperation() + " " + change.GetPath() + ": " +
			change.GetUncolorizedText(checker.NewDefaultLocalizer())
		if !growing.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// harmful are changes that oasdiff only mentions, and that break clients nevertheless.
var harmful = []string{checker.ResponseOptionalPropertyRemovedId, checker.APISecurityRemovedCheckId,
	checker.APIGlobalSecurityRemovedCheckId}

// growing are the lists of values in responses that may grow within a version (api.md §1, "Versions and deprecation").
var growing = regexp.MustCompile(
	"^response-property-enum-value-added: .*to the `([^`]+/)?(code|statusReason|failureReason|error|lastError|state)` response property")

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}

// A partner whose client was written against the released contract needs no change (api.md §1, "Versions and
// deprecation").
func TestContract_BreaksNoClientOfTheReleasedContract(t *testing.T) {
	t.Parallel()
	require.Empty(t, breaks(t, file(t, releasedFile), file(t, "openapi.yaml")))
}

// oasdiff is known to find breaks. These are those for which harmful and growing say what counts, and one of a route.
func TestContract_BreakingChangesAreFound(t *testing.T) {
	t.Parallel()
	released := string(file(t, releasedFile))
	cases := map[string]struct{ old, revised, id string }{
		"a new status of a deposit": {"enum: [pending, incomplete, active,",
			"enum: [pending, incomplete, disputed, active,", "response-property-enum-value-added"},
		"a removed route": {"  /api/partner/v1/deposits/{depositId}/cancel:\n",
			"  /api/partner/v1/deposits/{depositId}/annul:\n", "api-path-removed-without-deprecation"},
		"an optional field of a response": {"        deliveredAt: {type: string", "        arrivedAt: {type: string",
			"response-optional-property-removed"},
		"a removed field of a webhook's body": {"previousStatus: {$ref: '#/components/schemas/DepositStatus'}", "",
			"removed"},
		"a way to send the key that is gone": {"  - bearer: []\n", "", "security"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, released, c.old)
			found := strings.Join(breaks(t, []byte(released), []byte(strings.Replace(released, c.old, c.revised, 1))), "\n")
			require.Contains(t, found, c.id)
		})
	}
}

// A route may go after it was deprecated in a release and its sunset has passed.
func TestContract_ARouteMayGoAfterItsSunset(t *testing.T) {
	t.Parallel()
	released := string(file(t, releasedFile))
	const operation = "      operationId: deleteWebhook\n"
	gone := regexp.MustCompile(`(?s)    delete:\n      operationId: deleteWebhook\n.*?\n\n`).ReplaceAllString(released,
		"\n")
	require.NotContains(t, gone, operation)
	require.NotEmpty(t, breaks(t, []byte(released), []byte(gone)))
	marked := strings.Replace(released, operation, operation+"      deprecated: true\n      x-sunset: '2020-01-01'\n", 1)
	require.Empty(t, breaks(t, []byte(marked), []byte(gone)))
}

// Additions break nobody.
func TestContract_AdditionsAreNoBreaks(t *testing.T) {
	t.Parallel()
	released := string(file(t, releasedFile))
	added := strings.Replace(released, "        version: {type: integer,",
		"        color: {type: string, description: 'New.'}\n        version: {type: integer,", 1)
	added = strings.Replace(added, "        - rate_limited\n", "        - rate_limited\n        - too_early\n", 1)
	added = regexp.MustCompile(`(?m)^(        locale: \{type: string, description: 'The language of checkout)`).
		ReplaceAllString(added, "        color: {type: string, description: 'New.'}\n$1")
	require.NotEqual(t, released, added)
	require.Empty(t, breaks(t, []byte(released), []byte(added)))
}
