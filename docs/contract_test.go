package docs_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/money"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/docstest"
	ports "partnerdeposits/ports/platform"
)

const (
	service = "docs/spec/service.md"
	api     = "docs/spec/api.md"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	return doc
}

// enum gives the values of a string schema of the OpenAPI document.
func enum(t *testing.T, name string) (values []string) {
	t.Helper()
	schema := document(t).Components.Schemas[name]
	require.NotNil(t, schema, name)
	for _, v := range schema.Value.Enum {
		values = append(values, v.(string))
	}
	return values
}

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func TestRoutes_AreThoseOfTheOpenAPIDocument(t *testing.T) {
	want := []string{"GET /openapi.json", "GET /openapi-3.0.json", "GET /docs", "GET /egress.json"}
	for path, item := range document(t).Paths.Map() {
		for method := range item.Operations() {
			want = append(want, method+" "+strings.Replace(path, partnerapi.PathPrefix, "P", 1))
		}
	}
	var got []string
	for _, row := range docstest.TableRows(t, api, "2. Routes") {
		got = append(got, docstest.CodeSpans(row[0])...)
	}
	require.ElementsMatch(t, want, got)
	written, named := regexp.MustCompile("(GET|POST|PUT|PATCH|DELETE) (?:\\$API|/api/partner/v1)(/[^ ?\"`)\n]*)"), 0
	for _, page := range slices.DeleteFunc(files(t, ".md"), ofThePast) {
		for _, m := range written.FindAllStringSubmatch(docstest.ReadFile(t, page), -1) {
			named++
			require.True(t, slices.ContainsFunc(want, func(route string) bool {
				return shape(route) == shape(m[1]+" P"+m[2])
			}), "%s names %s", page, m[0])
		}
	}
	require.Greater(t, named, 20)
}

var pathParameter = regexp.MustCompile(`\{\w+\}|\$\w+`)

// shape is a route without the names of its parameters.
func shape(route string) string { return pathParameter.ReplaceAllString(route, "{}") }

var errorCode = regexp.MustCompile("^[a-z]+(?:_[a-z]+)+$")

func TestCodes_AreThoseOfTheOpenAPIDocumentWithTheStatusOfTheirFault(t *testing.T) {
	statuses := statusesOfCodes(t)
	var got []string
	for _, row := range docstest.TableRows(t, api, "Codes") {
		for _, code := range docstest.CodeSpans(row[1]) {
			if !errorCode.MatchString(code) {
				continue
			}
			got = append(got, code)
			require.Contains(t, row[0], strconv.Itoa(statuses[code]), code)
		}
	}
	require.ElementsMatch(t, enum(t, "ErrorCode"), got)
	for _, title := range []string{"401", "403"} {
		for _, row := range docstest.TableRows(t, service, title) {
			require.Equal(t, title, strconv.Itoa(statuses[row[0]]), row[0])
		}
	}
}

func TestConnectFailures_AreThoseOfTheCode(t *testing.T) {
	known := connectCodes()
	for _, row := range docstest.TableRows(t, service, "Connect page failures") {
		require.Contains(t, known, row[0])
	}
	section := docstest.ReadSection(t, api, "4. Connect")
	for code, status := range known {
		require.Regexp(t, "`?"+code+"`? "+strconv.Itoa(status), strings.Join(strings.Fields(section), " "))
	}
}

// connectCodes are the codes of the connect page, with the status of each.
func connectCodes() map[string]int {
	known := map[string]int{}
	for _, f := range []*fault.Error{
		connect.ErrPartnerNotFound, connect.ErrMissingConnectSecret, connect.ErrInvalidSignature, connect.ErrURLExpired,
		connect.ErrAlreadyLinked, connect.ErrExternalIDConflict,
	} {
		known[f.Code] = problem.HTTPStatus(f.Kind)
	}
	return known
}

// kinds are the names of fault.Kind as source writes them.
var kinds = map[string]fault.Kind{
	"Invalid": fault.Invalid, "Unauthenticated": fault.Unauthenticated, "Forbidden": fault.Forbidden,
	"NotFound":         fault.NotFound,
	"MethodNotAllowed": fault.MethodNotAllowed, "Conflict": fault.Conflict, "Gone": fault.Gone, "TooLarge": fault.TooLarge,
	"UnsupportedMediaType": fault.UnsupportedMediaType,
	"Unprocessable":        fault.Unprocessable, "RateLimited": fault.RateLimited, "Unavailable": fault.Unavailable,
	"Internal": fault.Internal,
}

var declared = regexp.MustCompile(`\b(?:fault\.)?New\((?:fault\.)?(\w+), "(\w+)"`)

