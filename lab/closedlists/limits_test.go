package closedlists_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/app/partners"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
)

func TestLimits_AreTheSameInOpenAPI(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for path, limit := range map[string]any{
		"components/parameters/Limit/schema/default":                                        100,
		"components/schemas/CreateDepositRequest/properties/rentalContract/maxLength":       deposit.MaxRentalContractLength,
		"components/schemas/CaptureDepositRequest/properties/description/maxLength":         deposit.MaxDescriptionLength,
		"components/schemas/CancelDepositRequest/properties/comment/maxLength":              deposit.MaxDescriptionLength,
		"components/schemas/ReleaseDepositRequest/properties/comment/maxLength":             deposit.MaxDescriptionLength,
		"components/schemas/SendLinkBatchRequest/properties/recipients/maxItems":            deposit.MaxLinkRecipients,
		"components/schemas/Metadata/maxProperties":                                         deposit.MaxMetadataKeys,
		"components/schemas/Metadata/additionalProperties/maxLength":                        deposit.MaxMetadataValueLength,
		"components/schemas/CreateWebhookRequest/properties/url/maxLength":                  returnurl.MaxLength,
		"components/schemas/UpdateWebhookRequest/properties/url/maxLength":                  returnurl.MaxLength,
		"components/schemas/CreateApiKeyRequest/properties/name/maxLength":                  partners.MaxNameLength,
		"components/schemas/CreateClientRequest/properties/firstName/maxLength":             tenant.MaxNameLength,
		"components/schemas/CreateClientRequest/properties/lastName/maxLength":              tenant.MaxNameLength,
		"paths/~1api~1partner~1v1~1accounts/get/parameters/externalId/schema/maxLength":     connect.MaxExternalIDLength,
		"paths/~1api~1partner~1v1~1deposits/get/parameters/externalId/schema/maxLength":     connect.MaxExternalIDLength,
		"paths/~1api~1partner~1v1~1deposits/get/parameters/rentalContract/schema/maxLength": deposit.MaxRentalContractLength,
		"components/schemas/CreatedWebhook/properties/secret/pattern":                       "^" + webhook.SigningSecretPrefix,
		"components/schemas/RotatedSecret/properties/secret/pattern":                        "^" + webhook.SigningSecretPrefix,
		"components/parameters/WebhookSignature/name":                                       webhook.HeaderSignature,
		"components/parameters/WebhookTimestamp/name":                                       webhook.HeaderTimestamp,
		"components/parameters/WebhookEvent/name":                                           webhook.HeaderEvent,
	} {
		require.Equal(t, fmt.Sprint(limit), fmt.Sprint(valueAt(t, doc, path)), path)
	}
}

