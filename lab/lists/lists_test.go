// Package lists_test compares every closed list, and every limit, that stands in several places: in Go, in the CHECK
// constraints of a migrated database, in the OpenAPI document, and in the labels of metrics. A constraint or an enum
// that no test here names fails too, so a new list cannot be forgotten.
package lists_test

import (
	"context"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
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

func TestMain(m *testing.M) { pgtest.Main(m) }

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
	"too_many_files_of_deposit", "files_gone", "file_not_found",
	"email_not_verified", "link_void",
	"agreement_missing", "agreement_changed", "notice_refused", "no_payment_books", "invalid_period",
	"collection_not_found", "collection_over", "collection_not_retryable", "collection_not_payable",
	"collection_ending", "collection_reminded", "collection_without_tenant",
	"payment_not_refundable", "refund_exceeds_payment",
	"wrong_code", "too_many_codes", "sign_in_over", "totp_on", "totp_off",
}

type list struct {
	name   string
	places []place
}

// lists names every closed list with the places that hold the list. sql and api give a place by name.
func lists(t *testing.T, sql, api func(string) place) []list {
	t.Helper()
	schema := func(path string) place { return api("components/schemas/" + path) }
	return []list{
		{"event names", []place{
			at("webhook.EventNames", webhook.EventNames), constants(t, "core/webhook", "EventName"),
			at("deposit.EventNames", deposit.EventNames, string(webhook.OperatorLinked)),
			sql("events.name"), schema("EventName"),
		}},
		{"statuses of a deposit", []place{
			at("deposit.Statuses", deposit.Statuses), constants(t, "core/deposit", "Status"), sql("deposit_is_sound.d_status"),
			schema("DepositStatus"),
		}},
		{"triggers of a transition",
			[]place{at("deposit.Triggers", deposit.Triggers), constants(t, "core/deposit", "Trigger")}},
		{"reasons of a status", []place{reasons(), schema("StatusReason")}},
		{"reasons of a cancellation",
			[]place{at("deposit.CancelReasons", deposit.CancelReasons), schema("CancelDepositRequest/properties/reason")}},
		{"reasons of a capture",
			[]place{at("deposit.CaptureReasons", deposit.CaptureReasons), schema("CaptureDepositRequest/properties/reason")}},
		{"outcomes of a simulation",
			[]place{constants(t, "app", "Simulation"), schema("SimulateDepositRequest/properties/outcome")}},
		{"outcomes of checkout", []place{at("deposit.Outcomes", deposit.Outcomes), constants(t, "core/deposit", "Outcome")}},
		{"timers of a deposit", []place{timers(t), sql("deposit_timers.kind")}},
		{"kinds of payment", []place{at("deposit.PaymentKinds", deposit.PaymentKinds),
			constants(t, "core/deposit", "PaymentKind"), sql("payments.kind"), sql("stripe_payments.kind")}},
		{"statuses of a payment", []place{
			at("deposit.PaymentStatuses", deposit.PaymentStatuses), constants(t, "core/deposit", "PaymentStatus"),
			sql("payments.status"),
		}},
		{"states of a collection", []place{
			at("deposit.CollectionStates", deposit.CollectionStates), constants(t, "core/deposit", "CollectionState"),
			sql("collections.state"), schema("CollectionStatus"),
		}},
		{"triggers of a collection", []place{at("deposit.CollectionTriggers", deposit.CollectionTriggers),
			constants(t, "core/deposit", "CollectionTrigger")}},
		{"statuses of a refund", []place{
			at("deposit.RefundStatuses", deposit.RefundStatuses), constants(t, "core/deposit", "RefundStatus"),
			at("ports.RefundStatuses", paymentports.RefundStatuses), sql("refunds.status"),
		}},
		{"reasons of a refund", []place{at("deposit.RefundReasons", deposit.RefundReasons),
			constants(t, "core/deposit", "RefundReason"), sql("refunds.reason")}},
		{"notices to tenants", []place{
			at("ports.TenantNoticeKinds", paymentports.TenantNoticeKinds), constants(t, "ports", "TenantNoticeKind"),
			sql("tenant_notices.kind"),
		}},
		{"results of payments",
			[]place{at("ports.PaymentResults", paymentports.PaymentResults), constants(t, "ports", "PaymentResult")}},
		{"statuses at the provider", []place{
			// no row: not known
			at("ports.ProviderStatuses", paymentports.ProviderStatuses).without(string(paymentports.ProviderUnknown)),
			constants(t, "ports", "ProviderStatus").without(string(paymentports.ProviderUnknown)),
			sql("sandbox_payments.status"),
		}},
		{"classes of refusals", []place{at("ports.Refusals", paymentports.Refusals), constants(t, "ports", "Refusal"),
			sql("stripe_attempts.refusal")}},
		{"kinds of objects at Stripe", []place{at("stripe.ObjectKinds", stripe.ObjectKinds), sql("stripe_objects.kind")}},
		{"states of objects at Stripe", []place{at("stripe.ObjectStates", stripe.ObjectStates), sql("stripe_objects.state")}},
		{"statuses of a link", []place{
			at("connect.LinkStatuses", connect.LinkStatuses), constants(t, "core/connect", "LinkStatus"), schema("LinkStatus"),
			api("paths/~1api~1partner~1v1~1accounts/get/parameters/status/schema").without("all"),
		}},
		{"parties that may revoke a link", []place{
			at("connect.Revokers", connect.Revokers), constants(t, "core/connect", "RevokedBy"), sql("account_links.revoked_by"),
		}},
		{"outcomes of a connect page",
			[]place{at("connect.Outcomes", connect.Outcomes), constants(t, "core/connect", "Outcome")}},
		{"environments", []place{
			at("partner.Environments", partner.Environments), constants(t, "core/partner", "Environment"),
			schema("Me/properties/environment"),
		}},
		{"statuses of a delivery", []place{
			at("webhook.Statuses", webhook.Statuses), constants(t, "core/webhook", "Status"), schema("DeliveryStatus"),
			sql("webhook_replays.status"),
		}},
		{"reasons of a failed delivery", []place{
			at("webhook.FailureReasons", webhook.FailureReasons), constants(t, "core/webhook", "FailureReason"),
			schema("FailureReason"),
		}},
		{"results of an attempt", []place{
			at("webhook.Results", webhook.Results).without(string(webhook.ResultSuccess)),
			constants(t, "core/webhook", "Result").without(string(webhook.ResultSuccess)), schema("AttemptError"),
		}},
		{"causes of a signature that does not verify", []place{
			at("webhook.Causes", webhook.Causes),
			constants(t, "core/webhook", "Cause").without(string(webhook.CauseExpired)), schema("SignatureCause"),
		}},
		{"causes of a connect URL that is refused", []place{at("connect.Causes", connect.Causes),
			constants(t, "core/connect", "Cause"), schema("ConnectCause")}},
		{"kinds of signature", []place{at("webhook.Signatures", webhook.Signatures),
			constants(t, "core/webhook", "Signature"), schema("SignatureKind")}},
		{"reasons of a disabled subscription", []place{
			at("webhook.DisabledReasons", webhook.DisabledReasons), schema("Webhook/properties/disabledReason"),
		}},
		{"states of the backlog",
			[]place{at("ports.BacklogStates", webhookports.BacklogStates), constants(t, "ports", "BacklogState")}},
		{"states of a subscription", []place{at("ports.SubscriptionStates", webhookports.SubscriptionStates),
			constants(t, "ports", "SubscriptionState")}},
		{"kinds of token", []place{at("connect.TokenKinds", connect.TokenKinds), constants(t, "core/connect", "TokenKind"),
			sql("operator_tokens.kind")}},
		{"lanes", []place{at("ports.Lanes", webhookports.Lanes), constants(t, "ports", "Lane")}},
		{"states of an endpoint", []place{
			at("webhook.EndpointStates", webhook.EndpointStates), constants(t, "core/webhook", "EndpointState"),
			schema("EndpointState"),
		}},
		{"codes of faults", []place{codes(t), schema("ErrorCode").with(notInOpenAPI...)}},
	}
}

