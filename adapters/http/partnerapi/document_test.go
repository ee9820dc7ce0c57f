package partnerapi_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// Ids in examples have the form of real ids, because readers copy them.
func TestDocument_ExampleIDsAreWellFormed(t *testing.T) {
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	out, err := json.Marshal(doc)
	require.NoError(t, err)
	ids := regexp.MustCompile(
		`"(acct|dep|cli|pwh|dlv|evt|key|msg|prt|req)_(test_)?([0-9a-z]{20,})"`).FindAllStringSubmatch(string(out), -1)
	require.NotEmpty(t, ids)
	for _, id := range ids {
		require.Regexp(t, `^[0-7][0-9a-hjkmnp-tv-z]{25}$`, id[3], id[0])
	}
}

// Every error in openapi.yaml has the code and status of its fault, and begins with the fault's message where that is
// fixed.
func TestDocument_ErrorsAreOurFaults(t *testing.T) {
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	fixed := []*fault.Error{
		fault.ErrInternal, fault.ErrUnavailable, fault.ErrInvalidJSON, fault.ErrRouteNotFound, fault.ErrMethodNotAllowed,
		fault.ErrPayloadTooLarge,
		fault.ErrUnsupportedMediaType, fault.ErrRateLimited,
		partner.ErrMissingAPIKey, partner.ErrInvalidAPIKey, partner.ErrAPIKeyRevoked, partner.ErrAPIKeyNotFound,
		partner.ErrAPIKeyLimit,
		connect.ErrAccountNotFound, connect.ErrAccountNotLinked, connect.ErrAccountLinkRevoked, tenant.ErrNotFound,
		webhook.ErrNotFound, webhook.ErrDeliveryNotFound, webhook.ErrEventNotFound, webhook.ErrSubscriptionLimitReached,
		webhook.ErrDisabled, webhook.ErrReplayLimit, webhook.ErrTestNotSubscribed,
		deposit.ErrNotFound, deposit.ErrAccessDenied, deposit.ErrInvalidClient,
		deposit.ErrNotCancellable, deposit.ErrNotCapturable, deposit.ErrNotReleasable, deposit.ErrNotSecurable,
		deposit.ErrLinkNotSendable,
		ports.ErrInvalidIdempotencyKey, ports.ErrIdempotencyKeyInUse, ports.ErrIdempotencyKeyReused,
	}
	worded := []*fault.Error{ // their messages name a field
		fault.ErrUnknownField, fault.ErrMissingField, fault.ErrInvalidField, fault.ErrBadCursor,
		deposit.ErrBelowMinimum, deposit.ErrAboveMaximum, deposit.ErrCaptureExceedsAmount, deposit.ErrTooSmallToCharge,
		deposit.ErrInvalidReturnURL,
		deposit.ErrDateRange, webhook.ErrReplayRange, // the same code, for different fields
	}
	messages := map[string]string{}
	for _, f := range fixed {
		messages[f.Code] = f.Message
	}
	statuses := map[string]int{}
	for _, f := range append(fixed, worded...) {
		statuses[f.Code] = problem.HTTPStatus(f.Kind)
	}
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, ref := range op.Responses.Map() {
				media := ref.Value.Content.Get("application/json")
				if media == nil {
					continue
				}
				for name, example := range media.Examples {
					detail := example.Value.Value.(map[string]any)["error"].(map[string]any)
					code := detail["code"].(string)
					require.Contains(t, statuses, code, "%s %s", path, name)
					if status != "default" {
						require.Equal(t, status, strconv.Itoa(statuses[code]), "%s %s", path, name)
					}
					require.True(t, strings.HasPrefix(detail["message"].(string), messages[code]), "%s: %s", name, detail["message"])
				}
			}
		}
	}
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		require.Contains(t, statuses, code)
	}
	require.Len(t, doc.Components.Schemas["ErrorCode"].Value.Enum, len(statuses))
}

// Whatever partners send in an object is known by its name, or is a value of a map: every object says which.
func TestDocument_EveryObjectOfARequest_IsClosedOrAMap(t *testing.T) {
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	var look func(s *openapi3.Schema, where string) (objects int)
	look = func(s *openapi3.Schema, where string) (objects int) {
		require.Empty(t, slices.Concat(s.OneOf, s.AnyOf, s.AllOf), where)
		if s.Type.Includes(openapi3.TypeObject) && s.AdditionalProperties.Schema == nil {
			require.Equal(t, new(bool), s.AdditionalProperties.Has, "%s needs additionalProperties: false", where)
			objects++
		}
		for name, inner := range s.Properties {
			objects += look(inner.Value, where+"."+name)
		}
		if s.Items != nil {
			objects += look(s.Items.Value, where+"[]")
		}
		return objects
	}
	objects := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil {
				objects += look(op.RequestBody.Value.Content.Get("application/json").Schema.Value, method+" "+path)
			}
		}
	}
	require.Greater(t, objects, 15)
}

// Generators of Go give a number without a format 32 bits, too few for an amount.
func TestDocument_EveryNumber_HasRoomForAmounts(t *testing.T) {
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	numbers := 0
	for name, schema := range doc.Components.Schemas {
		for field, property := range schema.Value.Properties {
			if property.Value.Type.Includes(openapi3.TypeNumber) {
				require.Equal(t, "double", property.Value.Format, "%s.%s", name, field)
				numbers++
			}
		}
	}
	require.Positive(t, numbers)
}

// Every enum of openapi.yaml lists the values of the domain.
func TestDocument_EnumsAreThoseOfTheDomain(t *testing.T) {
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	schemas := doc.Components.Schemas

	require.ElementsMatch(t, deposit.Statuses, enumOf[deposit.Status](schemas["DepositStatus"]))
	require.ElementsMatch(t, webhook.DeliveryStatuses, enumOf[webhook.DeliveryStatus](schemas["DeliveryStatus"]))
	require.ElementsMatch(t, webhook.EventNames, enumOf[webhook.EventName](schemas["EventName"]))
	require.ElementsMatch(t, webhook.AttemptResults,
		append(enumOf[webhook.AttemptResult](schemas["AttemptError"]), webhook.ResultSuccess))
	require.ElementsMatch(t, []string{webhook.DisabledByPartner, webhook.DisabledByFailure},
		enumOf[string](schemas["Webhook"].Value.Properties["disabledReason"]))

	var reasons []string
	for _, trigger := range deposit.Triggers {
		if reason := trigger.StatusReason(); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	require.ElementsMatch(t, reasons, enumOf[string](schemas["StatusReason"]))
}

func enumOf[T ~string](ref *openapi3.SchemaRef) []T {
	var out []T
	for _, v := range ref.Value.Enum {
		out = append(out, T(v.(string)))
	}
	return out
}