// Limits in sentences: the pattern finds the sentence, and the group in the pattern is the limit.
func TestLimits_AreTheSameInSentences(t *testing.T) {
	t.Parallel()
	doc := document(t)
	const (
		sendLink  = "paths/~1api~1partner~1v1~1deposits~1{depositId}~1send-link/post/description"
		redeliver = "paths/~1api~1partner~1v1~1webhooks~1{webhookId}~1deliveries~1{deliveryId}~1redeliver/post/description"
	)
	timers := deposit.DefaultTimerDurations()
	schema := func(path string) string { return valueAt(t, doc, "components/"+path+"/description").(string) }
	amount := schema("schemas/CreateDepositRequest/properties/amount")
	expires := schema("schemas/Deposit/properties/expiresAt")
	defaults, err := config.Load(nil, config.NothingRequired)
	require.NoError(t, err)
	for _, c := range []struct{ limit, text, pattern string }{
		{deposit.MinAmount.String(), amount, `at least (\S+)`},
		{deposit.DefaultMaxAmount.String(), amount, `which is (\S+) unless negotiated`},
		{strconv.Itoa(deposit.MaxMetadataKeyLength), schema("schemas/Metadata"), `of 1 to (\d+) characters`},
		{hours(ports.IdempotencyWindow), schema("parameters/IdempotencyKey"), `for (\d+) hours`},
		{days(timers.CaptureWindow), expires, `(\d+) days after the end of the rental`},
		{days(timers.CoverMax), expires, `at most (\d+) days after`},
		{strconv.Itoa(webhook.MaxSubscriptions), webhook.ErrSubscriptionLimitReached.Message, `have (\d+) webhooks`},
		{strconv.Itoa(webhook.MaxUnfinishedReplays), webhook.ErrReplayLimit.Message, `have (\d+) unfinished replays`},
		{strconv.Itoa(webhook.MaxReplayStepReads), strings.ReplaceAll(schema("schemas/Replay/properties/matched"), ",", ""),
			`the oldest (\d+) of the span`},
		{strconv.Itoa(deposit.MaxLinkMailsBySender), valueAt(t, doc, sendLink).(string), `mail an address (\d+) links`},
		{strconv.Itoa(deposit.MaxLinkMailsByAllSenders), valueAt(t, doc, sendLink).(string), `has got (\d+) links`},
		{strconv.Itoa(partners.RedeliveriesPerMinute), valueAt(t, doc, redeliver).(string), `have (\d+) redeliveries`},
		{strconv.Itoa(partner.MaxAPIKeys), partner.ErrAPIKeyLimit.Message, `have (\d+) API keys`},
		{strconv.Itoa(webhook.MaxResponseSnippet >> 10), schema("schemas/DeliveryAttempt/properties/responseSnippet"),
			`at most (\d+) KiB`},
		{strconv.Itoa(middleware.MaxBodyBytes >> 10), fault.ErrPayloadTooLarge.Message, `than (\d+) KiB`},
		{strconv.Itoa(returnurl.MaxLength), returnurl.ErrTooLong.Error(), `than (\d+) characters`},
		{strconv.Itoa(returnurl.MaxLength), schema("schemas/CreateDepositRequest/properties/returnUrl"),
			`at most (\d+) characters`},
		{days(webhook.DisableAfter), strings.Replace(webhook.DisabledByFailure, "five", "5", 1), `^failing_for_(\d+)_days$`},
		{strconv.Itoa(int(defaults.WebhookTimeout.Seconds())), schema("schemas/AttemptError"), `within (\d+) seconds`},
	} {
		found := regexp.MustCompile(c.pattern).FindStringSubmatch(strings.Join(strings.Fields(c.text), " "))
		require.NotNil(t, found, "no sentence with %q", c.pattern)
		require.Equal(t, c.limit, found[1], c.pattern)
	}
}

func TestLimits_AreTheSameInSQL(t *testing.T) {
	t.Parallel()
	least := strconv.FormatInt(int64(deposit.MinAmount), 10)
	require.Equal(t, []string{least}, sqlNumbers(t, "deposits", "amount"))
	require.Equal(t, []string{least}, sqlNumbers(t, "accounts", "max_amount_cents"))
}

// The retry schedule stands in words in the contract and in the guide.
func TestDefaults_RetryScheduleInDocuments(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"docs/spec/api.md", "docs/guides/webhooks.md"} {
		text := strings.Join(strings.Fields(read(t, path)), " ")
		found := regexp.MustCompile(`at once, then after ((?:\d+ (?:s|min|h)(?:, | and )?)+)`).FindStringSubmatch(text)
		require.NotNil(t, found, path)
		schedule := webhook.RetrySchedule{0}
		for _, wait := range regexp.MustCompile(`(\d+) (s|min|h)`).FindAllStringSubmatch(found[1], -1) {
			d, err := time.ParseDuration(wait[1] + strings.TrimSuffix(wait[2], "in"))
			require.NoError(t, err)
			schedule = append(schedule, d)
		}
		require.Equal(t, webhook.DefaultRetrySchedule, schedule, path)
	}
}

func days(d time.Duration) string  { return strconv.Itoa(int(d / (24 * time.Hour))) }
func hours(d time.Duration) string { return strconv.Itoa(int(d / time.Hour)) }