func TestLists_AreTheSameInEveryPlace(t *testing.T) {
	t.Parallel()
	inSQL, inAPI := checks(t), enums(document(t))
	named := map[string]bool{}
	from := func(source map[string]place) func(string) place {
		return func(name string) place {
			named[name] = true
			require.Contains(t, source, name)
			return source[name]
		}
	}
	for _, l := range lists(t, from(inSQL), from(inAPI)) {
		require.Empty(t, differences(l.places...), l.name)
	}
	for path := range onlyInOpenAPI {
		require.Contains(t, inAPI, path)
		named[path] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(inSQL)), slices.Collect(maps.Keys(inAPI))) {
		require.True(t, named[name], "%s is a list that no test compares: add a line to lists()", name)
	}
}

func TestLists_EveryListFailsWithoutAnEntry(t *testing.T) {
	t.Parallel()
	inSQL, inAPI := checks(t), enums(document(t))
	for _, l := range lists(t, func(n string) place { return inSQL[n] }, func(n string) place { return inAPI[n] }) {
		for i, p := range l.places {
			places := slices.Clone(l.places)
			places[i] = p.without(p.entries[0])
			require.NotEmpty(t, differences(places...), "%s: %s lacks %q", l.name, p.name, p.entries[0])
		}
	}
}

