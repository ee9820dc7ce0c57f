// Code generated from openapi.yaml by sdk/generate. DO NOT EDIT.

package deposits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Version is the version of the library.
const Version = "1.0.0"

// The codes of errors. Others may be added.
const (
	CodeAccountNotFound        = "account_not_found"
	CodeAccountNotLinked       = "account_not_linked"
	CodeAccountRevoked         = "account_revoked"
	CodeAmountAboveMaximum     = "amount_above_maximum"
	CodeAmountBelowMinimum     = "amount_below_minimum"
	CodeAPIKeyLimitReached     = "api_key_limit_reached"
	CodeAPIKeyNotFound         = "api_key_not_found"
	CodeAPIKeyRevoked          = "api_key_revoked"
	CodeCaptureBelowMinimum    = "capture_below_minimum"
	CodeCaptureExceedsAmount   = "capture_exceeds_amount"
	CodeClientNotFound         = "client_not_found"
	CodeDeliveryNotFound       = "delivery_not_found"
	CodeDepositAccessDenied    = "deposit_access_denied"
	CodeDepositNotCancellable  = "deposit_not_cancellable"
	CodeDepositNotCapturable   = "deposit_not_capturable"
	CodeDepositNotFound        = "deposit_not_found"
	CodeDepositNotReleasable   = "deposit_not_releasable"
	CodeDepositNotSecurable    = "deposit_not_securable"
	CodeDepositNotSendable     = "deposit_not_sendable"
	CodeEventNotFound          = "event_not_found"
	CodeIdempotencyKeyInUse    = "idempotency_key_in_use"
	CodeIdempotencyKeyReused   = "idempotency_key_reused"
	CodeInternalError          = "internal_error"
	CodeInvalidAPIKey          = "invalid_api_key"
	CodeInvalidClient          = "invalid_client"
	CodeInvalidCursor          = "invalid_cursor"
	CodeInvalidDateRange       = "invalid_date_range"
	CodeInvalidField           = "invalid_field"
	CodeInvalidIdempotencyKey  = "invalid_idempotency_key"
	CodeInvalidJson            = "invalid_json"
	CodeInvalidReturnURL       = "invalid_return_url"
	CodeMissingAPIKey          = "missing_api_key"
	CodeMissingField           = "missing_field"
	CodePayloadTooLarge        = "payload_too_large"
	CodeRateLimited            = "rate_limited"
	CodeReplayLimitReached     = "replay_limit_reached"
	CodeRouteNotFound          = "route_not_found"
	CodeServiceUnavailable     = "service_unavailable"
	CodeTestEventNotSubscribed = "test_event_not_subscribed"
	CodeUnknownField           = "unknown_field"
	CodeUnsupportedMediaType   = "unsupported_media_type"
	CodeWebhookDisabled        = "webhook_disabled"
	CodeWebhookLimitReached    = "webhook_limit_reached"
	CodeWebhookNotFound        = "webhook_not_found"
)

// words are the messages of a SignatureError, by reason and by hint.
var words = map[string]string{
	"missing_header":      "X-Svc-Signature or X-Svc-Timestamp is missing.",
	"malformed_header":    "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
	"missing_parameter":   "A signed parameter of the return URL is missing.",
	"malformed_parameter": "A signed parameter of the return URL is not in the form that we send.",
	"expired":             "The timestamp is outside the tolerance.",
	"mismatch":            "The signature does not match.",
	"invalid_json":        "The body is not a JSON object.",
	"stale":               "It is in the past: check this server's clock, and that the request is not a replay.",
	"future":              "It is in the future: check this server's clock.",
	"milliseconds":        "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
	"body_reserialized":   "The body was parsed and written again: pass the raw body.",
	"body_changed":        "The body is not what was sent: pass the raw body, unread and unchanged.",
	"wrong_secret_kind":   "The secret is not a signing secret (svc_whsec_…).",
	"secret_whitespace":   "The secret has white space around it.",
	"base64":              "The signature is base64: it must be lower-case hex.",
	"upper_case":          "The signature is in upper case: it must be lower-case hex.",
	"prefix_missing":      "The prefix sha256= is missing.",
	"order":               "The signed message is in another order: it is <timestamp>.<raw body>.",
}

// Object is an object of an answer. Raw gives its JSON, with the fields that this version of the library does not know.
type Object struct{ raw string }

func (o Object) Raw() json.RawMessage { return json.RawMessage(o.raw) }

// Page is one page of a list.
type Page[T any] struct {
	Data       []T
	Pagination Pagination
}

// Pagination says whether a list goes on, and with which Cursor.
type Pagination struct {
	NextCursor string
	HasMore    bool
}

// Nullable is a field that a request leaves as it is (nil), sets (Set) or clears (Null). Ptr is for optional fields.
type Nullable[T any] **T

func Set[T any](value T) Nullable[T] { p := &value; return &p }
func Null[T any]() Nullable[T]       { return new(*T) }
func Ptr[T any](value T) *T          { return &value }

// IsNewer tells whether an event is newer than the version that you store with its deposit, 0 for none. An event
// without a version is: it is not about a deposit, or older than versions.
func IsNewer(event interface{ data() EventData }, storedVersion int64) bool {
	var deposit struct {
		Version int64 `json:"version"`
	}
	_ = json.Unmarshal(event.data().RawMessage, &deposit) // data of another kind has no version
	return storedVersion == 0 || deposit.Version == 0 || deposit.Version > storedVersion
}

func (o *Event) data() EventData     { return o.Data }
func (o *FeedEvent) data() EventData { return o.Data }

// Resources are the parts of the API.
type Resources struct {
	Me         *MeResource
	APIKeys    *APIKeysResource
	Accounts   *AccountsResource
	Connect    *ConnectResource
	Webhooks   *WebhooksResource
	Deliveries *DeliveriesResource
	Events     *EventsResource
	Clients    *ClientsResource
	Deposits   *DepositsResource
	Test       *TestResource
}

func newResources(c *Client) Resources {
	return Resources{&MeResource{c}, &APIKeysResource{c}, &AccountsResource{c}, &ConnectResource{c}, &WebhooksResource{c}, &DeliveriesResource{c}, &EventsResource{c}, &ClientsResource{c}, &DepositsResource{c}, &TestResource{c}}
}

// MeResource has the methods of Client.Me.
type MeResource struct{ client *Client }

// Get: retrieve yourself.
//
// Shows the partner that the API key belongs to. A good first request: it needs nothing but the key.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *MeResource) Get(ctx context.Context, opts ...CallOption) (*Me, error) {
	var answer struct{ Data *Me }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/me"}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// APIKeysResource has the methods of Client.APIKeys.
type APIKeysResource struct{ client *Client }

// Create: create an API key.
//
// Creates a key. The answer holds the key itself, which is shown here and never again: store it before you go on.
// You may hold up to 20 keys; deleted ones do not count.
//
// This request takes no `Idempotency-Key`, so that no stored answer holds a key. If the answer got lost, delete
// the key without `lastUsedAt` that you find in the list, and create another.
//
// Codes of its errors: api_key_limit_reached, api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *APIKeysResource) Create(ctx context.Context, params *CreateAPIKeyParams, opts ...CallOption) (*CreatedAPIKey, error) {
	var answer struct{ Data *CreatedAPIKey }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/api-keys", body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// ListAPIKeysParams are the parameters of APIKeys.List.
