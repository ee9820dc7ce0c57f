<?php // Code generated from openapi.yaml by sdk/generate. DO NOT EDIT.

declare(strict_types=1);

namespace PartnerDeposits;

/** The resources of the API, as properties of the client. */
abstract class Services
{
    public const VERSION = '1.0.0';
    public readonly Service\Me $me;
    public readonly Service\ApiKeys $apiKeys;
    public readonly Service\Accounts $accounts;
    public readonly Service\Connect $connect;
    public readonly Service\Webhooks $webhooks;
    public readonly Service\Deliveries $deliveries;
    public readonly Service\Events $events;
    public readonly Service\Clients $clients;
    public readonly Service\Deposits $deposits;
    public readonly Service\Test $test;

    protected function __construct(Client $client)
    {
        $this->me = new Service\Me($client);
        $this->apiKeys = new Service\ApiKeys($client);
        $this->accounts = new Service\Accounts($client);
        $this->connect = new Service\Connect($client);
        $this->webhooks = new Service\Webhooks($client);
        $this->deliveries = new Service\Deliveries($client);
        $this->events = new Service\Events($client);
        $this->clients = new Service\Clients($client);
        $this->deposits = new Service\Deposits($client);
        $this->test = new Service\Test($client);
    }
}

/** What the libraries of all languages say about a signature that is refused. */
final class Words
{
    public const REASONS = [
        'missing_header' => "X-Svc-Signature or X-Svc-Timestamp is missing.",
        'malformed_header' => "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
        'missing_parameter' => "A signed parameter of the return URL is missing.",
        'malformed_parameter' => "A signed parameter of the return URL is not in the form that we send.",
        'expired' => "The timestamp is outside the tolerance.",
        'mismatch' => "The signature does not match.",
        'invalid_json' => "The body is not a JSON object.",
    ];
    public const HINTS = [
        'stale' => "It is in the past: check this server's clock, and that the request is not a replay.",
        'future' => "It is in the future: check this server's clock.",
        'milliseconds' => "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
        'body_reserialized' => "The body was parsed and written again: pass the raw body.",
        'body_changed' => "The body is not what was sent: pass the raw body, unread and unchanged.",
        'wrong_secret_kind' => "The secret is not a signing secret (svc_whsec_…).",
        'secret_whitespace' => "The secret has white space around it.",
        'base64' => "The signature is base64: it must be lower-case hex.",
        'upper_case' => "The signature is in upper case: it must be lower-case hex.",
        'prefix_missing' => "The prefix sha256= is missing.",
        'order' => "The signed message is in another order: it is <timestamp>.<raw body>.",
    ];
}

trait ComparesVersions
{
    /**
     * Tells whether an event is newer than the version that you store with its deposit. An event without a version is:
     * it is not about a deposit, or older than versions.
     */
    public static function isNewer(Type\WebhookEvent|Type\Event|Type\FeedEvent $event, ?int $storedVersion): bool
    {
        return !$storedVersion || ($event->data->version ?? PHP_INT_MAX) > $storedVersion;
    }
}

namespace PartnerDeposits\Service;

use PartnerDeposits\{ApiException, ApiObject, Client, ConnectionException, EnsuresWebhook, FollowsFeed, Pages, Type};

final class Me
{
    public function __construct(private readonly Client $client) {}

    /**
     * Retrieve yourself.
     *
     * Shows the partner that the API key belongs to. A good first request: it needs nothing but the key.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
     *     service_unavailable
     * @throws ConnectionException
     */
    public function get(array $options = []): Type\Me
    {
        return $this->client->request(
            'GET', '/api/partner/v1/me', [], [], $options, type: Type\Me::class, shape: 'data',
        );
    }
}

final class ApiKeys
{
    public function __construct(private readonly Client $client) {}

    /**
     * Create an API key.
     *
     * Creates a key. The answer holds the key itself, which is shown here and never again: store it before you go on.
     * You may hold up to 20 keys; deleted ones do not count.
     *
     * This request takes no `Idempotency-Key`, so that no stored answer holds a key. If the answer got lost, delete the
     * key without `lastUsedAt` that you find in the list, and create another.
     *
     * Parameters:
     * - `name`: What the key is for, in one line. Names may repeat.
     *
     * @param array{name: string} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_limit_reached, api_key_revoked, internal_error, invalid_api_key, invalid_field,
     *     invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
     *     unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function create(array $params, array $options = []): Type\CreatedApiKey
    {
        return $this->client->request(
            'POST', '/api/partner/v1/api-keys', [], $params, $options, type: Type\CreatedApiKey::class, shape: 'data',
            kinds: [],
        );
    }

    /**
     * List API keys.
     *
     * Lists your keys, the newest first, with those that were deleted. The keys themselves are not shown.
     *
     * Parameters:
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{limit?: int, cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\ApiKey>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/api-keys', [], array_merge($params, $cursor), $options,
            type: Type\ApiKeyPage::class, shape: 'page',
        ));
    }

    /**
     * Delete an API key.
     *
     * Revokes the key: within five seconds it works nowhere, and answers `api_key_revoked`. Deleting a key again
     * changes nothing. Any key can be deleted, the one of this request and your last one too; without a key, ask us for
     * a new one.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function delete(string $keyId, array $options = []): void
    {
        $this->client->request(
            'DELETE', '/api/partner/v1/api-keys/%s', [$keyId], [], $options,
        );
    }
}

final class Accounts
{
    public function __construct(private readonly Client $client) {}

    /**
     * List linked accounts.
     *
     * Lists the accounts of the operators linked to you, the most recently linked first. Only active links are listed
     * unless you ask for others.
     *
     * Parameters:
     * - `status`: Which links to list.
     * - `externalId`: Only the account that you know under this id.
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{status?: 'active'|'revoked'|'all', externalId?: string, limit?: int, cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\Account>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/accounts', [], array_merge($params, $cursor), $options,
            type: Type\AccountPage::class, shape: 'page',
        ));
    }

    /**
     * Retrieve a linked account.
     *
     * Retrieves one account that is or was linked to you, with the amounts that its deposits may have.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function get(string $accountId, array $options = []): Type\Account
    {
        return $this->client->request(
            'GET', '/api/partner/v1/accounts/%s', [$accountId], [], $options, type: Type\Account::class, shape: 'data',
        );
    }

    /**
     * End the link to an account.
     *
     * Ends your link to the account; the operator's account and its deposits stay, and the operator gets a mail. From
     * then on you can no longer create or capture deposits or create clients for it. Its deposits can still be read and
     * cancelled, and the events of the deposits that you created still arrive. Ending a link that has ended changes
     * nothing.
     *
     * To link the operator again, send a new connect URL. Those that you signed before are `expired`.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function delete(string $accountId, array $options = []): void
    {
        $this->client->request(
            'DELETE', '/api/partner/v1/accounts/%s', [$accountId], [], $options,
        );
    }
}

final class Connect
{
    public function __construct(private readonly Client $client) {}

    /**
     * Explain why a connect URL is refused.
     *
     * Tells why a connect URL that you signed is refused. The secrets that are tried are those that you have now: the
     * connect secret, the signing secrets and the API key of this request. The right signature is never shown, and we
     * keep nothing of what you send.
     *
     * You have 30 requests a minute for this operation and `explainWebhook` together.
     *
     * Parameters:
     * - `url`: The connect URL as you gave it to the operator.
     *
     * @param array{url: string} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
     *     missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
     *     unsupported_media_type
     * @throws ConnectionException
     */
    public function explain(array $params, array $options = []): Type\ConnectExplanation
    {
        return $this->client->request(
            'POST', '/api/partner/v1/connect/explain', [], $params, $options, type: Type\ConnectExplanation::class,
            shape: 'data', kinds: [],
        );
    }
}

final class Webhooks
{
    use EnsuresWebhook;

    public function __construct(private readonly Client $client) {}

