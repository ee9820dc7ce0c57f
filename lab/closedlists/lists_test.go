// Package closedlists_test compares every closed list, and every limit, that stands in several places: in Go, in the
// CHECK constraints of a migrated database, in the OpenAPI document, and in the labels of metrics. A constraint or an
// enum that no test here names fails too, so a new list cannot be forgotten.
package closedlists_test

import (
	"context"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

// Enums of the OpenAPI document that no other place holds.
var onlyInOpenAPI = map[string]string{
	"components/headers/Idempotent-Replayed/schema": "the header is absent or true",
	"components/schemas/Currency":                   "euros are the only currency",
	"components/schemas/LinkMail/properties/status": "a mail that was accepted is queued",
}

// Codes that only pages and admin commands show, so the OpenAPI document does not list them.
var notInOpenAPI = []string{
	"email_taken", "bad_credentials", "invalid_email", "invalid_password", "invalid_company_name",
	"partner_not_found", "missing_connect_secret", "invalid_signature", "expired", "account_already_linked",
	"external_id_conflict",
	"partner_slug_taken", "invalid_csrf_token", "checkout_not_found", "replay_not_found", "deposit_changed",
	"deposit_takes_no_files", "files_too_large", "upload_too_slow", "uploads_busy", "one_at_a_time", "file_heavy",
	"file_type", "file_damaged", "file_too_large", "file_pixels", "file_empty", "too_many_files",
	"too_many_files_of_deposit", "files_gone", "file_not_found", "email_not_verified", "link_void",
	"agreement_missing", "agreement_changed", "notice_refused", "no_payment_books", "invalid_period",
	"collection_not_found", "collection_over", "collection_not_retryable", "collection_not_payable",
	"collection_ending", "collection_reminded", "collection_without_tenant",
	"payment_not_refundable", "refund_exceeds_payment",
	"wrong_code", "too_many_codes", "sign_in_over", "totp_on", "totp_off",
}

// list is a closed list of Go with the other places that hold the same entries, in any order.
type list struct{ entries, places []string }

// of makes a list. A place is one of
//
//	const core/webhook.EventName    the constants of a type, in a folder
//	sql events.name                 a CHECK constraint of a migrated database
//	api EventName                   an enum of the OpenAPI document: a schema, or a path that begins with /
//	metric NAME LABEL               the labels of the series that exist from the start
//
// Entries that only the place has follow behind " less ".
func of[T ~string](entries []T, places ...string) list { return list{texts(entries), places} }

func texts[T ~string](entries []T) (all []string) {
	for _, e := range entries {
		all = append(all, string(e))
	}
	return all
}

// but leaves out entries that only Go holds.
func (l list) but(entries ...string) list {
	l.entries = slices.DeleteFunc(l.entries, func(e string) bool { return slices.Contains(entries, e) })
	return l
}

func lists(t *testing.T) []list {
	t.Helper()
	return []list{
		of(webhook.EventNames, "const core/webhook.EventName", "sql events.name", "api EventName",
			"metric svc_webhook_attempts_total event", "metric svc_webhook_delivery_latency_seconds event",
			"metric svc_webhook_deliveries_finished_total event"),
		of(deposit.EventNames, "api EventName less "+string(webhook.EventOperatorLinked)),
		of(deposit.Statuses, "const core/deposit.Status", "sql deposit_is_sound.d_status", "api DepositStatus"),
		of(statuses(func(s deposit.Status) bool { return !s.Final() }), "metric svc_deposits_transitions_total from"),
		of(statuses(func(s deposit.Status) bool { return s != deposit.Pending }), "metric svc_deposits_transitions_total to"),
		of(deposit.Triggers, "const core/deposit.Trigger"),
		of(reasons(), "api StatusReason"),
		of(actors(), "metric svc_deposits_transitions_total by"),
		of(depositports.DepositAuthors, "metric svc_deposits_created_total by"),
		of(deposit.CancelReasons, "api CancelDepositRequest/properties/reason"),
		of(deposit.CaptureReasons, "api CaptureDepositRequest/properties/reason"),
		of(constants(t, "app", "SimulatedEvent"), "api SimulateDepositRequest/properties/outcome"),
		of(deposit.CheckoutOutcomes, "const core/deposit.CheckoutOutcome"),
		of(timers(t), "sql deposit_timers.kind"),
		of(deposit.PaymentKinds, "const core/deposit.PaymentKind", "sql payments.kind", "sql stripe_payments.kind",
			"metric svc_payments_total kind less refund", "metric svc_payments_cents_total kind less refund"),
		of(deposit.PaymentStatuses, "const core/deposit.PaymentStatus", "sql payments.status"),
		of(deposit.CollectionStates, "const core/deposit.CollectionState", "sql collections.state", "api CollectionStatus",
			"metric svc_collections state"),
		of(deposit.CollectionTriggers, "const core/deposit.CollectionTrigger"),
		of(deposit.RefundStatuses, "const core/deposit.RefundStatus", "sql refunds.status"),
		of(paymentports.RefundStatuses, "sql refunds.status"),
		of(deposit.RefundReasons, "const core/deposit.RefundReason", "sql refunds.reason"),
		of(paymentports.TenantNoticeKinds, "const ports.TenantNoticeKind", "sql tenant_notices.kind"),
		of(paymentports.PaymentResults, "const ports.PaymentResult", "metric svc_payments_total result"),
		of(paymentports.ProviderPaymentStatuses, "const ports.ProviderPaymentStatus"),
		of(paymentports.ProviderPaymentStatuses,
			"sql sandbox_payments.status").but(string(paymentports.ProviderPaymentUnknown)),
		of(paymentports.ChargeRefusalKinds, "const ports.ChargeRefusalKind", "sql stripe_attempts.refusal"),
		of(stripe.ObjectKinds, "sql stripe_objects.kind"), of(stripe.ObjectStates, "sql stripe_objects.state"),
		of(connect.LinkStatuses, "const core/connect.LinkStatus", "api LinkStatus",
			"api /paths/~1api~1partner~1v1~1accounts/get/parameters/status/schema less all"),
		of(connect.Revokers, "const core/connect.RevokedBy", "sql account_links.revoked_by"),
		of(connect.ConnectOutcomes, "const core/connect.LinkResult"),
		of(connect.RejectionCauses, "const core/connect.RejectionCause", "api ConnectCause"),
		of(connect.TokenKinds, "const core/connect.TokenKind", "sql operator_tokens.kind"),
		of(partner.Environments, "const core/partner.Environment", "api Me/properties/environment"),
		of(webhook.DeliveryStatuses, "const core/webhook.DeliveryStatus", "api DeliveryStatus", "sql webhook_replays.status"),
		of([]webhook.DeliveryStatus{webhook.StatusSucceeded, webhook.StatusFailed},
			"metric svc_webhook_deliveries_finished_total outcome"),
		of(webhook.FailureReasons, "const core/webhook.FailureReason", "api FailureReason"),
		of(webhook.AttemptResults, "const core/webhook.AttemptResult", "metric svc_webhook_attempts_total result",
			"metric svc_webhook_attempt_duration_seconds result"),
		of(webhook.AttemptResults, "api AttemptError").but(string(webhook.ResultSuccess)),
		of(webhook.SignatureCauses, "const core/webhook.SignatureCause less "+string(webhook.CauseTimestampExpired),
			"api SignatureCause"),
		of(webhook.SignatureKinds, "const core/webhook.SignatureKind", "api SignatureKind"),
		of(webhook.DisabledReasons, "api Webhook/properties/disabledReason"),
		of(webhook.EndpointStates, "const core/webhook.EndpointState", "api EndpointState"),
		of(webhookports.PendingDeliveryStates, "const ports.PendingDeliveryState",
			"metric svc_webhook_deliveries_pending state"),
		of(webhookports.SubscriptionStates, "const ports.SubscriptionState", "metric svc_webhook_subscriptions state"),
		of(webhookports.Lanes, "const ports.Lane", "metric svc_webhook_inflight lane"),
		of(webhookports.FrequentlyUpdatedTables, "metric svc_pg_dead_rows table"),
		of(slices.Collect(maps.Keys(faults(t))), "api ErrorCode").but(notInOpenAPI...),
	}
}

func TestLists_AreTheSameInEveryPlace(t *testing.T) {
	t.Parallel()
	sources := map[string]map[string][]string{"sql": checks(t), "api": enums(document(t))}
	named := map[string]bool{}
	registry := registry()
	for _, l := range lists(t) {
		for _, place := range l.places {
			where, less, _ := strings.Cut(place, " less ")
			kind, where, _ := strings.Cut(where, " ")
			var got []string
			switch kind {
			case "const":
				folder, name, _ := strings.Cut(where, ".")
				got = constants(t, folder, name)
			case "metric":
				metric, label, _ := strings.Cut(where, " ")
				got = labels(registry, metric, label)
			default:
				if whole, found := strings.CutPrefix(where, "/"); found {
					where = whole
				} else if kind == "api" {
					where = "components/schemas/" + where
				}
				got, named[kind+" "+where] = sources[kind][where], true
			}
			want := l.entries
			if less != "" {
				want = append(slices.Clone(want), less)
			}
			require.NotEmpty(t, want, place)
			require.ElementsMatch(t, want, got, "Go and %s", place)
		}
	}
	for path := range onlyInOpenAPI {
		require.Contains(t, sources["api"], path)
		named["api "+path] = true
	}
	for kind, all := range sources {
		for name := range all {
			require.True(t, named[kind+" "+name], "%s %s is a list that no test compares: add a line to lists()", kind, name)
		}
	}
	codes := faults(t)
	for _, code := range notInOpenAPI {
		require.Contains(t, codes, code)
	}
}

func registry() *metrics.Registry {
	r := metrics.NewRegistry(slog.New(slog.DiscardHandler))
	r.RegisterDispatch()
	r.RegisterDeposits()
	r.RegisterPayments()
	r.RegisterBacklog(noBacklog{})
	return r
}

// A code has a single kind, and each kind has an HTTP status of its own.
func TestFaults_HaveASingleStatus(t *testing.T) {
	t.Parallel()
	for code, kinds := range faults(t) {
		require.Len(t, kinds, 1, code)
	}
	kindOf := map[int]fault.Kind{}
	for i, kind := range fault.Kinds {
		require.Equal(t, fault.Kind(i), kind, "fault.Kinds leaves out a kind")
		require.NotContains(t, kindOf, problem.HTTPStatus(kind), "two kinds have the same status, or a kind has none")
		kindOf[problem.HTTPStatus(kind)] = kind
	}
	require.Equal(t, 500, problem.HTTPStatus(fault.Kind(len(fault.Kinds))), "fault.Kinds leaves out the last kind")
}

// The states of a delivery are numbers in SQL. Statuses of a deposit stand in queries too.
func TestLists_InQueries(t *testing.T) {
	t.Parallel()
	var states []string
	for _, s := range webhook.DeliveryStates {
		states = append(states, strconv.Itoa(int(s)))
	}
	bounds := sqlNumbers(t, "deliveries", "state")
	require.Contains(t, bounds, states[0])
	require.Contains(t, bounds, states[len(states)-1])
	require.NotContains(t, bounds, strconv.Itoa(len(states)), "a state that Go does not know")

	checkout := regexp.MustCompile(`status IN \(('pending'[^)]*)\)`).FindAllStringSubmatch(
		read(t, "adapters/postgres/deposits/queries/deposits.sql"), -1)
	require.NotEmpty(t, checkout)
	for _, m := range checkout {
		require.ElementsMatch(t, texts(statuses(deposit.Status.InCheckout)), quoted(m[1]), "deposits.sql")
	}
}

func reasons() (all []string) {
	for _, trigger := range deposit.Triggers {
		if reason := trigger.StatusReason(); reason != "" {
			all = append(all, reason)
		}
	}
	return all
}

func statuses(keep func(deposit.Status) bool) []deposit.Status {
	return slices.DeleteFunc(slices.Clone(deposit.Statuses), func(s deposit.Status) bool { return !keep(s) })
}

func actors() (all []string) {
	for _, trigger := range deposit.Triggers {
		all = append(all, string(trigger.ActorKind()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// timers are the kinds of timer in queries.
func timers(t *testing.T) (kinds []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`t\.kind = '(\w+)'`).FindAllStringSubmatch(
		read(t, "adapters/postgres/deposits/queries/deposits.sql"), -1) {
		kinds = append(kinds, m[1])
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

type noBacklog struct{}

func (noBacklog) Backlog(context.Context) (webhookports.Backlog, error) {
	return webhookports.Backlog{}, nil
}