// statusesOfCodes reads the declarations of faults in core and ports.
func statusesOfCodes(t *testing.T) map[string]int {
	t.Helper()
	statuses := map[string]int{}
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || (!strings.HasPrefix(path, "core/") && !strings.HasPrefix(path, "ports/")) {
			continue
		}
		for _, m := range declared.FindAllStringSubmatch(docstest.ReadFile(t, path), -1) {
			if kind, known := kinds[m[1]]; known {
				statuses[m[2]] = problem.HTTPStatus(kind)
			}
		}
	}
	require.Greater(t, len(statuses), 30)
	return statuses
}

func TestStatuses_AreThoseOfCore(t *testing.T) {
	var got []string
	for _, row := range docstest.TableRows(t, service, "Deposit states") {
		got = append(got, row[0])
	}
	require.ElementsMatch(t, texts(deposit.Statuses), got)
}

func TestTransitions_AreThoseOfCore(t *testing.T) {
	type transition struct{ from, to, by, reason, event string }
	want := map[transition]bool{}
	for _, from := range deposit.Statuses {
		for _, trigger := range deposit.Triggers {
			if to, err := from.Next(trigger); err == nil {
				by := string(trigger.ActorKind())
				want[transition{string(from), string(to), by, trigger.StatusReason(), to.EventName()}] = true
			}
		}
	}
	got := map[transition]bool{}
	for _, row := range docstest.TableRows(t, api, "3. Deposit states") {
		if row[0] == "–" {
			require.Equal(t, string(deposit.Pending), row[1])
			continue
		}
		by := regexp.MustCompile(`^\w+`).FindString(row[2])
		for from := range strings.SplitSeq(row[0], ", ") {
			got[transition{from, row[1], by, strings.Trim(row[3], "–"), row[4]}] = true
		}
	}
	require.Equal(t, want, got)
}

func TestLifeOfADeposit_NamesTheTriggersOfCoreAndTheFormsOfThePages(t *testing.T) {
	const life = "docs/deposit.md"
	var got []string
	for _, row := range docstest.TableRows(t, life, "Triggers") {
		got = append(got, strings.Trim(row[0], "`"))
	}
	require.ElementsMatch(t, texts(deposit.Triggers), got)
	for _, trigger := range []deposit.Trigger{deposit.TriggerCancelledByOperator, deposit.TriggerReleased,
		deposit.TriggerCaptureRequested,
		deposit.TriggerTenantAbandoned} {
		row := "\n| `" + string(trigger) + "` |"
		require.Regexp(t, regexp.QuoteMeta(row)+".*`intent=\\w+`", docstest.ReadFile(t, life))
	}
	for _, code := range docstest.CodeSpans(docstest.ReadFile(t, life)) {
		if strings.HasPrefix(code, "intent=") {
			require.Contains(t, docstest.CodeSpans(docstest.ReadFile(t, pagesPage)), code)
		}
	}
}

func TestEvents_AreThoseOfCore(t *testing.T) {
	var got []string
	for _, row := range docstest.TableRows(t, service, "Event names") {
		got = append(got, row[0])
	}
	require.ElementsMatch(t, texts(webhook.EventNames), got)
	for _, event := range webhook.EventNames {
		require.Contains(t, docstest.ReadFile(t, "docs/guides/webhooks.md"), "`"+string(event)+"`")
	}
	var headers []string
	for _, row := range docstest.TableRows(t, service, "Delivery") {
		headers = append(headers, row[0])
	}
	require.ElementsMatch(t,
		[]string{"Content-Type", webhook.HeaderSignature, webhook.HeaderTimestamp, webhook.HeaderEvent}, headers)
}

func TestClosedLists_AreThoseOfTheCode(t *testing.T) {
	routes := docstest.ReadSection(t, api, "2. Routes")
	failures := slices.DeleteFunc(texts(webhook.AttemptResults),
		func(r string) bool { return r == string(webhook.ResultSuccess) })
	for name, want := range map[string][]string{
		"status":         texts(webhook.DeliveryStatuses),
		"error?":         failures,
		"outcome:":       propertyEnum(t, "SimulateDepositRequest", "outcome"),
		"failureReason?": texts(webhook.FailureReasons),
		"disabledReason": {webhook.DisabledByPartner, webhook.DisabledByFailure},
	} {
		require.True(t, listed(routes, name, want), "%s: %v", name, want)
	}
	for schema, field := range map[string]string{"CancelDepositRequest": "reason", "CaptureDepositRequest": "reason"} {
		require.True(t, listed(routes, "reason?", propertyEnum(t, schema, field)), schema)
	}
	require.ElementsMatch(t, enum(t, "AttemptError"), failures)
}

func propertyEnum(t *testing.T, schema, property string) (values []string) {
	t.Helper()
	for _, v := range document(t).Components.Schemas[schema].Value.Properties[property].Value.Enum {
		values = append(values, v.(string))
	}
	require.NotEmpty(t, values)
	return values
}

var listOfCodes = regexp.MustCompile("^[^`]{0,3}(`\\w+`(?:, `\\w+`)*)")