    /**
     * Create a webhook subscription.
     *
     * Registers an endpoint of yours. The answer holds the signing secret, which is shown here and never again: store
     * it before you go on. If you lose it, rotate it.
     *
     * Parameters:
     * - `url`: Your endpoint. Must be https and publicly reachable, and not at a port of another service, such as 22
     *   or 25.
     * - `events`: What to send. Leave out for all events.
     * - `signatures`: Which signatures deliveries carry: `svc` is ours and cannot be left out; with `standard` they
     *   carry the headers of Standard Webhooks beside it. Leave out for ours alone.
     *
     * @param array{url: string,
     *     events?: list<'rental_operator.linked'|'deposit.status_changed'|'deposit.activated'|'deposit.captured'|'deposit.expired'|'deposit.cancelled'>,
     *     signatures?: list<'svc'|'standard'>} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error,
     *     invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field,
     *     payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
     *     webhook_limit_reached
     * @throws ConnectionException
     */
    public function create(array $params, array $options = []): Type\CreatedWebhook
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks', [], $params, $options, type: Type\CreatedWebhook::class, shape: 'data',
            keyed: true, kinds: [],
        );
    }

    /**
     * List webhook subscriptions.
     *
     * Lists your subscriptions, the newest first. Secrets are not shown.
     *
     * Parameters:
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{limit?: int, cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\Webhook>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/webhooks', [], array_merge($params, $cursor), $options,
            type: Type\WebhookPage::class, shape: 'page',
        ));
    }

    /**
     * Retrieve a webhook subscription.
     *
     * Retrieves one subscription. The secret is not shown.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
     *     service_unavailable, webhook_not_found
     * @throws ConnectionException
     */
    public function get(string $webhookId, array $options = []): Type\Webhook
    {
        return $this->client->request(
            'GET', '/api/partner/v1/webhooks/%s', [$webhookId], [], $options, type: Type\Webhook::class, shape: 'data',
        );
    }

    /**
     * Update a webhook subscription.
     *
     * Changes what you send and leaves the rest. `events` replaces the whole list. Setting `enabled` to false parks
     * deliveries; setting it to true sends, at a gentle pace, what waited.
     *
     * Parameters:
     * - `url`: The new endpoint.
     * - `events`: The new list of events, replacing the old one.
     * - `signatures`: The new list of signatures, replacing the old one; it has `svc`.
     * - `enabled`: Whether deliveries go out. While false, they wait.
     *
     * @param array{url?: string,
     *     events?: list<'rental_operator.linked'|'deposit.status_changed'|'deposit.activated'|'deposit.captured'|'deposit.expired'|'deposit.cancelled'>,
     *     signatures?: list<'svc'|'standard'>, enabled?: bool} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
     *     missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
     *     webhook_not_found
     * @throws ConnectionException
     */
    public function update(string $webhookId, array $params, array $options = []): Type\Webhook
    {
        return $this->client->request(
            'PATCH', '/api/partner/v1/webhooks/%s', [$webhookId], $params, $options, type: Type\Webhook::class,
            shape: 'data', kinds: [],
        );
    }

    /**
     * Delete a webhook subscription.
     *
     * Deletes the subscription. Nothing is sent to it from then on, retries included.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
     *     service_unavailable, webhook_not_found
     * @throws ConnectionException
     */
    public function delete(string $webhookId, array $options = []): void
    {
        $this->client->request(
            'DELETE', '/api/partner/v1/webhooks/%s', [$webhookId], [], $options,
        );
    }

    /**
     * Rotate a signing secret.
     *
     * Issues a new secret and shows it, here and never again. The old one signs nothing from then on; retries of
     * earlier deliveries are signed with the new one too.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
     *     service_unavailable, webhook_not_found
     * @throws ConnectionException
     */
    public function rotateSecret(string $webhookId, array $options = []): Type\RotatedSecret
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks/%s/rotate-secret', [$webhookId], [], $options,
            type: Type\RotatedSecret::class, shape: 'data',
        );
    }

    /**
     * Send a test delivery.
     *
     * Sends a synthetic `deposit.activated` to the endpoint, once, and answers with the delivery and what your endpoint
     * said to it; also when it failed. The subscription must have `deposit.activated` or `deposit.status_changed`; the
     * more specific of the two is sent. The deposit in it does not exist: its id starts with `dep_test_`.
     *
     * If the attempt takes longer than we can wait for, the delivery comes back as `pending`; look it up later. You
     * have 20 tests a minute, and two in flight.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
     *     service_unavailable, test_event_not_subscribed, webhook_disabled, webhook_not_found
     * @throws ConnectionException
     */
    public function test(string $webhookId, array $options = []): Type\Delivery
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks/%s/test', [$webhookId], [], $options, type: Type\Delivery::class,
            shape: 'data',
        );
    }

    /**
     * Explain why a delivery does not verify.
     *
     * Tells why the signature of a delivery does not verify at your endpoint. Send headers and body as your endpoint
     * received them, and, if you can, the signature that it computed itself: most mistakes show there alone.
     *
     * A delivery is found by its signature, so a changed body is told from a changed header. The secrets that are tried
     * are those that you have now: the signing secrets, the connect secret and the API key of this request. The right
     * signature is never shown, and we keep nothing of what you send.
     *
     * You have 30 requests a minute for this operation and `explainConnectUrl` together.
     *
     * Parameters:
     * - `headers`: The headers as your endpoint received them, in any case; `X-Svc-Signature` and `X-Svc-Timestamp`
     *   are read. Join the values of a header that came more than once with a comma.
     * - `body`: The body as your endpoint received it, in base64.
     * - `computed`: The signature that your endpoint computed, as it compared it.
     *
     * @param array{headers: array<string, string>, body: string, computed?: string} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
     *     missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
     *     unsupported_media_type, webhook_not_found
     * @throws ConnectionException
     */
    public function explain(string $webhookId, array $params, array $options = []): Type\WebhookExplanation
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks/%s/explain', [$webhookId], $params, $options,
            type: Type\WebhookExplanation::class, shape: 'data', kinds: ['headers' => 'map'],
        );
    }

    /**
     * Send the deliveries of a time span again.
     *
     * Sends again what was created from `from` on and before `to` and has the given status, `failed` unless you say
     * otherwise: each delivery as a new one, as `redeliver` would, the oldest first. The answer tells how many match
     * now; the work goes on by itself, across restarts on our side. Your replays send 50 deliveries a second in all.
     * Those of one subscription are done one after another, and 8 of them may be unfinished; one more is refused with
     * `replay_limit_reached`. A replay waits while the subscription is disabled and ends when it is deleted.
     *
     * Redeliveries and test deliveries are not repeated, so each event comes once, however often you had it sent again
     * before. The status that counts is the delivery's own, when its turn comes: a failed delivery stays `failed` also
     * when a redelivery of it arrived.
     *
     * Parameters:
     * - `from`: Deliveries created at or after this time …
     * - `to`: … and before this one.
     * - `status`: `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your
     *   endpoint answered 2xx. `failed`: given up.
     *
     * @param array{from: string|\DateTimeInterface, to: string|\DateTimeInterface,
     *     status?: 'pending'|'retrying'|'succeeded'|'failed'} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_date_range, invalid_field,
     *     invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, replay_limit_reached,
     *     service_unavailable, unknown_field, unsupported_media_type, webhook_disabled, webhook_not_found
     * @throws ConnectionException
     */
    public function replay(string $webhookId, array $params, array $options = []): Type\Replay
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks/%s/replay', [$webhookId], $params, $options, type: Type\Replay::class,
            shape: 'data', kinds: [],
        );
    }
}

final class Deliveries
{
    public function __construct(private readonly Client $client) {}