type ListAPIKeysParams struct {
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListAPIKeysParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list API keys.
//
// Lists your keys, the newest first, with those that were deleted. The keys themselves are not shown.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *APIKeysResource) List(ctx context.Context, params *ListAPIKeysParams, opts ...CallOption) iter.Seq2[*APIKey, error] {
	return func(yield func(*APIKey, error) bool) {
		var p ListAPIKeysParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *APIKeysResource) ListPage(ctx context.Context, params *ListAPIKeysParams, opts ...CallOption) (*Page[APIKey], error) {
	page := &Page[APIKey]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/api-keys" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Delete: delete an API key.
//
// Revokes the key: within five seconds it works nowhere, and answers `api_key_revoked`. Deleting a key again changes
// nothing. Any key can be deleted, the one of this request and your last one too; without a key, ask us for a new
// one.
//
// Codes of its errors: api_key_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *APIKeysResource) Delete(ctx context.Context, keyID string, opts ...CallOption) error {
	return r.client.send(ctx, call{method: "DELETE", path: "/api/partner/v1/api-keys/" + escape(keyID)}, opts, nil)
}

// AccountsResource has the methods of Client.Accounts.
type AccountsResource struct{ client *Client }

// ListAccountsParams are the parameters of Accounts.List.
type ListAccountsParams struct {
	// Which links to list.
	// One of active, revoked, all.
	Status string `json:"status,omitempty"`
	// Only the account that you know under this id.
	ExternalID string `json:"externalId,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListAccountsParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.Status != "" {
		query += "&status=" + escape(fmt.Sprint(p.Status))
	}
	if p.ExternalID != "" {
		query += "&externalId=" + escape(fmt.Sprint(p.ExternalID))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list linked accounts.
//
// Lists the accounts of the operators linked to you, the most recently linked first. Only active links are listed
// unless you ask for others.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *AccountsResource) List(ctx context.Context, params *ListAccountsParams, opts ...CallOption) iter.Seq2[*Account, error] {
	return func(yield func(*Account, error) bool) {
		var p ListAccountsParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *AccountsResource) ListPage(ctx context.Context, params *ListAccountsParams, opts ...CallOption) (*Page[Account], error) {
	page := &Page[Account]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/accounts" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Get: retrieve a linked account.
//
// Retrieves one account that is or was linked to you, with the amounts that its deposits may have.
//
// Codes of its errors: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *AccountsResource) Get(ctx context.Context, accountID string, opts ...CallOption) (*Account, error) {
	var answer struct{ Data *Account }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/accounts/" + escape(accountID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Delete: end the link to an account.
//
// Ends your link to the account; the operator's account and its deposits stay, and the operator gets a mail. From
// then on you can no longer create or capture deposits or create clients for it. Its deposits can still be read
// and cancelled, and the events of the deposits that you created still arrive. Ending a link that has ended
// changes nothing.
//
// To link the operator again, send a new connect URL. Those that you signed before are `expired`.
//
// Codes of its errors: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *AccountsResource) Delete(ctx context.Context, accountID string, opts ...CallOption) error {
	return r.client.send(ctx, call{method: "DELETE", path: "/api/partner/v1/accounts/" + escape(accountID)}, opts, nil)
}

// ConnectResource has the methods of Client.Connect.
type ConnectResource struct{ client *Client }

// Explain: explain why a connect URL is refused.
//
// Tells why a connect URL that you signed is refused. The secrets that are tried are those that you have now: the connect
// secret, the signing secrets and the API key of this request. The right signature is never shown, and we keep nothing of
// what you send.
//
// You have 30 requests a minute for this operation and `explainWebhook` together.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *ConnectResource) Explain(ctx context.Context, params *ExplainConnectParams, opts ...CallOption) (*ConnectExplanation, error) {
	var answer struct{ Data *ConnectExplanation }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/connect/explain", body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// WebhooksResource has the methods of Client.Webhooks.
type WebhooksResource struct{ client *Client }

// Create: create a webhook subscription.
//
// Registers an endpoint of yours. The answer holds the signing secret, which is shown here and never again: store
// it before you go on. If you lose it, rotate it.
//
// Codes of its errors: api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type, webhook_limit_reached.
func (r *WebhooksResource) Create(ctx context.Context, params *CreateWebhookParams, opts ...CallOption) (*CreatedWebhook, error) {
	var answer struct{ Data *CreatedWebhook }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// ListWebhooksParams are the parameters of Webhooks.List.
type ListWebhooksParams struct {
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListWebhooksParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list webhook subscriptions.
//
// Lists your subscriptions, the newest first. Secrets are not shown.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *WebhooksResource) List(ctx context.Context, params *ListWebhooksParams, opts ...CallOption) iter.Seq2[*Webhook, error] {
	return func(yield func(*Webhook, error) bool) {
		var p ListWebhooksParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *WebhooksResource) ListPage(ctx context.Context, params *ListWebhooksParams, opts ...CallOption) (*Page[Webhook], error) {
	page := &Page[Webhook]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/webhooks" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Get: retrieve a webhook subscription.
//
// Retrieves one subscription. The secret is not shown.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, webhook_not_found.
func (r *WebhooksResource) Get(ctx context.Context, webhookID string, opts ...CallOption) (*Webhook, error) {
	var answer struct{ Data *Webhook }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/webhooks/" + escape(webhookID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Update: update a webhook subscription.
//
// Changes what you send and leaves the rest. `events` replaces the whole list. Setting `enabled` to false parks
// deliveries; setting it to true sends, at a gentle pace, what waited.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type, webhook_not_found.
func (r *WebhooksResource) Update(ctx context.Context, webhookID string, params *UpdateWebhookParams, opts ...CallOption) (*Webhook, error) {
	var answer struct{ Data *Webhook }
	if err := r.client.send(ctx, call{method: "PATCH", path: "/api/partner/v1/webhooks/" + escape(webhookID), body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Delete: delete a webhook subscription.
//
// Deletes the subscription. Nothing is sent to it from then on, retries included.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, webhook_not_found.
func (r *WebhooksResource) Delete(ctx context.Context, webhookID string, opts ...CallOption) error {
	return r.client.send(ctx, call{method: "DELETE", path: "/api/partner/v1/webhooks/" + escape(webhookID)}, opts, nil)
}

// RotateSecret: rotate a signing secret.
//
// Issues a new secret and shows it, here and never again. The old one signs nothing from then on; retries of
// earlier deliveries are signed with the new one too.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, webhook_not_found.
func (r *WebhooksResource) RotateSecret(ctx context.Context, webhookID string, opts ...CallOption) (*RotatedSecret, error) {
	var answer struct{ Data *RotatedSecret }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/rotate-secret"}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Test: send a test delivery.
//
// Sends a synthetic `deposit.activated` to the endpoint, once, and answers with the delivery and what your
// endpoint said to it; also when it failed. The subscription must have `deposit.activated` or
// `deposit.status_changed`; the more specific of the two is sent. The deposit in it does not exist: its id starts
// with `dep_test_`.
//
// If the attempt takes longer than we can wait for, the delivery comes back as `pending`; look it up later. You have
// 20 tests a minute, and two in flight.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, test_event_not_subscribed, webhook_disabled, webhook_not_found.
func (r *WebhooksResource) Test(ctx context.Context, webhookID string, opts ...CallOption) (*Delivery, error) {
	var answer struct{ Data *Delivery }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/test"}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Explain: explain why a delivery does not verify.
//
// Tells why the signature of a delivery does not verify at your endpoint. Send headers and body as your endpoint
// received them, and, if you can, the signature that it computed itself: most mistakes show there alone.
//
// A delivery is found by its signature, so a changed body is told from a changed header. The secrets that are tried are
// those that you have now: the signing secrets, the connect secret and the API key of this request. The right signature
// is never shown, and we keep nothing of what you send.
//
// You have 30 requests a minute for this operation and `explainConnectUrl` together.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type, webhook_not_found.
func (r *WebhooksResource) Explain(ctx context.Context, webhookID string, params *ExplainWebhookParams, opts ...CallOption) (*WebhookExplanation, error) {
	var answer struct{ Data *WebhookExplanation }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/explain", body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Replay: send the deliveries of a time span again.
//
// Sends again what was created from `from` on and before `to` and has the given status, `failed` unless you say
// otherwise: each delivery as a new one, as `redeliver` would, the oldest first. The answer tells how many match now;
// the work goes on by itself, across restarts on our side. Your replays send 50 deliveries a second in all. Those of
// one subscription are done one after another, and 8 of them may be unfinished; one more is refused with
// `replay_limit_reached`. A replay waits while the subscription is disabled and ends when it is deleted.
//
// Redeliveries and test deliveries are not repeated, so each event comes once, however often you had it sent
// again before. The status that counts is the delivery's own, when its turn comes: a failed delivery stays `failed`
// also when a redelivery of it arrived.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_date_range, invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, replay_limit_reached, service_unavailable, unknown_field, unsupported_media_type, webhook_disabled, webhook_not_found.
func (r *WebhooksResource) Replay(ctx context.Context, webhookID string, params *ReplayParams, opts ...CallOption) (*Replay, error) {
	var answer struct{ Data *Replay }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/replay", body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// DeliveriesResource has the methods of Client.Deliveries.
type DeliveriesResource struct{ client *Client }

// ListWebhookDeliveriesParams are the parameters of Deliveries.List.
type ListWebhookDeliveriesParams struct {
	// Only deliveries in this status.
	Status DeliveryStatus `json:"status,omitempty"`
	// Only deliveries of this event.
	Event EventName `json:"event,omitempty"`
	// Only deliveries about this deposit.
	DepositID string `json:"depositId,omitempty"`
	// Only deliveries created at or after this time.
	From time.Time `json:"from,omitempty"`
	// Only deliveries created before this time.
	To time.Time `json:"to,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListWebhookDeliveriesParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.Status != "" {
		query += "&status=" + escape(fmt.Sprint(p.Status))
	}
	if p.Event != "" {
		query += "&event=" + escape(fmt.Sprint(p.Event))
	}
	if p.DepositID != "" {
		query += "&depositId=" + escape(fmt.Sprint(p.DepositID))
	}
	if !p.From.IsZero() {
		query += "&from=" + escape(fmt.Sprint(p.From.UTC().Format(time.RFC3339Nano)))
	}
	if !p.To.IsZero() {
		query += "&to=" + escape(fmt.Sprint(p.To.UTC().Format(time.RFC3339Nano)))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list deliveries.
//
// Lists what was sent to a subscription, the newest first, each with all its attempts.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field, webhook_not_found.
func (r *DeliveriesResource) List(ctx context.Context, webhookID string, params *ListWebhookDeliveriesParams, opts ...CallOption) iter.Seq2[*Delivery, error] {
	return func(yield func(*Delivery, error) bool) {
		var p ListWebhookDeliveriesParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, webhookID, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *DeliveriesResource) ListPage(ctx context.Context, webhookID string, params *ListWebhookDeliveriesParams, opts ...CallOption) (*Page[Delivery], error) {
	page := &Page[Delivery]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/deliveries" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Get: retrieve a delivery.
//
// Retrieves one delivery with its attempts and the exact body that was, or will be, sent.
//
// Codes of its errors: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, webhook_not_found.
func (r *DeliveriesResource) Get(ctx context.Context, webhookID string, deliveryID string, opts ...CallOption) (*DeliveryDetail, error) {
	var answer struct{ Data *DeliveryDetail }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/deliveries/" + escape(deliveryID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Redeliver: send a delivery again.
//
// Makes a new delivery with the same bytes, due at once and retried like any other, whatever became of the first
// one, which stays as it is. It goes to the present URL, signed with the present secret. `redeliveryOf` is always
// the original, also when you send a redelivery again. A test delivery can be sent again too, and is again attempted
// only once. You have 60 redeliveries a minute; to send many deliveries again, use `replay`.
//
// Codes of its errors: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable, webhook_disabled, webhook_not_found.
func (r *DeliveriesResource) Redeliver(ctx context.Context, webhookID string, deliveryID string, opts ...CallOption) (*Delivery, error) {
	var answer struct{ Data *Delivery }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/webhooks/" + escape(webhookID) + "/deliveries/" + escape(deliveryID) + "/redeliver"}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// EventsResource has the methods of Client.Events.
type EventsResource struct{ client *Client }

// ListEventsParams are the parameters of Events.List.
type ListEventsParams struct {
	// Only events of this name.
	Event EventName `json:"event,omitempty"`
	// Only events about this deposit.
	DepositID string `json:"depositId,omitempty"`
	// Only events created at or after this time.
	From time.Time `json:"from,omitempty"`
	// Only events created before this time.
	To time.Time `json:"to,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListEventsParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.Event != "" {
		query += "&event=" + escape(fmt.Sprint(p.Event))
	}
	if p.DepositID != "" {
		query += "&depositId=" + escape(fmt.Sprint(p.DepositID))
	}
	if !p.From.IsZero() {
		query += "&from=" + escape(fmt.Sprint(p.From.UTC().Format(time.RFC3339Nano)))
	}
	if !p.To.IsZero() {
		query += "&to=" + escape(fmt.Sprint(p.To.UTC().Format(time.RFC3339Nano)))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list events.
//
// Lists your events of the last 30 days, the newest first, whatever your subscriptions receive. To follow events
// without missing one, read the feed.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *EventsResource) List(ctx context.Context, params *ListEventsParams, opts ...CallOption) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		var p ListEventsParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *EventsResource) ListPage(ctx context.Context, params *ListEventsParams, opts ...CallOption) (*Page[Event], error) {
	page := &Page[Event]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/events" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// ReadFeedParams are the parameters of Events.Feed.
type ReadFeedParams struct {
	// The number of the last event that you have. Without it, the feed begins with the oldest event that is kept.
	After *int64 `json:"after,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// How long the answer may be held while there is no event, in seconds.
	WaitSeconds *int64 `json:"waitSeconds,omitempty"`
}

func (p *ReadFeedParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.After != nil {
		query += "&after=" + escape(fmt.Sprint(*p.After))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.WaitSeconds != nil {
		query += "&waitSeconds=" + escape(fmt.Sprint(*p.WaitSeconds))
	}
	return strings.Replace(query, "&", "?", 1)
}

// Feed: read the feed.
//
// Your events, numbered 1, 2, 3, … without a gap, the oldest first. Keep `nextAfter`, and send it as `after` of the
// next request: so you receive each event exactly once, and can prove that none is missing. With `waitSeconds` the
// answer is held until there is an event. When `feedId` differs from the one you keep, our database was restored
// from a backup: discard the answer and read anew, without `after`.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *EventsResource) Feed(ctx context.Context, params *ReadFeedParams, opts ...CallOption) (*Feed, error) {
	answer := &Feed{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/events/feed" + params.query()}, opts, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// Get: retrieve an event.
//
// Retrieves an event. Events are kept for 30 days.
//
// Codes of its errors: api_key_revoked, event_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *EventsResource) Get(ctx context.Context, eventID string, opts ...CallOption) (*Event, error) {
	var answer struct{ Data *Event }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/events/" + escape(eventID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// ClientsResource has the methods of Client.Clients.
type ClientsResource struct{ client *Client }

// Create: create a client.
//
// Creates a tenant of one of your linked accounts. Pass its id as `clientId` when you create a deposit on the same
// account: checkout is prefilled, and events name the person.
//
// Codes of its errors: account_not_linked, account_revoked, api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *ClientsResource) Create(ctx context.Context, params *CreateClientParams, opts ...CallOption) (*ClientRecord, error) {
	var answer struct{ Data *ClientRecord }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/clients", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// ListClientsParams are the parameters of Clients.List.
type ListClientsParams struct {
	// Only clients of this account.
	AccountID string `json:"accountId,omitempty"`
	// Only clients with this e-mail address; ASCII letters match in either case.
	Email string `json:"email,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListClientsParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.AccountID != "" {
		query += "&accountId=" + escape(fmt.Sprint(p.AccountID))
	}
	if p.Email != "" {
		query += "&email=" + escape(fmt.Sprint(p.Email))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list clients.
//
// Lists your clients at your linked accounts, the newest first: those that you created, and those that tenants brought to
// the checkouts of your deposits. Filters are combined. Erased clients are not listed. To answer a person who asks
// about their data, filter by `email`.
//
// Codes of its errors: account_revoked, api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *ClientsResource) List(ctx context.Context, params *ListClientsParams, opts ...CallOption) iter.Seq2[*ClientRecord, error] {
	return func(yield func(*ClientRecord, error) bool) {
		var p ListClientsParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *ClientsResource) ListPage(ctx context.Context, params *ListClientsParams, opts ...CallOption) (*Page[ClientRecord], error) {
	page := &Page[ClientRecord]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/clients" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Get: retrieve a client.
//
// Retrieves one of your clients. An erased client is not found.
//
// Codes of its errors: account_revoked, api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *ClientsResource) Get(ctx context.Context, clientID string, opts ...CallOption) (*ClientRecord, error) {
	var answer struct{ Data *ClientRecord }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/clients/" + escape(clientID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Update: update a client.
//
// Changes what you send and leaves the rest. `null` clears `phone` and `locale`. Deposits and later events show the new
// details; events that were made before do not change.
//
// Codes of its errors: account_revoked, api_key_revoked, client_not_found, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *ClientsResource) Update(ctx context.Context, clientID string, params *UpdateClientParams, opts ...CallOption) (*ClientRecord, error) {
	var answer struct{ Data *ClientRecord }
	if err := r.client.send(ctx, call{method: "PATCH", path: "/api/partner/v1/clients/" + escape(clientID), body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Delete: erase a client.
//
// Erases the person, at once and for good, whatever the status of their deposits and of the link to the account. Deposits
// keep `clientId` and lose `client`; later events carry `client: null`. Unsent mails to the person are removed. Events,
// deliveries and stored responses that were made before keep their bytes until their retention ends, 30 days at most
// for events. Again: 204.
//
// Codes of its errors: api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *ClientsResource) Delete(ctx context.Context, clientID string, opts ...CallOption) error {
	return r.client.send(ctx, call{method: "DELETE", path: "/api/partner/v1/clients/" + escape(clientID)}, opts, nil)
}

// DepositsResource has the methods of Client.Deposits.
type DepositsResource struct{ client *Client }

// Create: create a deposit.
//
// Creates a deposit for a linked account. It starts as `pending` and waits for the tenant.
//
// Set `depositUrlGeneration` to true to get a `depositUrl` back: send the tenant there. After checkout we redirect
// the tenant to your `returnUrl` with two more query parameters: `depositId`, and `depositStatus`, which is
// `secured`, `declined` or `abandoned`. That tells your page what to show; the authoritative status is the one you
// retrieve or hear by webhook.
//
// The request is checked in this order: JSON, idempotency key, shapes of the fields, the link to the account, then
// amount, dates, return URL and client.
//
// Codes of its errors: account_not_linked, account_revoked, amount_above_maximum, amount_below_minimum, api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_client, invalid_date_range, invalid_field, invalid_idempotency_key, invalid_json, invalid_return_url, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) Create(ctx context.Context, params *CreateDepositParams, opts ...CallOption) (*CreatedDeposit, error) {
	var answer struct{ Data *CreatedDeposit }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// ListDepositsParams are the parameters of Deposits.List.
type ListDepositsParams struct {
	// Only deposits of this account.
	AccountID string `json:"accountId,omitempty"`
	// Only deposits of the account that you know under this id.
	ExternalID string `json:"externalId,omitempty"`
	// Only deposits in one of these statuses, separated by commas.
	Status []DepositStatus `json:"status,omitempty"`
	// Only deposits with exactly this contract reference.
	RentalContract string `json:"rentalContract,omitempty"`
	// Only deposits of this client.
	ClientID string `json:"clientId,omitempty"`
	// Only deposits created at or after this time.
	CreatedFrom time.Time `json:"createdFrom,omitempty"`
	// Only deposits created before this time.
	CreatedTo time.Time `json:"createdTo,omitempty"`
	// How many items to return at most.
	Limit int64 `json:"limit,omitempty"`
	// The `nextCursor` of the page before. Leave out for the first page.
	Cursor string `json:"cursor,omitempty"`
}

func (p *ListDepositsParams) query() (query string) {
	if p == nil {
		return ""
	}
	if p.AccountID != "" {
		query += "&accountId=" + escape(fmt.Sprint(p.AccountID))
	}
	if p.ExternalID != "" {
		query += "&externalId=" + escape(fmt.Sprint(p.ExternalID))
	}
	if p.Status != nil {
		var list []string
		for _, value := range p.Status {
			list = append(list, string(value))
		}
		query += "&status=" + escape(strings.Join(list, ","))
	}
	if p.RentalContract != "" {
		query += "&rentalContract=" + escape(fmt.Sprint(p.RentalContract))
	}
	if p.ClientID != "" {
		query += "&clientId=" + escape(fmt.Sprint(p.ClientID))
	}
	if !p.CreatedFrom.IsZero() {
		query += "&createdFrom=" + escape(fmt.Sprint(p.CreatedFrom.UTC().Format(time.RFC3339Nano)))
	}
	if !p.CreatedTo.IsZero() {
		query += "&createdTo=" + escape(fmt.Sprint(p.CreatedTo.UTC().Format(time.RFC3339Nano)))
	}
	if p.Limit != 0 {
		query += "&limit=" + escape(fmt.Sprint(p.Limit))
	}
	if p.Cursor != "" {
		query += "&cursor=" + escape(fmt.Sprint(p.Cursor))
	}
	return strings.Replace(query, "&", "?", 1)
}

// List: list deposits.
//
// Lists your deposits, the newest first. Filters are combined: a deposit must match all of them.
//
// Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
func (r *DepositsResource) List(ctx context.Context, params *ListDepositsParams, opts ...CallOption) iter.Seq2[*Deposit, error] {
	return func(yield func(*Deposit, error) bool) {
		var p ListDepositsParams
		if params != nil {
			p = *params
		}
		for more := true; more; {
			page, err := r.ListPage(ctx, &p, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Data {
				if !yield(&page.Data[i], nil) {
					return
				}
			}
			p.Cursor, more = page.Pagination.NextCursor, page.Pagination.HasMore
		}
	}
}

// ListPage gives one page of List: the first, or that of params.Cursor.
func (r *DepositsResource) ListPage(ctx context.Context, params *ListDepositsParams, opts ...CallOption) (*Page[Deposit], error) {
	page := &Page[Deposit]{}
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/deposits" + params.query(), paged: true}, opts, page); err != nil {
		return nil, err
	}
	return page, nil
}

// Get: retrieve a deposit.
//
// Retrieves a deposit as it is now. `status` is authoritative: use this to catch up after missed events.
//
// Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_found, internal_error, invalid_api_key, missing_api_key, rate_limited, service_unavailable.
func (r *DepositsResource) Get(ctx context.Context, depositID string, opts ...CallOption) (*Deposit, error) {
	var answer struct{ Data *Deposit }
	if err := r.client.send(ctx, call{method: "GET", path: "/api/partner/v1/deposits/" + escape(depositID)}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Cancel: cancel a deposit.
//
// Voids a deposit that the tenant has not secured yet: `pending`, `incomplete` or `payment_issue`. The checkout URL
// stops working. This also works after the link to the account was revoked.
//
// Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) Cancel(ctx context.Context, depositID string, params *CancelDepositParams, opts ...CallOption) (*Deposit, error) {
	var answer struct{ Data *Deposit }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits/" + escape(depositID) + "/cancel", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Release: release a deposit.
//
// Ends the cover of an active deposit early, without a claim. The status becomes `close`, and the tenant can no longer
// be charged. This cannot be undone.
//
// Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found, deposit_not_releasable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) Release(ctx context.Context, depositID string, params *ReleaseDepositParams, opts ...CallOption) (*Deposit, error) {
	var answer struct{ Data *Deposit }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits/" + escape(depositID) + "/release", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Capture: capture a deposit.
//
// Collects an active deposit after damage, all of it or a part, once and before `expiresAt`. The status becomes
// `captured` at once: the operator holds a guarantee. Collecting from the tenant follows; `collection` tells how far it is.
//
// Codes of its errors: account_revoked, api_key_revoked, capture_below_minimum, capture_exceeds_amount, deposit_access_denied, deposit_not_capturable, deposit_not_found, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) Capture(ctx context.Context, depositID string, params *CaptureDepositParams, opts ...CallOption) (*Deposit, error) {
	var answer struct{ Data *Deposit }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits/" + escape(depositID) + "/capture", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// SendLink: mail the checkout link to a tenant.
//
// Mails the link to the checkout of a deposit that the tenant can still secure. The link works whether or not the deposit
// was created with `depositUrlGeneration`. The mail names you, the operator's company, the amount and the rental period.
//
// A deposit's link goes to an address 5 times at most within 24 hours, and 60 times to all addresses. Over all deposits
// you mail an address 10 links at most within 24 hours; the count begins anew once the tenant opens a mailed link. An
// address that has got 30 links from everybody gets no more from who sent three or more. Beyond these limits the answer
// is `rate_limited`, with the wait in `Retry-After`.
//
// Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found, deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) SendLink(ctx context.Context, depositID string, params *SendLinkParams, opts ...CallOption) (*LinkMail, error) {
	var answer struct{ Data *LinkMail }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits/" + escape(depositID) + "/send-link", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// SendLinkBatch: mail the checkout link to several people.
//
// Does as `send-link` for up to 20 recipients. Either every mail is queued or none: one bad recipient refuses the
// request, and so does an address that occurs twice.
//
// Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found, deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
func (r *DepositsResource) SendLinkBatch(ctx context.Context, depositID string, params *SendLinkBatchParams, opts ...CallOption) ([]LinkMail, error) {
	var answer struct{ Data []LinkMail }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/deposits/" + escape(depositID) + "/send-link/batch", body: params.body(), keyed: true}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// TestResource has the methods of Client.Test.
type TestResource struct{ client *Client }

// Simulate: simulate what a tenant does.
//
// Moves a deposit as the tenant or the passing of time would, with all that follows from it: status, events and
// deliveries. Exists in development and staging only; in production the answer is `route_not_found`.
//
// | Outcome | What happens | Becomes |
// |---|---|---|
// | `start` | The tenant starts checkout and goes no further | still `pending`; `incomplete` once it was idle for 30 minutes |
// | `activate` | The tenant secures the deposit | `active` |
// | `decline` | Scoring refuses the tenant | `cancelled` |
// | `abandon` | The tenant gives up | `cancelled` |
// | `fail_payment` | The fee cannot be charged | `payment_issue` |
// | `expire` | Coverage of an active deposit ends, or the checkout of one that is not secured | `close`, `cancelled` |
//
// Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found, deposit_not_releasable, deposit_not_securable, internal_error, invalid_api_key, invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, route_not_found, service_unavailable, unknown_field, unsupported_media_type.
func (r *TestResource) Simulate(ctx context.Context, depositID string, params *SimulateDepositParams, opts ...CallOption) (*Deposit, error) {
	var answer struct{ Data *Deposit }
	if err := r.client.send(ctx, call{method: "POST", path: "/api/partner/v1/test/deposits/" + escape(depositID) + "/simulate", body: params.body()}, opts, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// Me: the partner that an API key belongs to.
type Me struct {
	Object
	// Your id.
	PartnerID string `json:"partnerId"`
	// Your slug in connect URLs.
	Slug string `json:"slug"`
	// Your name as operators see it.
	Name string `json:"name"`
	// The installation that answered.
	// One of development, staging, production.
	Environment string `json:"environment"`
	// The id of the API key you used.
	KeyID string `json:"keyId"`
	// Your rate limits.
	Limits MeLimits `json:"limits"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Me) UnmarshalJSON(text []byte) error {
	type plain Me
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// CreateAPIKeyParams are the parameters of a request.
type CreateAPIKeyParams struct {
	// What the key is for, in one line. Names may repeat.
	Name string `json:"name"`
}

func (p *CreateAPIKeyParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Name != "" {
		body["name"] = p.Name
	}
	return body
}

// APIKey: a credential of yours, without the key itself.
type APIKey struct {
	Object
	// The id of the key.
	ID string `json:"id"`
	// What the key is for.
	Name string `json:"name"`
	// The beginning of the key, which names its environment.
	Prefix string `json:"prefix"`
	// The last four characters of the key.
	Last4 string `json:"last4"`
	// When the key was created.
	CreatedAt time.Time `json:"createdAt"`
	// When the key was last used, to about a minute. Absent if it never was.
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"`
	// When the key was deleted. Absent while it works.
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *APIKey) UnmarshalJSON(text []byte) error {
	type plain APIKey
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// CreatedAPIKey: a new key.
type CreatedAPIKey struct {
	Object
	// The id of the key.
	ID string `json:"id"`
	// What the key is for.
	Name string `json:"name"`
	// The beginning of the key, which names its environment.
	Prefix string `json:"prefix"`
	// The last four characters of the key.
	Last4 string `json:"last4"`
	// When the key was created.
	CreatedAt time.Time `json:"createdAt"`
	// The key itself. Shown this once.
	Key string `json:"key"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *CreatedAPIKey) UnmarshalJSON(text []byte) error {
	type plain CreatedAPIKey
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Account: the account of a rental operator who is or was linked to you.
type Account struct {
	Object
	// The id of the operator's account; you need it to create deposits.
	AccountID string `json:"accountId"`
	// Your own id of the operator, from the connect URL.
	ExternalID string `json:"externalId"`
	// `active`: you may create deposits. `revoked`: you may still read and cancel those you made.
	Status LinkStatus `json:"status"`
	// When the link was made.
	LinkedAt time.Time `json:"linkedAt"`
	// When the link ended. Only on revoked links.
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	// What deposits of this account may amount to, bounds included.
	Limits AccountLimits `json:"limits"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Account) UnmarshalJSON(text []byte) error {
	type plain Account
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// `active`: you may create deposits. `revoked`: you may still read and cancel those you made.
type LinkStatus string

const (
	LinkStatusActive  LinkStatus = "active"
	LinkStatusRevoked LinkStatus = "revoked"
)

// AccountLimits: what deposits of this account may amount to, bounds included.
type AccountLimits struct {
	Object
	// The least amount, in cents.
	MinAmountCents int64 `json:"minAmountCents"`
	// The operator's ceiling, in cents.
	MaxAmountCents int64 `json:"maxAmountCents"`
	// Always `EUR`.
	Currency Currency `json:"currency"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *AccountLimits) UnmarshalJSON(text []byte) error {
	type plain AccountLimits
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Always `EUR`.
type Currency string

const (
	CurrencyEUR Currency = "EUR"
)

// The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
// subscription has no more specific event.
type EventName string

const (
	EventNameRentalOperatorLinked EventName = "rental_operator.linked"
	EventNameDepositStatusChanged EventName = "deposit.status_changed"
	EventNameDepositActivated     EventName = "deposit.activated"
	EventNameDepositCaptured      EventName = "deposit.captured"
	EventNameDepositExpired       EventName = "deposit.expired"
	EventNameDepositCancelled     EventName = "deposit.cancelled"
)

// CreateWebhookParams are the parameters of a request.
type CreateWebhookParams struct {
	// Your endpoint. Must be https and publicly reachable, and not at a port of another service, such as 22 or 25.
	URL string `json:"url"`
	// What to send. Leave out for all events.
	Events []EventName `json:"events,omitempty"`
	// Which signatures deliveries carry: `svc` is ours and cannot be left out; with `standard` they carry the headers of
	// Standard Webhooks beside it. Leave out for ours alone.
	Signatures []SignatureKind `json:"signatures,omitempty"`
}

func (p *CreateWebhookParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.URL != "" {
		body["url"] = p.URL
	}
	if p.Events != nil {
		body["events"] = p.Events
	}
	if p.Signatures != nil {
		body["signatures"] = p.Signatures
	}
	return body
}

// `svc`: `X-Svc-Timestamp` and `X-Svc-Signature`. `standard`: `webhook-id`, `webhook-timestamp` and `webhook-signature`
// beside them, for libraries of Standard Webhooks.
type SignatureKind string

const (
	SignatureKindSvc      SignatureKind = "svc"
	SignatureKindStandard SignatureKind = "standard"
)

// UpdateWebhookParams are the parameters of a request.
type UpdateWebhookParams struct {
	// The new endpoint.
	URL *string `json:"url,omitempty"`
	// The new list of events, replacing the old one.
	Events []EventName `json:"events,omitempty"`
	// The new list of signatures, replacing the old one; it has `svc`.
	Signatures []SignatureKind `json:"signatures,omitempty"`
	// Whether deliveries go out. While false, they wait.
	Enabled *bool `json:"enabled,omitempty"`
}

func (p *UpdateWebhookParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.URL != nil {
		body["url"] = *p.URL
	}
	if p.Events != nil {
		body["events"] = p.Events
	}
	if p.Signatures != nil {
		body["signatures"] = p.Signatures
	}
	if p.Enabled != nil {
		body["enabled"] = *p.Enabled
	}
	return body
}

// Webhook: a subscription of one of your endpoints to events.
type Webhook struct {
	Object
	// The id of the subscription.
	ID string `json:"id"`
	// The endpoint.
	URL string `json:"url"`
	// What is sent to it.
	Events []EventName `json:"events"`
	// Which signatures deliveries carry.
	Signatures []SignatureKind `json:"signatures"`
	// Whether deliveries go out.
	Enabled bool `json:"enabled"`
	// Why deliveries do not go out. Only while disabled.
	// One of disabled_by_partner, failing_for_five_days.
	DisabledReason string `json:"disabledReason,omitempty"`
	// When the subscription was created.
	CreatedAt time.Time `json:"createdAt"`
	// How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for an
	// attempt, are being sent, or are parked because the subscription is disabled.
	Health EndpointHealth `json:"health"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Webhook) UnmarshalJSON(text []byte) error {
	type plain Webhook
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// EndpointHealth: how the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for an
// attempt, are being sent, or are parked because the subscription is disabled.
type EndpointHealth struct {
	Object
	// `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the last
	// success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and more go
	// out. `disabled`: by you, or after five days of failures.
	State EndpointState `json:"state"`
	// When the state began.
	Since time.Time `json:"since"`
	// When the endpoint last took a delivery. While deliveries succeed, up to ten seconds behind.
	LastSuccessAt *time.Time `json:"lastSuccessAt,omitempty"`
	// When an attempt last failed.
	LastFailureAt *time.Time `json:"lastFailureAt,omitempty"`
	// Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
	// reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port belongs to another service.
	// `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
	LastError AttemptError `json:"lastError,omitempty"`
	// How many deliveries have not ended.
	Pending int64 `json:"pending"`
	// True, and only then there: more than 10,000 deliveries have not ended.
	PendingCapped bool `json:"pendingCapped,omitempty"`
	// When the oldest of them was created.
	OldestPendingAt *time.Time `json:"oldestPendingAt,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *EndpointHealth) UnmarshalJSON(text []byte) error {
	type plain EndpointHealth
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the last
// success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and more go
// out. `disabled`: by you, or after five days of failures.
type EndpointState string

const (
	EndpointStateHealthy  EndpointState = "healthy"
	EndpointStateFailing  EndpointState = "failing"
	EndpointStateHeld     EndpointState = "held"
	EndpointStateDisabled EndpointState = "disabled"
)

// CreatedWebhook: a new subscription with its signing secret.
type CreatedWebhook struct {
	Object
	// The id of the subscription.
	ID string `json:"id"`
	// The endpoint.
	URL string `json:"url"`
	// What is sent to it.
	Events []EventName `json:"events"`
	// Which signatures deliveries carry.
	Signatures []SignatureKind `json:"signatures"`
	// Whether deliveries go out.
	Enabled bool `json:"enabled"`
	// When the subscription was created.
	CreatedAt time.Time `json:"createdAt"`
	// How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for an
	// attempt, are being sent, or are parked because the subscription is disabled.
	Health EndpointHealth `json:"health"`
	// The signing secret. Shown this once.
	Secret string `json:"secret"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *CreatedWebhook) UnmarshalJSON(text []byte) error {
	type plain CreatedWebhook
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// RotatedSecret: a subscription with its new signing secret.
type RotatedSecret struct {
	Object
	// The id of the subscription.
	ID string `json:"id"`
	// The endpoint.
	URL string `json:"url"`
	// What is sent to it.
	Events []EventName `json:"events"`
	// The new signing secret. Shown this once.
	Secret string `json:"secret"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *RotatedSecret) UnmarshalJSON(text []byte) error {
	type plain RotatedSecret
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
// answered 2xx. `failed`: given up.
type DeliveryStatus string

const (
	DeliveryStatusPending   DeliveryStatus = "pending"
	DeliveryStatusRetrying  DeliveryStatus = "retrying"
	DeliveryStatusSucceeded DeliveryStatus = "succeeded"
	DeliveryStatusFailed    DeliveryStatus = "failed"
)

// Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
// `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
// `webhook_deleted`: the subscription was deleted.
type FailureReason string

const (
	FailureReasonAttemptsExhausted FailureReason = "attempts_exhausted"
	FailureReasonWebhookDisabled   FailureReason = "webhook_disabled"
	FailureReasonWebhookDeleted    FailureReason = "webhook_deleted"
)

// Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
// reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port belongs to another service.
// `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
type AttemptError string

const (
	AttemptErrorTimeout  AttemptError = "timeout"
	AttemptErrorDns      AttemptError = "dns"
	AttemptErrorConnect  AttemptError = "connect"
	AttemptErrorTls      AttemptError = "tls"
	AttemptErrorNon2xx   AttemptError = "non_2xx"
	AttemptErrorRedirect AttemptError = "redirect"
	AttemptErrorBlocked  AttemptError = "blocked"
	AttemptErrorSecret   AttemptError = "secret"
)

// DeliveryAttempt: one attempt to deliver.
type DeliveryAttempt struct {
	Object
	// Counts from 1.
	Number int64 `json:"number"`
	// When the attempt began.
	StartedAt time.Time `json:"startedAt"`
	// How long it took, in milliseconds.
	DurationMs int64 `json:"durationMs"`
	// The HTTP status your endpoint answered with, if it did.
	ResponseStatus int64 `json:"responseStatus,omitempty"`
	// The beginning of what it answered, at most 1 KiB.
	ResponseSnippet string `json:"responseSnippet,omitempty"`
	// Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
	// reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port belongs to another service.
	// `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
	Error AttemptError `json:"error,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *DeliveryAttempt) UnmarshalJSON(text []byte) error {
	type plain DeliveryAttempt
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Delivery: one event on its way to one subscription.
type Delivery struct {
	Object
	// The id of the delivery.
	ID string `json:"id"`
	// The subscription it goes to.
	WebhookID string `json:"webhookId"`
	// The id of the event.
	EventID string `json:"eventId"`
	// The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
	// subscription has no more specific event.
	Event EventName `json:"event"`
	// The deposit it is about. Absent for `rental_operator.linked`.
	DepositID string `json:"depositId,omitempty"`
	// Whether this is a test you asked for.
	Test bool `json:"test"`
	// `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
	// answered 2xx. `failed`: given up.
	Status DeliveryStatus `json:"status"`
	// How many attempts were made.
	AttemptCount int64 `json:"attemptCount"`
	// When the next attempt is due. Absent when none is.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// When the delivery was created.
	CreatedAt time.Time `json:"createdAt"`
	// When your endpoint answered 2xx.
	DeliveredAt *time.Time `json:"deliveredAt,omitempty"`
	// Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
	// `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
	// `webhook_deleted`: the subscription was deleted.
	FailureReason FailureReason `json:"failureReason,omitempty"`
	// The delivery that this one repeats.
	RedeliveryOf string `json:"redeliveryOf,omitempty"`
	// SHA-256 of the body in hex, the same on every attempt.
	BodySHA256 string `json:"bodySha256"`
	// All attempts, the oldest first.
	Attempts []DeliveryAttempt `json:"attempts"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Delivery) UnmarshalJSON(text []byte) error {
	type plain Delivery
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// DeliveryDetail: a delivery with the body it carries.
type DeliveryDetail struct {
	Object
	// The id of the delivery.
	ID string `json:"id"`
	// The subscription it goes to.
	WebhookID string `json:"webhookId"`
	// The id of the event.
	EventID string `json:"eventId"`
	// The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
	// subscription has no more specific event.
	Event EventName `json:"event"`
	// The deposit it is about. Absent for `rental_operator.linked`.
	DepositID string `json:"depositId,omitempty"`
	// Whether this is a test you asked for.
	Test bool `json:"test"`
	// `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
	// answered 2xx. `failed`: given up.
	Status DeliveryStatus `json:"status"`
	// How many attempts were made.
	AttemptCount int64 `json:"attemptCount"`
	// When the next attempt is due. Absent when none is.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// When the delivery was created.
	CreatedAt time.Time `json:"createdAt"`
	// When your endpoint answered 2xx.
	DeliveredAt *time.Time `json:"deliveredAt,omitempty"`
	// Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
	// `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
	// `webhook_deleted`: the subscription was deleted.
	FailureReason FailureReason `json:"failureReason,omitempty"`
	// The delivery that this one repeats.
	RedeliveryOf string `json:"redeliveryOf,omitempty"`
	// SHA-256 of the body in hex, the same on every attempt.
	BodySHA256 string `json:"bodySha256"`
	// All attempts, the oldest first.
	Attempts []DeliveryAttempt `json:"attempts"`
	// The exact body, to the byte, as a string.
	Body string `json:"body"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *DeliveryDetail) UnmarshalJSON(text []byte) error {
	type plain DeliveryDetail
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// ExplainWebhookParams are the parameters of a request.
type ExplainWebhookParams struct {
	// The headers as your endpoint received them, in any case; `X-Svc-Signature` and `X-Svc-Timestamp` are read. Join the
	// values of a header that came more than once with a comma.
	Headers map[string]string `json:"headers"`
	// The body as your endpoint received it, in base64.
	Body string `json:"body"`
	// The signature that your endpoint computed, as it compared it.
	Computed string `json:"computed,omitempty"`
}

func (p *ExplainWebhookParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Headers != nil {
		body["headers"] = p.Headers
	}
	if p.Body != "" {
		body["body"] = p.Body
	}
	if p.Computed != "" {
		body["computed"] = p.Computed
	}
	return body
}

// WebhookExplanation: why a delivery does not verify.
type WebhookExplanation struct {
	Object
	// Whether the signature verifies now, and was computed right if you sent it.
	Valid bool `json:"valid"`
	// Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or none of
	// our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`, `future`: the
	// timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds. `body_reserialized`: the body
	// was parsed and written again. `body_changed`: it was changed otherwise. `header_changed`: the body is that of the
	// delivery, and its signature or timestamp is not. `other_subscription_secret`: the secret is that of another
	// subscription. `wrong_secret_kind`: it is the connect secret or an API key, or a part of the secret.
	// `secret_whitespace`: the secret has white space around it. `order`: the signed message is put together otherwise.
	// `invalid_json`: the body is no JSON object. `mismatch`: none of these. `valid`: nothing is wrong.
	Cause SignatureCause `json:"cause"`
	// The cause in words, with the remedy.
	Message string `json:"message"`
	// The delivery that was received, where it is found.
	DeliveryID string `json:"deliveryId,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *WebhookExplanation) UnmarshalJSON(text []byte) error {
	type plain WebhookExplanation
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or none of
// our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`, `future`: the
// timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds. `body_reserialized`: the body
// was parsed and written again. `body_changed`: it was changed otherwise. `header_changed`: the body is that of the
// delivery, and its signature or timestamp is not. `other_subscription_secret`: the secret is that of another
// subscription. `wrong_secret_kind`: it is the connect secret or an API key, or a part of the secret.
// `secret_whitespace`: the secret has white space around it. `order`: the signed message is put together otherwise.
// `invalid_json`: the body is no JSON object. `mismatch`: none of these. `valid`: nothing is wrong.
type SignatureCause string

const (
	SignatureCauseValid                   SignatureCause = "valid"
	SignatureCauseMissingHeader           SignatureCause = "missing_header"
	SignatureCauseMalformedHeader         SignatureCause = "malformed_header"
	SignatureCausePrefixMissing           SignatureCause = "prefix_missing"
	SignatureCauseUpperCase               SignatureCause = "upper_case"
	SignatureCauseBase64                  SignatureCause = "base64"
	SignatureCauseStale                   SignatureCause = "stale"
	SignatureCauseFuture                  SignatureCause = "future"
	SignatureCauseMilliseconds            SignatureCause = "milliseconds"
	SignatureCauseBodyReserialized        SignatureCause = "body_reserialized"
	SignatureCauseBodyChanged             SignatureCause = "body_changed"
	SignatureCauseHeaderChanged           SignatureCause = "header_changed"
	SignatureCauseOtherSubscriptionSecret SignatureCause = "other_subscription_secret"
	SignatureCauseWrongSecretKind         SignatureCause = "wrong_secret_kind"
	SignatureCauseSecretWhitespace        SignatureCause = "secret_whitespace"
	SignatureCauseOrder                   SignatureCause = "order"
	SignatureCauseInvalidJson             SignatureCause = "invalid_json"
	SignatureCauseMismatch                SignatureCause = "mismatch"
)

// ExplainConnectParams are the parameters of a request.
type ExplainConnectParams struct {
	// The connect URL as you gave it to the operator.
	URL string `json:"url"`
}

func (p *ExplainConnectParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.URL != "" {
		body["url"] = p.URL
	}
	return body
}

// ConnectExplanation: why a connect URL is refused.
type ConnectExplanation struct {
	Object
	// Whether our pages accept the URL.
	Valid bool `json:"valid"`
	// Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there. `malformed_parameter`:
	// one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours. `missing_connect_secret`: you
	// have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise. `wrong_secret_kind`: the secret is a
	// signing secret or an API key, or a part of the connect secret. `secret_whitespace`: it has white space around it.
	// `order`: the signed message is put together otherwise. `milliseconds`: ts is not in seconds. `ts_changed`: another ts
	// was signed. `encoding`: external_id was encoded twice, or not at all. `mismatch`: the signature does not match, for none
	// of these reasons. `stale`, `future`: ts is more than 30 days away. `revoked`: the link was ended after ts. `valid`:
	// nothing is wrong.
	Cause ConnectCause `json:"cause"`
	// The cause in words, with the remedy.
	Message string `json:"message"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *ConnectExplanation) UnmarshalJSON(text []byte) error {
	type plain ConnectExplanation
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there. `malformed_parameter`:
// one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours. `missing_connect_secret`: you
// have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise. `wrong_secret_kind`: the secret is a
// signing secret or an API key, or a part of the connect secret. `secret_whitespace`: it has white space around it.
// `order`: the signed message is put together otherwise. `milliseconds`: ts is not in seconds. `ts_changed`: another ts
// was signed. `encoding`: external_id was encoded twice, or not at all. `mismatch`: the signature does not match, for none
// of these reasons. `stale`, `future`: ts is more than 30 days away. `revoked`: the link was ended after ts. `valid`:
// nothing is wrong.
type ConnectCause string

const (
	ConnectCauseValid                ConnectCause = "valid"
	ConnectCauseMissingParameter     ConnectCause = "missing_parameter"
	ConnectCauseMalformedParameter   ConnectCause = "malformed_parameter"
	ConnectCauseWrongPartner         ConnectCause = "wrong_partner"
	ConnectCauseMissingConnectSecret ConnectCause = "missing_connect_secret"
	ConnectCauseUpperCase            ConnectCause = "upper_case"
	ConnectCauseBase64               ConnectCause = "base64"
	ConnectCausePrefixUnexpected     ConnectCause = "prefix_unexpected"
	ConnectCauseWrongSecretKind      ConnectCause = "wrong_secret_kind"
	ConnectCauseSecretWhitespace     ConnectCause = "secret_whitespace"
	ConnectCauseOrder                ConnectCause = "order"
	ConnectCauseMilliseconds         ConnectCause = "milliseconds"
	ConnectCauseTsChanged            ConnectCause = "ts_changed"
	ConnectCauseEncoding             ConnectCause = "encoding"
	ConnectCauseMismatch             ConnectCause = "mismatch"
	ConnectCauseStale                ConnectCause = "stale"
	ConnectCauseFuture               ConnectCause = "future"
	ConnectCauseRevoked              ConnectCause = "revoked"
)

// ReplayParams are the parameters of a request.
type ReplayParams struct {
	// Deliveries created at or after this time …
	From time.Time `json:"from"`
	// … and before this one.
	To time.Time `json:"to"`
	// `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
	// answered 2xx. `failed`: given up.
	Status DeliveryStatus `json:"status,omitempty"`
}

func (p *ReplayParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if !p.From.IsZero() {
		body["from"] = p.From.UTC().Format(time.RFC3339Nano)
	}
	if !p.To.IsZero() {
		body["to"] = p.To.UTC().Format(time.RFC3339Nano)
	}
	if p.Status != "" {
		body["status"] = p.Status
	}
	return body
}

// Replay: deliveries that are being sent again.
type Replay struct {
	Object
	// The id of the replay. Quote it to support.
	ReplayID string `json:"replayId"`
	// How many deliveries match now, among the oldest 10,000 of the span; where failed ones are sent again, among the
	// oldest 10,000 failed ones. The replay goes on behind them.
	Matched int64 `json:"matched"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Replay) UnmarshalJSON(text []byte) error {
	type plain Replay
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// CreateClientParams are the parameters of a request.
type CreateClientParams struct {
	// A linked account.
	AccountID string `json:"accountId"`
	// The tenant's e-mail address.
	Email string `json:"email"`
	// The tenant's first name.
	FirstName string `json:"firstName"`
	// The tenant's last name.
	LastName string `json:"lastName"`
	// The tenant's phone number in E.164 form, such as `+33612345678`.
	Phone string `json:"phone,omitempty"`
	// The language to address the tenant in, such as `fr` or `en-GB`.
	Locale string `json:"locale,omitempty"`
}

func (p *CreateClientParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.AccountID != "" {
		body["accountId"] = p.AccountID
	}
	if p.Email != "" {
		body["email"] = p.Email
	}
	if p.FirstName != "" {
		body["firstName"] = p.FirstName
	}
	if p.LastName != "" {
		body["lastName"] = p.LastName
	}
	if p.Phone != "" {
		body["phone"] = p.Phone
	}
	if p.Locale != "" {
		body["locale"] = p.Locale
	}
	return body
}

// ClientRecord: a tenant of one account.
type ClientRecord struct {
	Object
	// The id of the client.
	ID string `json:"id"`
	// The account it belongs to.
	AccountID string `json:"accountId"`
	// The tenant's e-mail address.
	Email string `json:"email"`
	// The tenant's first name.
	FirstName string `json:"firstName"`
	// The tenant's last name.
	LastName string `json:"lastName"`
	// The tenant's phone number in E.164 form.
	Phone string `json:"phone,omitempty"`
	// The language to address the tenant in.
	Locale string `json:"locale,omitempty"`
	// When the client was created.
	CreatedAt time.Time `json:"createdAt"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *ClientRecord) UnmarshalJSON(text []byte) error {
	type plain ClientRecord
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// UpdateClientParams are the parameters of a request.
type UpdateClientParams struct {
	// The tenant's new e-mail address.
	Email *string `json:"email,omitempty"`
	// The tenant's new first name.
	FirstName *string `json:"firstName,omitempty"`
	// The tenant's new last name.
	LastName *string `json:"lastName,omitempty"`
	// The new phone number in E.164 form; null clears it.
	Phone Nullable[string] `json:"phone,omitempty"`
	// The new language to address the tenant in; null clears it.
	Locale Nullable[string] `json:"locale,omitempty"`
}

func (p *UpdateClientParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Email != nil {
		body["email"] = *p.Email
	}
	if p.FirstName != nil {
		body["firstName"] = *p.FirstName
	}
	if p.LastName != nil {
		body["lastName"] = *p.LastName
	}
	if p.Phone != nil {
		body["phone"] = p.Phone
	}
	if p.Locale != nil {
		body["locale"] = p.Locale
	}
	return body
}

// Where a deposit stands. See the table of statuses.
type DepositStatus string

const (
	DepositStatusPending      DepositStatus = "pending"
	DepositStatusIncomplete   DepositStatus = "incomplete"
	DepositStatusActive       DepositStatus = "active"
	DepositStatusCancelled    DepositStatus = "cancelled"
	DepositStatusPaymentIssue DepositStatus = "payment_issue"
	DepositStatusClose        DepositStatus = "close"
	DepositStatusCaptured     DepositStatus = "captured"
)

// Why a deposit came to its status, where there is more to say.
type StatusReason string

const (
	StatusReasonCheckoutIdle    StatusReason = "checkout_idle"
	StatusReasonFeeFailed       StatusReason = "fee_failed"
	StatusReasonTenantDeclined  StatusReason = "tenant_declined"
	StatusReasonTenantAbandoned StatusReason = "tenant_abandoned"
	StatusReasonByOperator      StatusReason = "by_operator"
	StatusReasonByPartner       StatusReason = "by_partner"
	StatusReasonCheckoutExpired StatusReason = "checkout_expired"
	StatusReasonCoverageElapsed StatusReason = "coverage_elapsed"
	StatusReasonReleased        StatusReason = "released"
	StatusReasonClaim           StatusReason = "claim"
)

// CreateDepositParams are the parameters of a request.
type CreateDepositParams struct {
	// The account to secure the deposit for; it must be linked to you.
	AccountID string `json:"accountId"`
	// The amount in **euros**, not cents, with at most two decimals: at least 70.00 and at most the operator's
	// ceiling, which is 2500.00 unless negotiated. Read exactly, never through a float.
	Amount Money `json:"amount"`
	// When the rental begins. May be in the past.
	ContractStartAt time.Time `json:"contractStartAt"`
	// When the rental ends: in the future, and not before it begins.
	ContractEndAt time.Time `json:"contractEndAt"`
	// Your booking or contract reference.
	RentalContract string `json:"rentalContract,omitempty"`
	// The id of a client that you created on the same account.
	ClientID string `json:"clientId,omitempty"`
	// Whether to return a checkout URL for the tenant.
	DepositURLGeneration bool `json:"depositUrlGeneration,omitempty"`
	// Where the tenant is redirected after checkout: https, or http on localhost; at most 2048 characters.
	// Required when `depositUrlGeneration` is true.
	ReturnURL string `json:"returnUrl,omitempty"`
	// Always `EUR`.
	Currency Currency `json:"currency,omitempty"`
	// Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and make nothing of
	// them.
	Metadata map[string]string `json:"metadata,omitempty"`
	// The language of checkout, such as `fr` or `en-GB`.
	Locale string `json:"locale,omitempty"`
}

func (p *CreateDepositParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.AccountID != "" {
		body["accountId"] = p.AccountID
	}
	body["amount"] = p.Amount
	if !p.ContractStartAt.IsZero() {
		body["contractStartAt"] = p.ContractStartAt.UTC().Format(time.RFC3339Nano)
	}
	if !p.ContractEndAt.IsZero() {
		body["contractEndAt"] = p.ContractEndAt.UTC().Format(time.RFC3339Nano)
	}
	if p.RentalContract != "" {
		body["rentalContract"] = p.RentalContract
	}
	if p.ClientID != "" {
		body["clientId"] = p.ClientID
	}
	if p.DepositURLGeneration {
		body["depositUrlGeneration"] = p.DepositURLGeneration
	}
	if p.ReturnURL != "" {
		body["returnUrl"] = p.ReturnURL
	}
	if p.Currency != "" {
		body["currency"] = p.Currency
	}
	if p.Metadata != nil {
		body["metadata"] = p.Metadata
	}
	if p.Locale != "" {
		body["locale"] = p.Locale
	}
	return body
}

// CreatedDeposit: what a deposit is created with.
type CreatedDeposit struct {
	Object
	// The id of the deposit.
	ID string `json:"id"`
	// A short reference for people, easy to read aloud.
	Reference string `json:"reference"`
	// Where a deposit stands. See the table of statuses.
	Status DepositStatus `json:"status"`
	// The tenant's checkout URL. Only with `depositUrlGeneration`.
	DepositURL string `json:"depositUrl,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *CreatedDeposit) UnmarshalJSON(text []byte) error {
	type plain CreatedDeposit
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Deposit: a deposit that secures one rental.
type Deposit struct {
	Object
	// The id of the deposit.
	ID string `json:"id"`
	// A short reference for people, easy to read aloud.
	Reference string `json:"reference"`
	// Where a deposit stands. See the table of statuses.
	Status DepositStatus `json:"status"`
	// Why a deposit came to its status, where there is more to say.
	StatusReason StatusReason `json:"statusReason,omitempty"`
	// The account it is made for.
	AccountID string `json:"accountId"`
	// Your own id of the operator.
	ExternalID string `json:"externalId"`
	// The amount in euros.
	Amount Money `json:"amount"`
	// The amount in cents.
	AmountCents int64 `json:"amountCents"`
	// Always `EUR`.
	Currency Currency `json:"currency"`
	// How much was captured, in cents; 0 unless captured.
	CapturedAmountCents int64 `json:"capturedAmountCents"`
	// When the rental begins.
	ContractStartAt time.Time `json:"contractStartAt"`
	// When the rental ends.
	ContractEndAt time.Time `json:"contractEndAt"`
	// Your booking or contract reference; empty when you gave none.
	RentalContract string `json:"rentalContract"`
	// The client it was created for; also after the client was erased. Absent, as `client` is, from a deposit that you did not create once your link to the account has ended.
	ClientID string `json:"clientId,omitempty"`
	// The tenant, as far as known. Absent once the client was erased.
	Client *DepositClient `json:"client,omitempty"`
	// The tenant's checkout URL. Only with `depositUrlGeneration`.
	DepositURL string `json:"depositUrl,omitempty"`
	// Where the tenant is redirected after checkout.
	ReturnURL string `json:"returnUrl,omitempty"`
	// When it is cancelled unless it is secured: the end of the rental, 24 hours from creation at least. The tenant can secure it until the rental ends.
	CheckoutExpiresAt time.Time `json:"checkoutExpiresAt"`
	// When the tenant secured it.
	ActivatedAt *time.Time `json:"activatedAt,omitempty"`
	// When coverage ends: 14 days after the end of the rental, at least 24 hours and at most 60 days after
	// activation.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	// Whether coverage reaches the end of the rental; before activation, as if it were activated now.
	CoversContract bool `json:"coversContract"`
	// When it was cancelled.
	CancelledAt *time.Time `json:"cancelledAt,omitempty"`
	// When it was closed.
	ClosedAt *time.Time `json:"closedAt,omitempty"`
	// When it was captured.
	CapturedAt *time.Time `json:"capturedAt,omitempty"`
	// The collection of the captured amount from the tenant. Only of a captured deposit.
	Collection *Collection `json:"collection,omitempty"`
	// The partner that created the deposit. Present only on deposits created through this API.
	PartnerContext *PartnerContext `json:"partnerContext,omitempty"`
	// Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and make nothing of
	// them.
	Metadata map[string]string `json:"metadata"`
	// Counts the changes, from 1. Of two states of a deposit the higher version is the newer.
	Version int64 `json:"version"`
	// When it was created.
	CreatedAt time.Time `json:"createdAt"`
	// When it last changed.
	UpdatedAt time.Time `json:"updatedAt"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Deposit) UnmarshalJSON(text []byte) error {
	type plain Deposit
	o.raw = string(text)
	err := json.Unmarshal(text, (*plain)(o))
	o.Amount = Cents(o.AmountCents)
	return err
}

// What becomes of a captured amount. See the table of collections.
type CollectionStatus string

const (
	CollectionStatusScheduled      CollectionStatus = "scheduled"
	CollectionStatusRetrying       CollectionStatus = "retrying"
	CollectionStatusAwaitingTenant CollectionStatus = "awaiting_tenant"
	CollectionStatusPaid           CollectionStatus = "paid"
	CollectionStatusFailed         CollectionStatus = "failed"
)

// Collection: the collection of the captured amount from the tenant. Only of a captured deposit.
type Collection struct {
	Object
	// What becomes of a captured amount. See the table of collections.
	Status CollectionStatus `json:"status"`
	// When the card was last charged.
	AttemptedAt *time.Time `json:"attemptedAt,omitempty"`
	// When the card will be charged next.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
	// When the amount was paid.
	PaidAt *time.Time `json:"paidAt,omitempty"`
	// A code that says why the card was refused, such as `insufficient_funds`, or why the collection ended: `settled_elsewhere` (the tenant paid the operator otherwise), `withdrawn` (the operator dropped the claim), `cancelled`, `expired`, `below_minimum`. New codes may be added.
	Failure string `json:"failure,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Collection) UnmarshalJSON(text []byte) error {
	type plain Collection
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// DepositClient: the tenant, as far as known. Absent once the client was erased.
type DepositClient struct {
	Object
	// The id of the client.
	ID string `json:"id"`
	// The tenant's e-mail address.
	Email string `json:"email"`
	// The tenant's first name.
	FirstName string `json:"firstName"`
	// The tenant's last name.
	LastName string `json:"lastName"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *DepositClient) UnmarshalJSON(text []byte) error {
	type plain DepositClient
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// PartnerContext: the partner that created the deposit. Present only on deposits created through this API.
type PartnerContext struct {
	Object
	// The partner's id.
	PartnerID string `json:"partnerId"`
	// The partner's name.
	PartnerName string `json:"partnerName"`
	// The partner's own id of the operator.
	ExternalID string `json:"externalId"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *PartnerContext) UnmarshalJSON(text []byte) error {
	type plain PartnerContext
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// CancelDepositParams are the parameters of a request.
type CancelDepositParams struct {
	// Why you cancel.
	// One of booking_cancelled, duplicate, other.
	Reason string `json:"reason,omitempty"`
	// Anything you want to keep with it.
	Comment string `json:"comment,omitempty"`
}

func (p *CancelDepositParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Reason != "" {
		body["reason"] = p.Reason
	}
	if p.Comment != "" {
		body["comment"] = p.Comment
	}
	return body
}

// ReleaseDepositParams are the parameters of a request.
type ReleaseDepositParams struct {
	// Anything you want to keep with it.
	Comment string `json:"comment,omitempty"`
}

func (p *ReleaseDepositParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Comment != "" {
		body["comment"] = p.Comment
	}
	return body
}

// CaptureDepositParams are the parameters of a request.
type CaptureDepositParams struct {
	// How much to collect, in euros, with at most two decimals. More than 0, at most the deposit's amount, which is also the default.
	Amount Money `json:"amount,omitempty"`
	// Always `EUR`.
	Currency Currency `json:"currency,omitempty"`
	// What the claim is for.
	// One of damage, cleaning, missing_items, unpaid_charges, other.
	Reason string `json:"reason,omitempty"`
	// What happened.
	Description string `json:"description,omitempty"`
}

func (p *CaptureDepositParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Amount != (Money{}) {
		body["amount"] = p.Amount
	}
	if p.Currency != "" {
		body["currency"] = p.Currency
	}
	if p.Reason != "" {
		body["reason"] = p.Reason
	}
	if p.Description != "" {
		body["description"] = p.Description
	}
	return body
}

// SendLinkParams are the parameters of a request.
type SendLinkParams struct {
	// Where to send the link.
	Email string `json:"email"`
	// The language of the mail, such as `fr` or `en-GB`; by default the `locale` of the deposit. Without either, the mail is in English and French.
	Locale string `json:"locale,omitempty"`
}

func (p *SendLinkParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Email != "" {
		body["email"] = p.Email
	}
	if p.Locale != "" {
		body["locale"] = p.Locale
	}
	return body
}

// SendLinkBatchParams are the parameters of a request.
type SendLinkBatchParams struct {
	// Who gets the link, each address once.
	Recipients []SendLinkParams `json:"recipients"`
}

func (p *SendLinkBatchParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Recipients != nil {
		body["recipients"] = p.Recipients
	}
	return body
}

// LinkMail: a mail with the link to a checkout.
type LinkMail struct {
	Object
	// Where the link is sent.
	Email string `json:"email"`
	// The id of the mail, which begins its Message-ID.
	MessageID string `json:"messageId"`
	// The mail is stored and will be sent.
	// One of queued.
	Status string `json:"status"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *LinkMail) UnmarshalJSON(text []byte) error {
	type plain LinkMail
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// SimulateDepositParams are the parameters of a request.
type SimulateDepositParams struct {
	// What happens.
	// One of start, activate, decline, abandon, fail_payment, expire.
	Outcome string `json:"outcome"`
}

func (p *SimulateDepositParams) body() any {
	if p == nil {
		return nil
	}
	body := map[string]any{}
	if p.Outcome != "" {
		body["outcome"] = p.Outcome
	}
	return body
}

// What happened, as webhooks carry it in `data`.
type EventData struct{ json.RawMessage }

// Deposit reads the data of an event as DepositEventData. Returns an error where the event is about something else.
func (d EventData) Deposit() (*DepositEventData, error) {
	value := &DepositEventData{}
	err := json.Unmarshal(d.RawMessage, value)
	if err == nil && value.ID == "" {
		err = errors.New("deposits: the event is not about a deposit")
	}
	return value, err
}

// Link reads the data of an event as RentalOperatorLinkedData. Returns an error where the event is about something else.
func (d EventData) Link() (*RentalOperatorLinkedData, error) {
	value := &RentalOperatorLinkedData{}
	err := json.Unmarshal(d.RawMessage, value)
	if err == nil && value.PartnerID == "" {
		err = errors.New("deposits: the event is not about a link")
	}
	return value, err
}

// Event: something that happened, under its most specific name.
type Event struct {
	Object
	// The id of the event.
	ID string `json:"id"`
	// The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
	// subscription has no more specific event.
	Event EventName `json:"event"`
	// When it happened.
	CreatedAt time.Time `json:"createdAt"`
	// What happened, as webhooks carry it in `data`.
	Data EventData `json:"data"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Event) UnmarshalJSON(text []byte) error {
	type plain Event
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// FeedEvent: an event with its number in your feed.
type FeedEvent struct {
	Object
	// Counts 1, 2, 3, … without a gap.
	Sequence int64 `json:"sequence"`
	// The id of the event.
	ID string `json:"id"`
	// The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
	// subscription has no more specific event.
	Event EventName `json:"event"`
	// When it happened.
	CreatedAt time.Time `json:"createdAt"`
	// What happened, as webhooks carry it in `data`.
	Data EventData `json:"data"`
	// The id of the feed. Set by Follow.
	FeedID string `json:"feedId,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *FeedEvent) UnmarshalJSON(text []byte) error {
	type plain FeedEvent
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// Feed is an object of an answer.
type Feed struct {
	Object

	Data []FeedEvent `json:"data"`
	// Send this number as `after` of the next request.
	NextAfter int64 `json:"nextAfter"`
	// Names the numbering. It changes only when our database was restored from a backup.
	FeedID string `json:"feedId"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *Feed) UnmarshalJSON(text []byte) error {
	type plain Feed
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// DepositEventData: the deposit as it stood when the change was made.
type DepositEventData struct {
	Object
	// The id of the deposit.
	ID string `json:"id"`
	// Its reference for people.
	Reference string `json:"reference"`
	// Your booking or contract reference; empty when you gave none.
	RentalContract string `json:"rentalContract"`
	// Where a deposit stands. See the table of statuses.
	Status DepositStatus `json:"status"`
	// Where a deposit stands. See the table of statuses.
	PreviousStatus DepositStatus `json:"previousStatus"`
	// The amount in cents.
	AmountCents int64 `json:"amountCents"`
	// When the rental begins.
	ContractStartAt time.Time `json:"contractStartAt"`
	// When the rental ends.
	ContractEndAt time.Time `json:"contractEndAt"`
	// The tenant, or `null` where none is known.
	Client *DepositEventDataClient `json:"client"`
	// The partner that created the deposit. Present only on deposits created through this API.
	PartnerContext *PartnerContext `json:"partnerContext,omitempty"`
	// The version of the deposit after the change, which `GET` shows too. Of two events of a deposit the one with
	// the higher version is the newer. Events that are older than this field do not have it.
	Version int64 `json:"version,omitempty"`
	// How much was captured, in cents; `null` unless captured. Events that are older than this field do not have
	// it.
	CapturedAmountCents int64 `json:"capturedAmountCents,omitempty"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *DepositEventData) UnmarshalJSON(text []byte) error {
	type plain DepositEventData
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// RentalOperatorLinkedData: a new link.
type RentalOperatorLinkedData struct {
	Object
	// Your id.
	PartnerID string `json:"partnerId"`
	// The id of the operator's account. Store it: you need it to create deposits.
	AccountID string `json:"accountId"`
	// Your own id of the operator.
	ExternalID string `json:"externalId"`
	// When the link was made.
	LinkedAt time.Time `json:"linkedAt"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *RentalOperatorLinkedData) UnmarshalJSON(text []byte) error {
	type plain RentalOperatorLinkedData
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// DepositEventDataClient: the tenant, or `null` where none is known.
type DepositEventDataClient struct {
	Object
	// The id of the client.
	ID string `json:"id"`
	// The tenant's e-mail address.
	Email string `json:"email"`
	// The tenant's first name.
	FirstName string `json:"firstName"`
	// The tenant's last name.
	LastName string `json:"lastName"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *DepositEventDataClient) UnmarshalJSON(text []byte) error {
	type plain DepositEventDataClient
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// MeLimits: your rate limits.
type MeLimits struct {
	Object
	// Requests of any kind per minute.
	RequestsPerMinute int64 `json:"requestsPerMinute"`
	// How many of them may be `POST`, `PATCH` or `DELETE`.
	WritesPerMinute int64 `json:"writesPerMinute"`
}

// UnmarshalJSON keeps the JSON as well.
func (o *MeLimits) UnmarshalJSON(text []byte) error {
	type plain MeLimits
	o.raw = string(text)
	return json.Unmarshal(text, (*plain)(o))
}