// listed reports whether a text names exactly these values, as a list of code spans, behind one of the places of name.
func listed(text, name string, want []string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for {
		_, rest, found := strings.Cut(text, name)
		if !found {
			return false
		}
		if m := listOfCodes.FindStringSubmatch(rest); m != nil {
			got := slices.Sorted(slices.Values(docstest.CodeSpans(m[1])))
			if slices.Equal(got, slices.Sorted(slices.Values(want))) {
				return true
			}
		}
		text = rest
	}
}

func TestListed(t *testing.T) {
	const text = "status=active, status (`a`, `b`), kind? (`c`)"
	require.True(t, listed(text, "status", []string{"b", "a"}))
	require.False(t, listed(text, "status", []string{"a"}))
	require.False(t, listed(text, "status", []string{"a", "b", "c"}))
	require.True(t, listed(text, "kind?", []string{"c"}))
}

func TestFigures_AreThoseOfTheCode(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	figures := map[string][]string{
		api: {
			"Retry schedule: " + spoken(webhook.DefaultRetrySchedule), fmt.Sprintf("At most %d", webhook.MaxSubscriptions),
			fmt.Sprintf("claim window %s", days(timers.CaptureWindow)),
			fmt.Sprintf("activatedAt + %s)", days(timers.CoverMax)), fmt.Sprintf("%d a second",
				webhook.ReplayRedeliveriesPerSecond),
			fmt.Sprintf("idle %d min", int(timers.CheckoutIdleAfter.Minutes())),
			fmt.Sprintf("at most %d characters", deposit.MaxRentalContractLength),
			fmt.Sprintf("description? ≤ %d", deposit.MaxDescriptionLength),
			fmt.Sprintf("metadata? (≤ %d keys, key ≤ %d, value ≤ %d)", deposit.MaxMetadataKeys, deposit.MaxMetadataKeyLength,
				deposit.MaxMetadataValueLength),
			fmt.Sprintf("to an address %d times at most and to all addresses together %d times", deposit.MaxLinkMailsToAddress,
				deposit.MaxLinkMails), fmt.Sprintf("recipients [1–%d]", deposit.MaxLinkRecipients),
			fmt.Sprintf("≤ %d KiB", webhook.MaxResponseSnippet>>10),
			fmt.Sprintf("at most %d h", int(webhook.MaxRetryAfter.Hours())),
		},
		service: {
			fmt.Sprintf("Minimum deposit amount | %d EUR", deposit.MinAmount/100),
			fmt.Sprintf("Default maximum deposit amount | %d EUR", deposit.DefaultMaxAmount/100),
			fmt.Sprintf("Connect URL validity | %d days", int(connect.TimestampTolerance.Hours())/24),
			fmt.Sprintf("Idempotency replay | %d hours", int(ports.IdempotencyWindow.Hours())),
			fmt.Sprintf("at most %d days from activation", int(timers.CoverMax.Hours())/24),
		},
	}
	for _, amount := range []money.Cents{deposit.MinAmount - 1, deposit.DefaultMaxAmount + 1} {
		figures[api] = append(figures[api],
			fault.FromError(deposit.Draft{Amount: amount}.Validate(deposit.DefaultMaxAmount, time.Time{})).Message)
	}
	for page, all := range figures {
		text := strings.ToLower(strings.ReplaceAll(strings.Join(strings.Fields(docstest.ReadFile(t, page)), " "), "**", ""))
		for _, figure := range all {
			require.Contains(t, text, strings.ToLower(figure), page)
		}
	}
}

func days(d time.Duration) string { return fmt.Sprintf("%d d", int(d.Hours())/24) }

// spoken writes a schedule as the page does.
func spoken(s webhook.RetrySchedule) string {
	waits := make([]string, 0, len(s))
	for _, d := range s[1:] {
		switch {
		case d >= time.Hour:
			waits = append(waits, fmt.Sprintf("%d h", int(d.Hours())))
		case d >= time.Minute:
			waits = append(waits, fmt.Sprintf("%d min", int(d.Minutes())))
		default:
			waits = append(waits, fmt.Sprintf("%d s", int(d.Seconds())))
		}
	}
	return fmt.Sprintf("at once, then after %s (%d attempts", strings.Join(waits, ", "), len(s))
}

func TestErrorCodes_AreNamedNowhereElseThanInTheCode(t *testing.T) {
	statuses := statusesOfCodes(t)
	known := slices.Collect(maps.Keys(statuses))
	quoted := regexp.MustCompile("\\b[45]\\d\\d `([a-z_]+)`|answers? `([a-z_]+)`")
	for _, page := range []string{service, api} {
		for _, m := range quoted.FindAllStringSubmatch(docstest.ReadFile(t, page), -1) {
			require.Contains(t, known, m[1]+m[2], page)
		}
	}
}