    /**
     * List deliveries.
     *
     * Lists what was sent to a subscription, the newest first, each with all its attempts.
     *
     * Parameters:
     * - `status`: Only deliveries in this status.
     * - `event`: Only deliveries of this event.
     * - `depositId`: Only deliveries about this deposit.
     * - `from`: Only deliveries created at or after this time.
     * - `to`: Only deliveries created before this time.
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{status?: 'pending'|'retrying'|'succeeded'|'failed',
     *     event?: 'rental_operator.linked'|'deposit.status_changed'|'deposit.activated'|'deposit.captured'|'deposit.expired'|'deposit.cancelled',
     *     depositId?: string, from?: string|\DateTimeInterface, to?: string|\DateTimeInterface, limit?: int,
     *     cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\Delivery>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field, webhook_not_found
     * @throws ConnectionException
     */
    public function list(string $webhookId, array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/webhooks/%s/deliveries', [$webhookId], array_merge($params, $cursor), $options,
            type: Type\DeliveryPage::class, shape: 'page',
        ));
    }

    /**
     * Retrieve a delivery.
     *
     * Retrieves one delivery with its attempts and the exact body that was, or will be, sent.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable, webhook_not_found
     * @throws ConnectionException
     */
    public function get(string $webhookId, string $deliveryId, array $options = []): Type\DeliveryDetail
    {
        return $this->client->request(
            'GET', '/api/partner/v1/webhooks/%s/deliveries/%s', [$webhookId, $deliveryId], [], $options,
            type: Type\DeliveryDetail::class, shape: 'data',
        );
    }

    /**
     * Send a delivery again.
     *
     * Makes a new delivery with the same bytes, due at once and retried like any other, whatever became of the first
     * one, which stays as it is. It goes to the present URL, signed with the present secret. `redeliveryOf` is always
     * the original, also when you send a redelivery again. A test delivery can be sent again too, and is again
     * attempted only once. You have 60 redeliveries a minute; to send many deliveries again, use `replay`.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable, webhook_disabled, webhook_not_found
     * @throws ConnectionException
     */
    public function redeliver(string $webhookId, string $deliveryId, array $options = []): Type\Delivery
    {
        return $this->client->request(
            'POST', '/api/partner/v1/webhooks/%s/deliveries/%s/redeliver', [$webhookId, $deliveryId], [], $options,
            type: Type\Delivery::class, shape: 'data',
        );
    }
}

final class Events
{
    use FollowsFeed;

    public function __construct(private readonly Client $client) {}