func TestLists_LabelsOfMetrics(t *testing.T) {
	t.Parallel()
	r := metrics.NewRegistry(slog.New(slog.DiscardHandler))
	r.Dispatch()
	r.Deposits()
	r.Payments()
	r.Backlog(noBacklog{})
	for _, places := range [][]place{
		{labels(t, r, "svc_webhook_attempts_total", "event"), at("webhook.EventNames", webhook.EventNames)},
		{labels(t, r, "svc_webhook_attempts_total", "result"), at("webhook.Results", webhook.Results)},
		{labels(t, r, "svc_webhook_attempt_duration_seconds", "result"), at("webhook.Results", webhook.Results)},
		{labels(t, r, "svc_webhook_delivery_latency_seconds", "event"), at("webhook.EventNames", webhook.EventNames)},
		{labels(t, r, "svc_webhook_deliveries_finished_total", "event"), at("webhook.EventNames", webhook.EventNames)},
		{labels(t, r, "svc_webhook_deliveries_finished_total", "outcome"),
			at("final statuses", []webhook.Status{webhook.StatusSucceeded, webhook.StatusFailed})},
		{labels(t, r, "svc_webhook_deliveries_pending", "state"), at("ports.BacklogStates", webhookports.BacklogStates)},
		{labels(t, r, "svc_webhook_subscriptions", "state"), at("ports.SubscriptionStates", webhookports.SubscriptionStates)},
		{labels(t, r, "svc_webhook_inflight", "lane"), at("ports.Lanes", webhookports.Lanes)},
		{labels(t, r, "svc_deposits_created_total", "by"), at("ports.DepositAuthors", depositports.DepositAuthors)},
		{labels(t, r, "svc_payments_total", "kind"), at("deposit.PaymentKinds", deposit.PaymentKinds).with("refund")},
		{labels(t, r, "svc_payments_total", "result"), at("ports.PaymentResults", paymentports.PaymentResults)},
		{labels(t, r, "svc_collections", "state"), at("deposit.CollectionStates", deposit.CollectionStates)},
		{labels(t, r, "svc_pg_dead_rows", "table"), at("ports.BusyTables", webhookports.BusyTables)},
		{labels(t, r, "svc_deposits_transitions_total", "from"),
			statuses("not final", func(s deposit.Status) bool { return !s.Final() })},
		{labels(t, r, "svc_deposits_transitions_total", "to"),
			statuses("after creation", func(s deposit.Status) bool { return s != deposit.Pending })},
		{labels(t, r, "svc_deposits_transitions_total", "by"), actors()},
	} {
		require.Empty(t, differences(places...))
	}
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
		require.NotContains(t, kindOf, problem.Status(kind), "two kinds have the same status, or a kind has none")
		kindOf[problem.Status(kind)] = kind
	}
	require.Equal(t, 500, problem.Status(fault.Kind(len(fault.Kinds))), "fault.Kinds leaves out the last kind")
}

// The states of a delivery are numbers in SQL. Statuses of a deposit stand in queries too.
func TestLists_InQueries(t *testing.T) {
	t.Parallel()
	var states []string
	for _, s := range webhook.States {
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
		p := place{name: "deposits.sql"}
		for _, entry := range sqlText.FindAllStringSubmatch(m[1], -1) {
			p.entries = append(p.entries, entry[1])
		}
		require.Empty(t, differences(p, statuses("in checkout", deposit.Status.InCheckout)))
	}
}

func reasons() place {
	p := place{name: "reasons of deposit.Triggers"}
	for _, trigger := range deposit.Triggers {
		if reason := trigger.Reason(); reason != "" {
			p.entries = append(p.entries, reason)
		}
	}
	return p
}

func statuses(name string, keep func(deposit.Status) bool) place {
	return at("statuses "+name,
		slices.DeleteFunc(slices.Clone(deposit.Statuses), func(s deposit.Status) bool { return !keep(s) }))
}

func actors() place {
	p := place{name: "actors of deposit.Triggers"}
	for _, trigger := range deposit.Triggers {
		if by := string(trigger.By()); !slices.Contains(p.entries, by) {
			p.entries = append(p.entries, by)
		}
	}
	return p
}

func codes(t *testing.T) place {
	t.Helper()
	return place{name: "calls of fault.New", entries: slices.Sorted(maps.Keys(faults(t)))}
}

// timers are the kinds of timer in queries.
func timers(t *testing.T) place {
	t.Helper()
	p := place{name: "queries of deposit_timers"}
	for _, m := range regexp.MustCompile(`t\.kind = '(\w+)'`).FindAllStringSubmatch(
		read(t, "adapters/postgres/deposits/queries/deposits.sql"), -1) {
		if !slices.Contains(p.entries, m[1]) {
			p.entries = append(p.entries, m[1])
		}
	}
	return p
}

type noBacklog struct{}

func (noBacklog) Backlog(context.Context) (webhookports.Backlog, error) {
	return webhookports.Backlog{}, nil
}