    /**
     * List events.
     *
     * Lists your events of the last 30 days, the newest first, whatever your subscriptions receive. To follow events
     * without missing one, read the feed.
     *
     * Parameters:
     * - `event`: Only events of this name.
     * - `depositId`: Only events about this deposit.
     * - `from`: Only events created at or after this time.
     * - `to`: Only events created before this time.
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param
     *     array{event?: 'rental_operator.linked'|'deposit.status_changed'|'deposit.activated'|'deposit.captured'|'deposit.expired'|'deposit.cancelled',
     *     depositId?: string, from?: string|\DateTimeInterface, to?: string|\DateTimeInterface, limit?: int,
     *     cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\Event>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/events', [], array_merge($params, $cursor), $options, type: Type\EventPage::class,
            shape: 'page',
        ));
    }

    /**
     * Read the feed.
     *
     * Your events, numbered 1, 2, 3, … without a gap, the oldest first. Keep `nextAfter`, and send it as `after` of the
     * next request: so you receive each event exactly once, and can prove that none is missing. With `waitSeconds` the
     * answer is held until there is an event. When `feedId` differs from the one you keep, our database was restored
     * from a backup: discard the answer and read anew, without `after`.
     *
     * Parameters:
     * - `after`: The number of the last event that you have. Without it, the feed begins with the oldest event that
     *   is kept.
     * - `limit`: How many items to return at most.
     * - `waitSeconds`: How long the answer may be held while there is no event, in seconds.
     *
     * @param array{after?: int, limit?: int, waitSeconds?: int} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function feed(array $params = [], array $options = []): Type\Feed
    {
        return $this->client->request(
            'GET', '/api/partner/v1/events/feed', [], $params, $options, type: Type\Feed::class, shape: 'whole',
        );
    }

    /**
     * Retrieve an event.
     *
     * Retrieves an event. Events are kept for 30 days.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, event_not_found, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function get(string $eventId, array $options = []): Type\Event
    {
        return $this->client->request(
            'GET', '/api/partner/v1/events/%s', [$eventId], [], $options, type: Type\Event::class, shape: 'data',
        );
    }
}

final class Clients
{
    public function __construct(private readonly Client $client) {}

    /**
     * Create a client.
     *
     * Creates a tenant of one of your linked accounts. Pass its id as `clientId` when you create a deposit on the same
     * account: checkout is prefilled, and events name the person.
     *
     * Parameters:
     * - `accountId`: A linked account.
     * - `email`: The tenant's e-mail address.
     * - `firstName`: The tenant's first name.
     * - `lastName`: The tenant's last name.
     * - `phone`: The tenant's phone number in E.164 form, such as `+33612345678`.
     * - `locale`: The language to address the tenant in, such as `fr` or `en-GB`.
     *
     * @param array{accountId: string, email: string, firstName: string, lastName: string, phone?: string,
     *     locale?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_not_linked, account_revoked, api_key_revoked, idempotency_key_in_use,
     *     idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
     *     invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
     *     unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function create(array $params, array $options = []): Type\ClientRecord
    {
        return $this->client->request(
            'POST', '/api/partner/v1/clients', [], $params, $options, type: Type\ClientRecord::class, shape: 'data',
            keyed: true, kinds: [],
        );
    }

    /**
     * List clients.
     *
     * Lists your clients at your linked accounts, the newest first: those that you created, and those that tenants
     * brought to the checkouts of your deposits. Filters are combined. Erased clients are not listed. To answer a
     * person who asks about their data, filter by `email`.
     *
     * Parameters:
     * - `accountId`: Only clients of this account.
     * - `email`: Only clients with this e-mail address; ASCII letters match in either case.
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{accountId?: string, email?: string, limit?: int, cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\ClientRecord>
     * @throws ApiException account_revoked, api_key_revoked, internal_error, invalid_api_key, invalid_cursor,
     *     invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/clients', [], array_merge($params, $cursor), $options,
            type: Type\ClientRecordPage::class, shape: 'page',
        ));
    }

    /**
     * Retrieve a client.
     *
     * Retrieves one of your clients. An erased client is not found.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException account_revoked, api_key_revoked, client_not_found, internal_error, invalid_api_key,
     *     missing_api_key, rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function get(string $clientId, array $options = []): Type\ClientRecord
    {
        return $this->client->request(
            'GET', '/api/partner/v1/clients/%s', [$clientId], [], $options, type: Type\ClientRecord::class,
            shape: 'data',
        );
    }

    /**
     * Update a client.
     *
     * Changes what you send and leaves the rest. `null` clears `phone` and `locale`. Deposits and later events show the
     * new details; events that were made before do not change.
     *
     * Parameters:
     * - `email`: The tenant's new e-mail address.
     * - `firstName`: The tenant's new first name.
     * - `lastName`: The tenant's new last name.
     * - `phone`: The new phone number in E.164 form; null clears it.
     * - `locale`: The new language to address the tenant in; null clears it.
     *
     * @param array{email?: string, firstName?: string, lastName?: string, phone?: string|null,
     *     locale?: string|null} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_revoked, api_key_revoked, client_not_found, idempotency_key_in_use,
     *     idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
     *     invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
     *     unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function update(string $clientId, array $params, array $options = []): Type\ClientRecord
    {
        return $this->client->request(
            'PATCH', '/api/partner/v1/clients/%s', [$clientId], $params, $options, type: Type\ClientRecord::class,
            shape: 'data', keyed: true, kinds: [],
        );
    }

    /**
     * Erase a client.
     *
     * Erases the person, at once and for good, whatever the status of their deposits and of the link to the account.
     * Deposits keep `clientId` and lose `client`; later events carry `client: null`. Unsent mails to the person are
     * removed. Events, deliveries and stored responses that were made before keep their bytes until their retention
     * ends, 30 days at most for events. Again: 204.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key,
     *     rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function delete(string $clientId, array $options = []): void
    {
        $this->client->request(
            'DELETE', '/api/partner/v1/clients/%s', [$clientId], [], $options,
        );
    }
}

final class Deposits
{
    public function __construct(private readonly Client $client) {}

    /**
     * Create a deposit.
     *
     * Creates a deposit for a linked account. It starts as `pending` and waits for the tenant.
     *
     * Set `depositUrlGeneration` to true to get a `depositUrl` back: send the tenant there. After checkout we redirect
     * the tenant to your `returnUrl` with two more query parameters: `depositId`, and `depositStatus`, which is
     * `secured`, `declined` or `abandoned`. That tells your page what to show; the authoritative status is the one you
     * retrieve or hear by webhook.
     *
     * The request is checked in this order: JSON, idempotency key, shapes of the fields, the link to the account, then
     * amount, dates, return URL and client.
     *
     * Parameters:
     * - `accountId`: The account to secure the deposit for; it must be linked to you.
     * - `amount`: The amount in **euros**, not cents, with at most two decimals: at least 70.00 and at most the
     *   operator's ceiling, which is 2500.00 unless negotiated. Read exactly, never through a float.
     * - `contractStartAt`: When the rental begins. May be in the past.
     * - `contractEndAt`: When the rental ends: in the future, and not before it begins.
     * - `rentalContract`: Your booking or contract reference.
     * - `clientId`: The id of a client that you created on the same account.
     * - `depositUrlGeneration`: Whether to return a checkout URL for the tenant.
     * - `returnUrl`: Where the tenant is redirected after checkout: https, or http on localhost; at most 2048
     *   characters. Required when `depositUrlGeneration` is true.
     * - `currency`: Always `EUR`.
     * - `metadata`: Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and
     *   make nothing of them.
     * - `locale`: The language of checkout, such as `fr` or `en-GB`.
     *
     * @param array{accountId: string, amount: string|int, contractStartAt: string|\DateTimeInterface,
     *     contractEndAt: string|\DateTimeInterface, rentalContract?: string, clientId?: string,
     *     depositUrlGeneration?: bool, returnUrl?: string, currency?: 'EUR', metadata?: array<string, string>,
     *     locale?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_not_linked, account_revoked, amount_above_maximum, amount_below_minimum,
     *     api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
     *     invalid_client, invalid_date_range, invalid_field, invalid_idempotency_key, invalid_json, invalid_return_url,
     *     missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
     *     unsupported_media_type
     * @throws ConnectionException
     */
    public function create(array $params, array $options = []): Type\CreatedDeposit
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits', [], $params, $options, type: Type\CreatedDeposit::class, shape: 'data',
            keyed: true, kinds: ['amount' => 'money', 'metadata' => 'map'],
        );
    }

    /**
     * List deposits.
     *
     * Lists your deposits, the newest first. Filters are combined: a deposit must match all of them.
     *
     * Parameters:
     * - `accountId`: Only deposits of this account.
     * - `externalId`: Only deposits of the account that you know under this id.
     * - `status`: Only deposits in one of these statuses, separated by commas.
     * - `rentalContract`: Only deposits with exactly this contract reference.
     * - `clientId`: Only deposits of this client.
     * - `createdFrom`: Only deposits created at or after this time.
     * - `createdTo`: Only deposits created before this time.
     * - `limit`: How many items to return at most.
     * - `cursor`: The `nextCursor` of the page before. Leave out for the first page.
     *
     * @param array{accountId?: string, externalId?: string,
     *     status?: list<'pending'|'incomplete'|'active'|'cancelled'|'payment_issue'|'close'|'captured'>,
     *     rentalContract?: string, clientId?: string, createdFrom?: string|\DateTimeInterface,
     *     createdTo?: string|\DateTimeInterface, limit?: int, cursor?: string} $params
     * @param array{timeout?: float} $options
     * @return Pages<Type\Deposit>
     * @throws ApiException api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
     *     missing_api_key, rate_limited, service_unavailable, unknown_field
     * @throws ConnectionException
     */
    public function list(array $params = [], array $options = []): Pages
    {
        return new Pages(fn (array $cursor) => $this->client->request(
            'GET', '/api/partner/v1/deposits', [], array_merge($params, $cursor), $options,
            type: Type\DepositPage::class, shape: 'page',
        ));
    }

    /**
     * Retrieve a deposit.
     *
     * Retrieves a deposit as it is now. `status` is authoritative: use this to catch up after missed events.
     *
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, deposit_access_denied, deposit_not_found, internal_error,
     *     invalid_api_key, missing_api_key, rate_limited, service_unavailable
     * @throws ConnectionException
     */
    public function get(string $depositId, array $options = []): Type\Deposit
    {
        return $this->client->request(
            'GET', '/api/partner/v1/deposits/%s', [$depositId], [], $options, type: Type\Deposit::class, shape: 'data',
        );
    }

    /**
     * Cancel a deposit.
     *
     * Voids a deposit that the tenant has not secured yet: `pending`, `incomplete` or `payment_issue`. The checkout URL
     * stops working. This also works after the link to the account was revoked.
     *
     * Parameters:
     * - `reason`: Why you cancel.
     * - `comment`: Anything you want to keep with it.
     *
     * @param array{reason?: 'booking_cancelled'|'duplicate'|'other', comment?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
     *     idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field,
     *     invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable,
     *     unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function cancel(string $depositId, array $params = [], array $options = []): Type\Deposit
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits/%s/cancel', [$depositId], $params, $options, type: Type\Deposit::class,
            shape: 'data', keyed: true, kinds: $params ? [] : null,
        );
    }

    /**
     * Release a deposit.
     *
     * Ends the cover of an active deposit early, without a claim. The status becomes `close`, and the tenant can no
     * longer be charged. This cannot be undone.
     *
     * Parameters:
     * - `comment`: Anything you want to keep with it.
     *
     * @param array{comment?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
     *     deposit_not_releasable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
     *     invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited,
     *     service_unavailable, unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function release(string $depositId, array $params = [], array $options = []): Type\Deposit
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits/%s/release', [$depositId], $params, $options, type: Type\Deposit::class,
            shape: 'data', keyed: true, kinds: $params ? [] : null,
        );
    }

    /**
     * Capture a deposit.
     *
     * Collects an active deposit after damage, all of it or a part, once and before `expiresAt`. The status becomes
     * `captured` at once: the operator holds a guarantee. Collecting from the tenant follows; `collection` tells how
     * far it is.
     *
     * Parameters:
     * - `amount`: How much to collect, in euros, with at most two decimals. More than 0, at most the deposit's
     *   amount, which is also the default.
     * - `currency`: Always `EUR`.
     * - `reason`: What the claim is for.
     * - `description`: What happened.
     *
     * @param array{amount?: string|int, currency?: 'EUR',
     *     reason?: 'damage'|'cleaning'|'missing_items'|'unpaid_charges'|'other', description?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_revoked, api_key_revoked, capture_below_minimum, capture_exceeds_amount,
     *     deposit_access_denied, deposit_not_capturable, deposit_not_found, idempotency_key_in_use,
     *     idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
     *     invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field,
     *     unsupported_media_type
     * @throws ConnectionException
     */
    public function capture(string $depositId, array $params = [], array $options = []): Type\Deposit
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits/%s/capture', [$depositId], $params, $options, type: Type\Deposit::class,
            shape: 'data', keyed: true, kinds: $params ? ['amount' => 'money'] : null,
        );
    }

    /**
     * Mail the checkout link to a tenant.
     *
     * Mails the link to the checkout of a deposit that the tenant can still secure. The link works whether or not the
     * deposit was created with `depositUrlGeneration`. The mail names you, the operator's company, the amount and the
     * rental period.
     *
     * A deposit's link goes to an address 5 times at most within 24 hours, and 60 times to all addresses. Over all
     * deposits you mail an address 10 links at most within 24 hours; the count begins anew once the tenant opens a
     * mailed link. An address that has got 30 links from everybody gets no more from who sent three or more. Beyond
     * these limits the answer is `rate_limited`, with the wait in `Retry-After`.
     *
     * Parameters:
     * - `email`: Where to send the link.
     * - `locale`: The language of the mail, such as `fr` or `en-GB`; by default the `locale` of the deposit. Without
     *   either, the mail is in English and French.
     *
     * @param array{email: string, locale?: string} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @throws ApiException account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
     *     deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
     *     invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
     *     rate_limited, service_unavailable, unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function sendLink(string $depositId, array $params, array $options = []): Type\LinkMail
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits/%s/send-link', [$depositId], $params, $options,
            type: Type\LinkMail::class, shape: 'data', keyed: true, kinds: [],
        );
    }

    /**
     * Mail the checkout link to several people.
     *
     * Does as `send-link` for up to 20 recipients. Either every mail is queued or none: one bad recipient refuses the
     * request, and so does an address that occurs twice.
     *
     * Parameters:
     * - `recipients`: Who gets the link, each address once.
     *
     * @param array{recipients: list<array{email: string, locale?: string}>} $params
     * @param array{idempotencyKey?: string, timeout?: float} $options
     * @return list<Type\LinkMail>
     * @throws ApiException account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
     *     deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
     *     invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
     *     rate_limited, service_unavailable, unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function sendLinkBatch(string $depositId, array $params, array $options = []): array
    {
        return $this->client->request(
            'POST', '/api/partner/v1/deposits/%s/send-link/batch', [$depositId], $params, $options,
            type: Type\LinkMail::class, shape: 'data', keyed: true, kinds: [],
        );
    }
}

final class Test
{
    public function __construct(private readonly Client $client) {}

    /**
     * Simulate what a tenant does.
     *
     * Moves a deposit as the tenant or the passing of time would, with all that follows from it: status, events and
     * deliveries. Exists in development and staging only; in production the answer is `route_not_found`.
     *
     * | Outcome | What happens | Becomes | |---|---|---| | `start` | The tenant starts checkout and goes no further |
     * still `pending`; `incomplete` once it was idle for 30 minutes | | `activate` | The tenant secures the deposit |
     * `active` | | `decline` | Scoring refuses the tenant | `cancelled` | | `abandon` | The tenant gives up |
     * `cancelled` | | `fail_payment` | The fee cannot be charged | `payment_issue` | | `expire` | Coverage of an active
     * deposit ends, or the checkout of one that is not secured | `close`, `cancelled` |
     *
     * Parameters:
     * - `outcome`: What happens.
     *
     * @param array{outcome: 'start'|'activate'|'decline'|'abandon'|'fail_payment'|'expire'} $params
     * @param array{timeout?: float} $options
     * @throws ApiException api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
     *     deposit_not_releasable, deposit_not_securable, internal_error, invalid_api_key, invalid_field, invalid_json,
     *     missing_api_key, missing_field, payload_too_large, rate_limited, route_not_found, service_unavailable,
     *     unknown_field, unsupported_media_type
     * @throws ConnectionException
     */
    public function simulate(string $depositId, array $params, array $options = []): Type\Deposit
    {
        return $this->client->request(
            'POST', '/api/partner/v1/test/deposits/%s/simulate', [$depositId], $params, $options,
            type: Type\Deposit::class, shape: 'data', kinds: [],
        );
    }
}

namespace PartnerDeposits\Type;

use PartnerDeposits\ApiObject;

/**
 * The body of a webhook.
 *
 * @property string $event The name of the event. New names may be added.
 * @property string $createdAt When the change happened.
 * @property EventData $data What happened.
 */
final class WebhookEvent extends ApiObject
{
    protected const TYPES = ['data' => EventData::class];
}

/**
 * What a verified return URL says.
 *
 * @property string $status linked, already_linked or error.
 * @property string $accountId The id of the operator's account; empty after an error.
 * @property string $externalId Your own id of the operator, from the connect URL.
 * @property int $ts When the operator was sent back, in Unix seconds.
 * @property string|null $error Why connecting failed. Not signed.
 */
final class ConnectReturn extends ApiObject {}

/**
 * The partner that an API key belongs to.
 *
 * @property string $partnerId Your id.
 * @property string $slug Your slug in connect URLs.
 * @property string $name Your name as operators see it.
 * @property string $environment The installation that answered.
 * @property string $keyId The id of the API key you used.
 * @property MeLimits $limits Your rate limits.
 */
final class Me extends ApiObject
{
    protected const TYPES = [
        'limits' => MeLimits::class,
    ];
}

/**
 * A credential of yours, without the key itself.
 *
 * @property string $id The id of the key.
 * @property string $name What the key is for.
 * @property string $prefix The beginning of the key, which names its environment.
 * @property string $last4 The last four characters of the key.
 * @property string $createdAt When the key was created.
 * @property string|null $lastUsedAt When the key was last used, to about a minute. Absent if it never was.
 * @property string|null $revokedAt When the key was deleted. Absent while it works.
 */
final class ApiKey extends ApiObject {}

/**
 * A new key.
 *
 * @property string $id The id of the key.
 * @property string $name What the key is for.
 * @property string $prefix The beginning of the key, which names its environment.
 * @property string $last4 The last four characters of the key.
 * @property string $createdAt When the key was created.
 * @property string $key The key itself. Shown this once.
 */
final class CreatedApiKey extends ApiObject {}

/**
 * The account of a rental operator who is or was linked to you.
 *
 * @property string $accountId The id of the operator's account; you need it to create deposits.
 * @property string $externalId Your own id of the operator, from the connect URL.
 * @property string $status `active`: you may create deposits. `revoked`: you may still read and cancel those you
 *     made.
 * @property string $linkedAt When the link was made.
 * @property string|null $revokedAt When the link ended. Only on revoked links.
 * @property AccountLimits $limits What deposits of this account may amount to, bounds included.
 */
final class Account extends ApiObject
{
    protected const TYPES = [
        'limits' => AccountLimits::class,
    ];
}

/**
 * What deposits of this account may amount to, bounds included.
 *
 * @property int $minAmountCents The least amount, in cents.
 * @property int $maxAmountCents The operator's ceiling, in cents.
 * @property string $currency Always `EUR`.
 */
final class AccountLimits extends ApiObject {}

/**
 * A subscription of one of your endpoints to events.
 *
 * @property string $id The id of the subscription.
 * @property string $url The endpoint.
 * @property list<string> $events What is sent to it.
 * @property list<string> $signatures Which signatures deliveries carry.
 * @property bool $enabled Whether deliveries go out.
 * @property string|null $disabledReason Why deliveries do not go out. Only while disabled.
 * @property string $createdAt When the subscription was created.
 * @property EndpointHealth $health How the endpoint of a subscription does. `pending` counts the deliveries that
 *     have not ended: those that wait for an attempt, are being sent, or are parked because the subscription is
 *     disabled.
 */
final class Webhook extends ApiObject
{
    protected const TYPES = [
        'health' => EndpointHealth::class,
    ];
}

/**
 * How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for an
 * attempt, are being sent, or are parked because the subscription is disabled.
 *
 * @property string $state `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt
 *     has failed since the last success. `held`: the endpoint kept failing, so deliveries wait while single attempts
 *     probe it; then more and more go out. `disabled`: by you, or after five days of failures.
 * @property string $since When the state began.
 * @property string|null $lastSuccessAt When the endpoint last took a delivery. While deliveries succeed, up to ten
 *     seconds behind.
 * @property string|null $lastFailureAt When an attempt last failed.
 * @property string|null $lastError Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`,
 *     `tls`: your endpoint was not reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not
 *     a public one, or its port belongs to another service. `secret`: nothing was sent, since we cannot read the secret
 *     of the webhook; rotate it.
 * @property int $pending How many deliveries have not ended.
 * @property bool|null $pendingCapped True, and only then there: more than 10,000 deliveries have not ended.
 * @property string|null $oldestPendingAt When the oldest of them was created.
 */
final class EndpointHealth extends ApiObject {}

/**
 * A new subscription with its signing secret.
 *
 * @property string $id The id of the subscription.
 * @property string $url The endpoint.
 * @property list<string> $events What is sent to it.
 * @property list<string> $signatures Which signatures deliveries carry.
 * @property bool $enabled Whether deliveries go out.
 * @property string $createdAt When the subscription was created.
 * @property EndpointHealth $health How the endpoint of a subscription does. `pending` counts the deliveries that
 *     have not ended: those that wait for an attempt, are being sent, or are parked because the subscription is
 *     disabled.
 * @property string $secret The signing secret. Shown this once.
 */
final class CreatedWebhook extends ApiObject
{
    protected const TYPES = [
        'health' => EndpointHealth::class,
    ];
}

/**
 * A subscription with its new signing secret.
 *
 * @property string $id The id of the subscription.
 * @property string $url The endpoint.
 * @property list<string> $events What is sent to it.
 * @property string $secret The new signing secret. Shown this once.
 */
final class RotatedSecret extends ApiObject {}

/**
 * One attempt to deliver.
 *
 * @property int $number Counts from 1.
 * @property string $startedAt When the attempt began.
 * @property int $durationMs How long it took, in milliseconds.
 * @property int|null $responseStatus The HTTP status your endpoint answered with, if it did.
 * @property string|null $responseSnippet The beginning of what it answered, at most 1 KiB.
 * @property string|null $error Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`,
 *     `tls`: your endpoint was not reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not
 *     a public one, or its port belongs to another service. `secret`: nothing was sent, since we cannot read the secret
 *     of the webhook; rotate it.
 */
final class DeliveryAttempt extends ApiObject {}

/**
 * One event on its way to one subscription.
 *
 * @property string $id The id of the delivery.
 * @property string $webhookId The subscription it goes to.
 * @property string $eventId The id of the event.
 * @property string $event The name of an event. `deposit.status_changed` covers every change of a deposit's status
 *     for which the subscription has no more specific event.
 * @property string|null $depositId The deposit it is about. Absent for `rental_operator.linked`.
 * @property bool $test Whether this is a test you asked for.
 * @property string $status `pending`: not attempted yet. `retrying`: failed so far, more attempts follow.
 *     `succeeded`: your endpoint answered 2xx. `failed`: given up.
 * @property int $attemptCount How many attempts were made.
 * @property string|null $nextAttemptAt When the next attempt is due. Absent when none is.
 * @property string $createdAt When the delivery was created.
 * @property string|null $deliveredAt When your endpoint answered 2xx.
 * @property string|null $failureReason Why a delivery was given up; only with the status `failed`.
 *     `attempts_exhausted`: every attempt failed. `webhook_disabled`: the subscription was disabled, and the delivery
 *     waited until it was 30 days old. `webhook_deleted`: the subscription was deleted.
 * @property string|null $redeliveryOf The delivery that this one repeats.
 * @property string $bodySha256 SHA-256 of the body in hex, the same on every attempt.
 * @property list<DeliveryAttempt> $attempts All attempts, the oldest first.
 */
final class Delivery extends ApiObject
{
    protected const TYPES = [
        'attempts' => DeliveryAttempt::class,
    ];
}

/**
 * A delivery with the body it carries.
 *
 * @property string $id The id of the delivery.
 * @property string $webhookId The subscription it goes to.
 * @property string $eventId The id of the event.
 * @property string $event The name of an event. `deposit.status_changed` covers every change of a deposit's status
 *     for which the subscription has no more specific event.
 * @property string|null $depositId The deposit it is about. Absent for `rental_operator.linked`.
 * @property bool $test Whether this is a test you asked for.
 * @property string $status `pending`: not attempted yet. `retrying`: failed so far, more attempts follow.
 *     `succeeded`: your endpoint answered 2xx. `failed`: given up.
 * @property int $attemptCount How many attempts were made.
 * @property string|null $nextAttemptAt When the next attempt is due. Absent when none is.
 * @property string $createdAt When the delivery was created.
 * @property string|null $deliveredAt When your endpoint answered 2xx.
 * @property string|null $failureReason Why a delivery was given up; only with the status `failed`.
 *     `attempts_exhausted`: every attempt failed. `webhook_disabled`: the subscription was disabled, and the delivery
 *     waited until it was 30 days old. `webhook_deleted`: the subscription was deleted.
 * @property string|null $redeliveryOf The delivery that this one repeats.
 * @property string $bodySha256 SHA-256 of the body in hex, the same on every attempt.
 * @property list<DeliveryAttempt> $attempts All attempts, the oldest first.
 * @property string $body The exact body, to the byte, as a string.
 */
final class DeliveryDetail extends ApiObject
{
    protected const TYPES = [
        'attempts' => DeliveryAttempt::class,
    ];
}

/**
 * Why a delivery does not verify.
 *
 * @property bool $valid Whether the signature verifies now, and was computed right if you sent it.
 * @property string $cause Why a signature does not verify. `missing_header`, `malformed_header`: there is no
 *     signature or timestamp, or none of our form. `prefix_missing`, `upper_case`, `base64`: the signature is written
 *     otherwise. `stale`, `future`: the timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not
 *     in seconds. `body_reserialized`: the body was parsed and written again. `body_changed`: it was changed otherwise.
 *     `header_changed`: the body is that of the delivery, and its signature or timestamp is not.
 *     `other_subscription_secret`: the secret is that of another subscription. `wrong_secret_kind`: it is the connect
 *     secret or an API key, or a part of the secret. `secret_whitespace`: the secret has white space around it.
 *     `order`: the signed message is put together otherwise. `invalid_json`: the body is no JSON object. `mismatch`:
 *     none of these. `valid`: nothing is wrong.
 * @property string $message The cause in words, with the remedy.
 * @property string|null $deliveryId The delivery that was received, where it is found.
 */
final class WebhookExplanation extends ApiObject {}

/**
 * Why a connect URL is refused.
 *
 * @property bool $valid Whether our pages accept the URL.
 * @property string $cause Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not
 *     there. `malformed_parameter`: one of them is there twice, or not of our form. `wrong_partner`: the slug is not
 *     yours. `missing_connect_secret`: you have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written
 *     otherwise. `wrong_secret_kind`: the secret is a signing secret or an API key, or a part of the connect secret.
 *     `secret_whitespace`: it has white space around it. `order`: the signed message is put together otherwise.
 *     `milliseconds`: ts is not in seconds. `ts_changed`: another ts was signed. `encoding`: external_id was encoded
 *     twice, or not at all. `mismatch`: the signature does not match, for none of these reasons. `stale`, `future`: ts
 *     is more than 30 days away. `revoked`: the link was ended after ts. `valid`: nothing is wrong.
 * @property string $message The cause in words, with the remedy.
 */
final class ConnectExplanation extends ApiObject {}

/**
 * Deliveries that are being sent again.
 *
 * @property string $replayId The id of the replay. Quote it to support.
 * @property int $matched How many deliveries match now, among the oldest 10,000 of the span; where failed ones are
 *     sent again, among the oldest 10,000 failed ones. The replay goes on behind them.
 */
final class Replay extends ApiObject {}

/**
 * A tenant of one account.
 *
 * @property string $id The id of the client.
 * @property string $accountId The account it belongs to.
 * @property string $email The tenant's e-mail address.
 * @property string $firstName The tenant's first name.
 * @property string $lastName The tenant's last name.
 * @property string|null $phone The tenant's phone number in E.164 form.
 * @property string|null $locale The language to address the tenant in.
 * @property string $createdAt When the client was created.
 */
final class ClientRecord extends ApiObject {}

/**
 * What a deposit is created with.
 *
 * @property string $id The id of the deposit.
 * @property string $reference A short reference for people, easy to read aloud.
 * @property string $status Where a deposit stands. See the table of statuses.
 * @property string|null $depositUrl The tenant's checkout URL. Only with `depositUrlGeneration`.
 */
final class CreatedDeposit extends ApiObject {}

/**
 * A deposit that secures one rental.
 *
 * @property string $id The id of the deposit.
 * @property string $reference A short reference for people, easy to read aloud.
 * @property string $status Where a deposit stands. See the table of statuses.
 * @property string|null $statusReason Why a deposit came to its status, where there is more to say.
 * @property string $accountId The account it is made for.
 * @property string $externalId Your own id of the operator.
 * @property string $amount The amount in euros.
 * @property int $amountCents The amount in cents.
 * @property string $currency Always `EUR`.
 * @property int $capturedAmountCents How much was captured, in cents; 0 unless captured.
 * @property string $contractStartAt When the rental begins.
 * @property string $contractEndAt When the rental ends.
 * @property string $rentalContract Your booking or contract reference; empty when you gave none.
 * @property string|null $clientId The client it was created for; also after the client was erased. Absent, as
 *     `client` is, from a deposit that you did not create once your link to the account has ended.
 * @property DepositClient|null $client The tenant, as far as known. Absent once the client was erased.
 * @property string|null $depositUrl The tenant's checkout URL. Only with `depositUrlGeneration`.
 * @property string|null $returnUrl Where the tenant is redirected after checkout.
 * @property string $checkoutExpiresAt When it is cancelled unless it is secured: the end of the rental, 24 hours
 *     from creation at least. The tenant can secure it until the rental ends.
 * @property string|null $activatedAt When the tenant secured it.
 * @property string|null $expiresAt When coverage ends: 14 days after the end of the rental, at least 24 hours and
 *     at most 60 days after activation.
 * @property bool $coversContract Whether coverage reaches the end of the rental; before activation, as if it were
 *     activated now.
 * @property string|null $cancelledAt When it was cancelled.
 * @property string|null $closedAt When it was closed.
 * @property string|null $capturedAt When it was captured.
 * @property Collection|null $collection The collection of the captured amount from the tenant. Only of a captured
 *     deposit.
 * @property PartnerContext|null $partnerContext The partner that created the deposit. Present only on deposits
 *     created through this API.
 * @property ApiObject $metadata Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We
 *     keep them and make nothing of them.
 * @property int $version Counts the changes, from 1. Of two states of a deposit the higher version is the newer.
 * @property string $createdAt When it was created.
 * @property string $updatedAt When it last changed.
 */
final class Deposit extends ApiObject
{
    protected const TYPES = [
        'client' => DepositClient::class,
        'collection' => Collection::class,
        'partnerContext' => PartnerContext::class,
    ];
}

/**
 * The collection of the captured amount from the tenant. Only of a captured deposit.
 *
 * @property string $status What becomes of a captured amount. See the table of collections.
 * @property string|null $attemptedAt When the card was last charged.
 * @property string|null $nextAttemptAt When the card will be charged next.
 * @property string|null $paidAt When the amount was paid.
 * @property string|null $failure A code that says why the card was refused, such as `insufficient_funds`, or why
 *     the collection ended: `settled_elsewhere` (the tenant paid the operator otherwise), `withdrawn` (the operator
 *     dropped the claim), `cancelled`, `expired`, `below_minimum`. New codes may be added.
 */
final class Collection extends ApiObject {}

/**
 * The tenant, as far as known. Absent once the client was erased.
 *
 * @property string $id The id of the client.
 * @property string $email The tenant's e-mail address.
 * @property string $firstName The tenant's first name.
 * @property string $lastName The tenant's last name.
 */
final class DepositClient extends ApiObject {}

/**
 * The partner that created the deposit. Present only on deposits created through this API.
 *
 * @property string $partnerId The partner's id.
 * @property string $partnerName The partner's name.
 * @property string $externalId The partner's own id of the operator.
 */
final class PartnerContext extends ApiObject {}

/**
 * A mail with the link to a checkout.
 *
 * @property string $email Where the link is sent.
 * @property string $messageId The id of the mail, which begins its Message-ID.
 * @property string $status The mail is stored and will be sent.
 */
final class LinkMail extends ApiObject {}

/**
 * What happened, as webhooks carry it in `data`.
 *
 * @property string|null $accountId The id of the operator's account. Store it: you need it to create deposits.
 * @property int|null $amountCents The amount in cents.
 * @property int|null $capturedAmountCents How much was captured, in cents; `null` unless captured. Events that are
 *     older than this field do not have it.
 * @property DepositEventDataClient|null $client The tenant, or `null` where none is known.
 * @property string|null $contractEndAt When the rental ends.
 * @property string|null $contractStartAt When the rental begins.
 * @property string|null $externalId Your own id of the operator.
 * @property string|null $id The id of the deposit.
 * @property string|null $linkedAt When the link was made.
 * @property PartnerContext|null $partnerContext The partner that created the deposit. Present only on deposits
 *     created through this API.
 * @property string|null $partnerId Your id.
 * @property string|null $previousStatus Where a deposit stands. See the table of statuses.
 * @property string|null $reference Its reference for people.
 * @property string|null $rentalContract Your booking or contract reference; empty when you gave none.
 * @property string|null $status Where a deposit stands. See the table of statuses.
 * @property int|null $version The version of the deposit after the change, which `GET` shows too. Of two events of
 *     a deposit the one with the higher version is the newer. Events that are older than this field do not have it.
 */
final class EventData extends ApiObject
{
    protected const TYPES = [
        'client' => DepositEventDataClient::class,
        'partnerContext' => PartnerContext::class,
    ];
}

/**
 * Something that happened, under its most specific name.
 *
 * @property string $id The id of the event.
 * @property string $event The name of an event. `deposit.status_changed` covers every change of a deposit's status
 *     for which the subscription has no more specific event.
 * @property string $createdAt When it happened.
 * @property EventData $data What happened, as webhooks carry it in `data`.
 */
final class Event extends ApiObject
{
    protected const TYPES = [
        'data' => EventData::class,
    ];
}

/**
 * An event with its number in your feed.
 *
 * @property int $sequence Counts 1, 2, 3, … without a gap.
 * @property string $id The id of the event.
 * @property string $event The name of an event. `deposit.status_changed` covers every change of a deposit's status
 *     for which the subscription has no more specific event.
 * @property string $createdAt When it happened.
 * @property EventData $data What happened, as webhooks carry it in `data`.
 */
final class FeedEvent extends ApiObject
{
    protected const TYPES = [
        'data' => EventData::class,
    ];
}

/**
 * @property list<FeedEvent> $data
 * @property int $nextAfter Send this number as `after` of the next request.
 * @property string $feedId Names the numbering. It changes only when our database was restored from a backup.
 */
final class Feed extends ApiObject
{
    protected const TYPES = [
        'data' => FeedEvent::class,
    ];
}

/**
 * The deposit as it stood when the change was made.
 *
 * @property string $id The id of the deposit.
 * @property string $reference Its reference for people.
 * @property string $rentalContract Your booking or contract reference; empty when you gave none.
 * @property string $status Where a deposit stands. See the table of statuses.
 * @property string $previousStatus Where a deposit stands. See the table of statuses.
 * @property int $amountCents The amount in cents.
 * @property string $contractStartAt When the rental begins.
 * @property string $contractEndAt When the rental ends.
 * @property DepositEventDataClient|null $client The tenant, or `null` where none is known.
 * @property PartnerContext|null $partnerContext The partner that created the deposit. Present only on deposits
 *     created through this API.
 * @property int|null $version The version of the deposit after the change, which `GET` shows too. Of two events of
 *     a deposit the one with the higher version is the newer. Events that are older than this field do not have it.
 * @property int|null $capturedAmountCents How much was captured, in cents; `null` unless captured. Events that are
 *     older than this field do not have it.
 */
final class DepositEventData extends ApiObject
{
    protected const TYPES = [
        'client' => DepositEventDataClient::class,
        'partnerContext' => PartnerContext::class,
    ];
}

/**
 * A new link.
 *
 * @property string $partnerId Your id.
 * @property string $accountId The id of the operator's account. Store it: you need it to create deposits.
 * @property string $externalId Your own id of the operator.
 * @property string $linkedAt When the link was made.
 */
final class RentalOperatorLinkedData extends ApiObject {}

/**
 * The tenant, or `null` where none is known.
 *
 * @property string $id The id of the client.
 * @property string $email The tenant's e-mail address.
 * @property string $firstName The tenant's first name.
 * @property string $lastName The tenant's last name.
 */
final class DepositEventDataClient extends ApiObject {}

/**
 * Your rate limits.
 *
 * @property int $requestsPerMinute Requests of any kind per minute.
 * @property int $writesPerMinute How many of them may be `POST`, `PATCH` or `DELETE`.
 */
final class MeLimits extends ApiObject {}

/**
 * A page of a list.
 *
 * @property list<ApiKey> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class ApiKeyPage extends ApiObject
{
    protected const TYPES = [
        'data' => ApiKey::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<Account> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class AccountPage extends ApiObject
{
    protected const TYPES = [
        'data' => Account::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<Webhook> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class WebhookPage extends ApiObject
{
    protected const TYPES = [
        'data' => Webhook::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<Delivery> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class DeliveryPage extends ApiObject
{
    protected const TYPES = [
        'data' => Delivery::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<Event> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class EventPage extends ApiObject
{
    protected const TYPES = [
        'data' => Event::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<ClientRecord> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class ClientRecordPage extends ApiObject
{
    protected const TYPES = [
        'data' => ClientRecord::class,
    ];
}

/**
 * A page of a list.
 *
 * @property list<Deposit> $data
 * @property ApiObject $pagination Has hasMore and nextCursor.
 */
final class DepositPage extends ApiObject
{
    protected const TYPES = [
        'data' => Deposit::class,
    ];
}

/**
 * `active`: you may create deposits. `revoked`: you may still read and cancel those you made.
 */
final class LinkStatus
{
    public const ACTIVE = 'active';
    public const REVOKED = 'revoked';
}

/**
 * Always `EUR`.
 */
final class Currency
{
    public const EUR = 'EUR';
}

/**
 * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the subscription
 * has no more specific event.
 */
final class EventName
{
    public const RENTAL_OPERATOR_LINKED = 'rental_operator.linked';
    public const DEPOSIT_STATUS_CHANGED = 'deposit.status_changed';
    public const DEPOSIT_ACTIVATED = 'deposit.activated';
    public const DEPOSIT_CAPTURED = 'deposit.captured';
    public const DEPOSIT_EXPIRED = 'deposit.expired';
    public const DEPOSIT_CANCELLED = 'deposit.cancelled';
}

/**
 * `svc`: `X-Svc-Timestamp` and `X-Svc-Signature`. `standard`: `webhook-id`, `webhook-timestamp` and `webhook-signature`
 * beside them, for libraries of Standard Webhooks.
 */
final class SignatureKind
{
    public const SVC = 'svc';
    public const STANDARD = 'standard';
}

/**
 * `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the last
 * success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and more go
 * out. `disabled`: by you, or after five days of failures.
 */
final class EndpointState
{
    public const HEALTHY = 'healthy';
    public const FAILING = 'failing';
    public const HELD = 'held';
    public const DISABLED = 'disabled';
}

/**
 * `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint answered
 * 2xx. `failed`: given up.
 */
final class DeliveryStatus
{
    public const PENDING = 'pending';
    public const RETRYING = 'retrying';
    public const SUCCEEDED = 'succeeded';
    public const FAILED = 'failed';
}

/**
 * Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
 * `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
 * `webhook_deleted`: the subscription was deleted.
 */
final class FailureReason
{
    public const ATTEMPTS_EXHAUSTED = 'attempts_exhausted';
    public const WEBHOOK_DISABLED = 'webhook_disabled';
    public const WEBHOOK_DELETED = 'webhook_deleted';
}

/**
 * Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
 * reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
 * belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
 */
final class AttemptError
{
    public const TIMEOUT = 'timeout';
    public const DNS = 'dns';
    public const CONNECT = 'connect';
    public const TLS = 'tls';
    public const NON_2XX = 'non_2xx';
    public const REDIRECT = 'redirect';
    public const BLOCKED = 'blocked';
    public const SECRET = 'secret';
}

/**
 * Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or none of
 * our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`, `future`: the
 * timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds. `body_reserialized`: the
 * body was parsed and written again. `body_changed`: it was changed otherwise. `header_changed`: the body is that of
 * the delivery, and its signature or timestamp is not. `other_subscription_secret`: the secret is that of another
 * subscription. `wrong_secret_kind`: it is the connect secret or an API key, or a part of the secret.
 * `secret_whitespace`: the secret has white space around it. `order`: the signed message is put together otherwise.
 * `invalid_json`: the body is no JSON object. `mismatch`: none of these. `valid`: nothing is wrong.
 */
final class SignatureCause
{
    public const VALID = 'valid';
    public const MISSING_HEADER = 'missing_header';
    public const MALFORMED_HEADER = 'malformed_header';
    public const PREFIX_MISSING = 'prefix_missing';
    public const UPPER_CASE = 'upper_case';
    public const BASE64 = 'base64';
    public const STALE = 'stale';
    public const FUTURE = 'future';
    public const MILLISECONDS = 'milliseconds';
    public const BODY_RESERIALIZED = 'body_reserialized';
    public const BODY_CHANGED = 'body_changed';
    public const HEADER_CHANGED = 'header_changed';
    public const OTHER_SUBSCRIPTION_SECRET = 'other_subscription_secret';
    public const WRONG_SECRET_KIND = 'wrong_secret_kind';
    public const SECRET_WHITESPACE = 'secret_whitespace';
    public const ORDER = 'order';
    public const INVALID_JSON = 'invalid_json';
    public const MISMATCH = 'mismatch';
}

/**
 * Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there.
 * `malformed_parameter`: one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours.
 * `missing_connect_secret`: you have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise.
 * `wrong_secret_kind`: the secret is a signing secret or an API key, or a part of the connect secret.
 * `secret_whitespace`: it has white space around it. `order`: the signed message is put together otherwise.
 * `milliseconds`: ts is not in seconds. `ts_changed`: another ts was signed. `encoding`: external_id was encoded twice,
 * or not at all. `mismatch`: the signature does not match, for none of these reasons. `stale`, `future`: ts is more
 * than 30 days away. `revoked`: the link was ended after ts. `valid`: nothing is wrong.
 */
final class ConnectCause
{
    public const VALID = 'valid';
    public const MISSING_PARAMETER = 'missing_parameter';
    public const MALFORMED_PARAMETER = 'malformed_parameter';
    public const WRONG_PARTNER = 'wrong_partner';
    public const MISSING_CONNECT_SECRET = 'missing_connect_secret';
    public const UPPER_CASE = 'upper_case';
    public const BASE64 = 'base64';
    public const PREFIX_UNEXPECTED = 'prefix_unexpected';
    public const WRONG_SECRET_KIND = 'wrong_secret_kind';
    public const SECRET_WHITESPACE = 'secret_whitespace';
    public const ORDER = 'order';
    public const MILLISECONDS = 'milliseconds';
    public const TS_CHANGED = 'ts_changed';
    public const ENCODING = 'encoding';
    public const MISMATCH = 'mismatch';
    public const STALE = 'stale';
    public const FUTURE = 'future';
    public const REVOKED = 'revoked';
}

/**
 * Where a deposit stands. See the table of statuses.
 */
final class DepositStatus
{
    public const PENDING = 'pending';
    public const INCOMPLETE = 'incomplete';
    public const ACTIVE = 'active';
    public const CANCELLED = 'cancelled';
    public const PAYMENT_ISSUE = 'payment_issue';
    public const CLOSE = 'close';
    public const CAPTURED = 'captured';
}

/**
 * Why a deposit came to its status, where there is more to say.
 */
final class StatusReason
{
    public const CHECKOUT_IDLE = 'checkout_idle';
    public const FEE_FAILED = 'fee_failed';
    public const TENANT_DECLINED = 'tenant_declined';
    public const TENANT_ABANDONED = 'tenant_abandoned';
    public const BY_OPERATOR = 'by_operator';
    public const BY_PARTNER = 'by_partner';
    public const CHECKOUT_EXPIRED = 'checkout_expired';
    public const COVERAGE_ELAPSED = 'coverage_elapsed';
    public const RELEASED = 'released';
    public const CLAIM = 'claim';
}

/**
 * What becomes of a captured amount. See the table of collections.
 */
final class CollectionStatus
{
    public const SCHEDULED = 'scheduled';
    public const RETRYING = 'retrying';
    public const AWAITING_TENANT = 'awaiting_tenant';
    public const PAID = 'paid';
    public const FAILED = 'failed';
}
