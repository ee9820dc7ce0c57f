// Code generated from openapi.yaml by sdk/generate. DO NOT EDIT.

/** A value that the API may add later: keep a branch for what you do not know. */
export type Other = string & {};
/** Euros, exactly: a text such as "500.50", or a whole number. Another number is refused with a TypeError. */
export type Euros = string | number | bigint;

export interface CallOptions {
  /** In milliseconds, of one attempt. */
  timeout?: number;
  /** An AbortSignal that ends the call and its waits. */
  signal?: { readonly aborted: boolean };
}
export interface KeyedOptions extends CallOptions {
  /** A UUID v4 that you keep, to repeat the call after a crash. Without it, each call has a key of its own. */
  idempotencyKey?: string;
}

export interface Page<Item> {
  data: Item[];
  pagination: { nextCursor: string | null; hasMore: boolean };
}
/** The items of all pages, in `for await`: a page is asked for when its first item is. */
export interface List<Item> extends AsyncIterable<Item> {
  /** The first page, or the page at a cursor. */
  page(cursor?: string): Promise<Page<Item>>;
}

/** The body of a webhook. */
export type WebhookEvent = { event: 'rental_operator.linked'; createdAt: string; data: RentalOperatorLinkedData }
  | { event: `deposit.${string}`; createdAt: string; data: DepositEventData };
/**
 * Whether an event is newer than the version that you store with its deposit. An event without a version is: it is not
 * about a deposit, or older than versions.
 */
export function isNewer(event: WebhookEvent | Event, storedVersion: number | null | undefined): boolean;

/** Why a signature is refused. */
export type Reason = 'missing_header' | 'malformed_header' | 'missing_parameter' | 'malformed_parameter' | 'expired' | 'mismatch' | 'invalid_json';
/** What the cause is, where it can be told. */
export type Hint = 'stale' | 'future' | 'milliseconds' | 'body_reserialized' | 'body_changed' | 'wrong_secret_kind' | 'secret_whitespace' | 'base64' | 'upper_case' | 'prefix_missing' | 'order';

/** The routes of the API by their resources. */
export interface Api {
  readonly me: MeResource;
  readonly apiKeys: ApiKeysResource;
  readonly accounts: AccountsResource;
  readonly connect: ConnectResource;
  readonly webhooks: WebhooksResource;
  readonly deliveries: DeliveriesResource;
  readonly events: EventsResource;
  readonly clients: ClientsResource;
  readonly deposits: DepositsResource;
  readonly test: TestResource;
}

export interface MeResource {
  /**
   * Retrieve yourself.
   *
   * Shows the partner that the API key belongs to. A good first request: it needs nothing but the key.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
   * service_unavailable.
   */
  get(options?: CallOptions): Promise<Me>;
}

export interface ApiKeysResource {
  /**
   * Create an API key.
   *
   * Creates a key. The answer holds the key itself, which is shown here and never again: store it before you go on.
   * You may hold up to 20 keys; deleted ones do not count.
   *
   * This request takes no `Idempotency-Key`, so that no stored answer holds a key. If the answer got lost, delete the
   * key without `lastUsedAt` that you find in the list, and create another.
   *
   * Codes of its errors: api_key_limit_reached, api_key_revoked, internal_error, invalid_api_key, invalid_field,
   * invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
   * unsupported_media_type.
   */
  create(params: CreateApiKeyRequest, options?: CallOptions): Promise<CreatedApiKey>;
  /**
   * List API keys.
   *
   * Lists your keys, the newest first, with those that were deleted. The keys themselves are not shown.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListApiKeysQuery, options?: CallOptions): List<ApiKey>;
  /**
   * Delete an API key.
   *
   * Revokes the key: within five seconds it works nowhere, and answers `api_key_revoked`. Deleting a key again changes
   * nothing. Any key can be deleted, the one of this request and your last one too; without a key, ask us for a new
   * one.
   *
   * Codes of its errors: api_key_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable.
   */
  delete(keyId: string, options?: CallOptions): Promise<void>;
}

export interface AccountsResource {
  /**
   * List linked accounts.
   *
   * Lists the accounts of the operators linked to you, the most recently linked first. Only active links are listed
   * unless you ask for others.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListAccountsQuery, options?: CallOptions): List<Account>;
  /**
   * Retrieve a linked account.
   *
   * Retrieves one account that is or was linked to you, with the amounts that its deposits may have.
   *
   * Codes of its errors: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable.
   */
  get(accountId: string, options?: CallOptions): Promise<Account>;
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
   * Codes of its errors: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable.
   */
  delete(accountId: string, options?: CallOptions): Promise<void>;
}

export interface ConnectResource {
  /**
   * Explain why a connect URL is refused.
   *
   * Tells why a connect URL that you signed is refused. The secrets that are tried are those that you have now: the
   * connect secret, the signing secrets and the API key of this request. The right signature is never shown, and we
   * keep nothing of what you send.
   *
   * You have 30 requests a minute for this operation and `explainWebhook` together.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
   * missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
   * unsupported_media_type.
   */
  explain(params: ExplainConnectRequest, options?: CallOptions): Promise<ConnectExplanation>;
}

export interface WebhooksResource {
  /**
   * Create a webhook subscription.
   *
   * Registers an endpoint of yours. The answer holds the signing secret, which is shown here and never again: store it
   * before you go on. If you lose it, rotate it.
   *
   * Codes of its errors: api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error,
   * invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field,
   * payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
   * webhook_limit_reached.
   */
  create(params: CreateWebhookRequest, options?: KeyedOptions): Promise<CreatedWebhook>;
  /**
   * List webhook subscriptions.
   *
   * Lists your subscriptions, the newest first. Secrets are not shown.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListWebhooksQuery, options?: CallOptions): List<Webhook>;
  /**
   * Retrieve a webhook subscription.
   *
   * Retrieves one subscription. The secret is not shown.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
   * service_unavailable, webhook_not_found.
   */
  get(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Update a webhook subscription.
   *
   * Changes what you send and leaves the rest. `events` replaces the whole list. Setting `enabled` to false parks
   * deliveries; setting it to true sends, at a gentle pace, what waited.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
   * missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
   * webhook_not_found.
   */
  update(webhookId: string, params: UpdateWebhookRequest, options?: CallOptions): Promise<Webhook>;
  /**
   * Delete a webhook subscription.
   *
   * Deletes the subscription. Nothing is sent to it from then on, retries included.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
   * service_unavailable, webhook_not_found.
   */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /**
   * Rotate a signing secret.
   *
   * Issues a new secret and shows it, here and never again. The old one signs nothing from then on; retries of earlier
   * deliveries are signed with the new one too.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
   * service_unavailable, webhook_not_found.
   */
  rotateSecret(webhookId: string, options?: CallOptions): Promise<RotatedSecret>;
  /**
   * Send a test delivery.
   *
   * Sends a synthetic `deposit.activated` to the endpoint, once, and answers with the delivery and what your endpoint
   * said to it; also when it failed. The subscription must have `deposit.activated` or `deposit.status_changed`; the
   * more specific of the two is sent. The deposit in it does not exist: its id starts with `dep_test_`.
   *
   * If the attempt takes longer than we can wait for, the delivery comes back as `pending`; look it up later. You have
   * 20 tests a minute, and two in flight.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
   * service_unavailable, test_event_not_subscribed, webhook_disabled, webhook_not_found.
   */
  test(webhookId: string, options?: CallOptions): Promise<Delivery>;
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
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
   * missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
   * unsupported_media_type, webhook_not_found.
   */
  explain(webhookId: string, params: ExplainWebhookRequest, options?: CallOptions): Promise<WebhookExplanation>;
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
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_date_range, invalid_field,
   * invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, replay_limit_reached,
   * service_unavailable, unknown_field, unsupported_media_type, webhook_disabled, webhook_not_found.
   */
  replay(webhookId: string, params: ReplayRequest, options?: CallOptions): Promise<Replay>;
}

export interface DeliveriesResource {
  /**
   * List deliveries.
   *
   * Lists what was sent to a subscription, the newest first, each with all its attempts.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field, webhook_not_found.
   */
  list(webhookId: string, params?: ListWebhookDeliveriesQuery, options?: CallOptions): List<Delivery>;
  /**
   * Retrieve a delivery.
   *
   * Retrieves one delivery with its attempts and the exact body that was, or will be, sent.
   *
   * Codes of its errors: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable, webhook_not_found.
   */
  get(webhookId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryDetail>;
  /**
   * Send a delivery again.
   *
   * Makes a new delivery with the same bytes, due at once and retried like any other, whatever became of the first
   * one, which stays as it is. It goes to the present URL, signed with the present secret. `redeliveryOf` is always
   * the original, also when you send a redelivery again. A test delivery can be sent again too, and is again attempted
   * only once. You have 60 redeliveries a minute; to send many deliveries again, use `replay`.
   *
   * Codes of its errors: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable, webhook_disabled, webhook_not_found.
   */
  redeliver(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
}

export interface EventsResource {
  /**
   * List events.
   *
   * Lists your events of the last 30 days, the newest first, whatever your subscriptions receive. To follow events
   * without missing one, read the feed.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListEventsQuery, options?: CallOptions): List<Event>;
  /**
   * Read the feed.
   *
   * Your events, numbered 1, 2, 3, … without a gap, the oldest first. Keep `nextAfter`, and send it as `after` of the
   * next request: so you receive each event exactly once, and can prove that none is missing. With `waitSeconds` the
   * answer is held until there is an event. When `feedId` differs from the one you keep, our database was restored
   * from a backup: discard the answer and read anew, without `after`.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  feed(params?: ReadFeedQuery, options?: CallOptions): Promise<Feed>;
  /**
   * Retrieve an event.
   *
   * Retrieves an event. Events are kept for 30 days.
   *
   * Codes of its errors: api_key_revoked, event_not_found, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable.
   */
  get(eventId: string, options?: CallOptions): Promise<Event>;
}

export interface ClientsResource {
  /**
   * Create a client.
   *
   * Creates a tenant of one of your linked accounts. Pass its id as `clientId` when you create a deposit on the same
   * account: checkout is prefilled, and events name the person.
   *
   * Codes of its errors: account_not_linked, account_revoked, api_key_revoked, idempotency_key_in_use,
   * idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json,
   * missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
   * unsupported_media_type.
   */
  create(params: CreateClientRequest, options?: KeyedOptions): Promise<ClientRecord>;
  /**
   * List clients.
   *
   * Lists your clients at your linked accounts, the newest first: those that you created, and those that tenants
   * brought to the checkouts of your deposits. Filters are combined. Erased clients are not listed. To answer a person
   * who asks about their data, filter by `email`.
   *
   * Codes of its errors: account_revoked, api_key_revoked, internal_error, invalid_api_key, invalid_cursor,
   * invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListClientsQuery, options?: CallOptions): List<ClientRecord>;
  /**
   * Retrieve a client.
   *
   * Retrieves one of your clients. An erased client is not found.
   *
   * Codes of its errors: account_revoked, api_key_revoked, client_not_found, internal_error, invalid_api_key,
   * missing_api_key, rate_limited, service_unavailable.
   */
  get(clientId: string, options?: CallOptions): Promise<ClientRecord>;
  /**
   * Update a client.
   *
   * Changes what you send and leaves the rest. `null` clears `phone` and `locale`. Deposits and later events show the
   * new details; events that were made before do not change.
   *
   * Codes of its errors: account_revoked, api_key_revoked, client_not_found, idempotency_key_in_use,
   * idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json,
   * missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
   * unsupported_media_type.
   */
  update(clientId: string, params: UpdateClientRequest, options?: KeyedOptions): Promise<ClientRecord>;
  /**
   * Erase a client.
   *
   * Erases the person, at once and for good, whatever the status of their deposits and of the link to the account.
   * Deposits keep `clientId` and lose `client`; later events carry `client: null`. Unsent mails to the person are
   * removed. Events, deliveries and stored responses that were made before keep their bytes until their retention
   * ends, 30 days at most for events. Again: 204.
   *
   * Codes of its errors: api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key,
   * rate_limited, service_unavailable.
   */
  delete(clientId: string, options?: CallOptions): Promise<void>;
}

export interface DepositsResource {
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
   * Codes of its errors: account_not_linked, account_revoked, amount_above_maximum, amount_below_minimum,
   * api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_client,
   * invalid_date_range, invalid_field, invalid_idempotency_key, invalid_json, invalid_return_url, missing_api_key,
   * missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
   */
  create(params: CreateDepositRequest, options?: KeyedOptions): Promise<CreatedDeposit>;
  /**
   * List deposits.
   *
   * Lists your deposits, the newest first. Filters are combined: a deposit must match all of them.
   *
   * Codes of its errors: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
   * missing_api_key, rate_limited, service_unavailable, unknown_field.
   */
  list(params?: ListDepositsQuery, options?: CallOptions): List<Deposit>;
  /**
   * Retrieve a deposit.
   *
   * Retrieves a deposit as it is now. `status` is authoritative: use this to catch up after missed events.
   *
   * Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_found, internal_error, invalid_api_key,
   * missing_api_key, rate_limited, service_unavailable.
   */
  get(depositId: string, options?: CallOptions): Promise<Deposit>;
  /**
   * Cancel a deposit.
   *
   * Voids a deposit that the tenant has not secured yet: `pending`, `incomplete` or `payment_issue`. The checkout URL
   * stops working. This also works after the link to the account was revoked.
   *
   * Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
   * idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field,
   * invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable,
   * unknown_field, unsupported_media_type.
   */
  cancel(depositId: string, params?: CancelDepositRequest, options?: KeyedOptions): Promise<Deposit>;
  /**
   * Release a deposit.
   *
   * Ends the cover of an active deposit early, without a claim. The status becomes `close`, and the tenant can no
   * longer be charged. This cannot be undone.
   *
   * Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
   * deposit_not_releasable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
   * invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited,
   * service_unavailable, unknown_field, unsupported_media_type.
   */
  release(depositId: string, params?: ReleaseDepositRequest, options?: KeyedOptions): Promise<Deposit>;
  /**
   * Capture a deposit.
   *
   * Collects an active deposit after damage, all of it or a part, once and before `expiresAt`. The status becomes
   * `captured` at once: the operator holds a guarantee. Collecting from the tenant follows; `collection` tells how far
   * it is.
   *
   * Codes of its errors: account_revoked, api_key_revoked, capture_below_minimum, capture_exceeds_amount,
   * deposit_access_denied, deposit_not_capturable, deposit_not_found, idempotency_key_in_use, idempotency_key_reused,
   * internal_error, invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key,
   * payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type.
   */
  capture(depositId: string, params?: CaptureDepositRequest, options?: KeyedOptions): Promise<Deposit>;
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
   * Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
   * deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
   * invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
   * rate_limited, service_unavailable, unknown_field, unsupported_media_type.
   */
  sendLink(depositId: string, params: SendLinkRequest, options?: KeyedOptions): Promise<LinkMail>;
  /**
   * Mail the checkout link to several people.
   *
   * Does as `send-link` for up to 20 recipients. Either every mail is queued or none: one bad recipient refuses the
   * request, and so does an address that occurs twice.
   *
   * Codes of its errors: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
   * deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
   * invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
   * rate_limited, service_unavailable, unknown_field, unsupported_media_type.
   */
  sendLinkBatch(depositId: string, params: SendLinkBatchRequest, options?: KeyedOptions): Promise<Array<LinkMail>>;
}

export interface TestResource {
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
   * Codes of its errors: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
   * deposit_not_releasable, deposit_not_securable, internal_error, invalid_api_key, invalid_field, invalid_json,
   * missing_api_key, missing_field, payload_too_large, rate_limited, route_not_found, service_unavailable,
   * unknown_field, unsupported_media_type.
   */
  simulate(depositId: string, params: SimulateDepositRequest, options?: CallOptions): Promise<Deposit>;
}

export interface ListApiKeysQuery {
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ListAccountsQuery {
  /** Which links to list. */
  status?: 'active' | 'revoked' | 'all';
  /** Only the account that you know under this id. */
  externalId?: string;
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ListWebhooksQuery {
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ListWebhookDeliveriesQuery {
  /** Only deliveries in this status. */
  status?: DeliveryStatus;
  /** Only deliveries of this event. */
  event?: EventName;
  /** Only deliveries about this deposit. */
  depositId?: string;
  /** Only deliveries created at or after this time. */
  from?: string | Date;
  /** Only deliveries created before this time. */
  to?: string | Date;
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ListEventsQuery {
  /** Only events of this name. */
  event?: EventName;
  /** Only events about this deposit. */
  depositId?: string;
  /** Only events created at or after this time. */
  from?: string | Date;
  /** Only events created before this time. */
  to?: string | Date;
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ReadFeedQuery {
  /** The number of the last event that you have. Without it, the feed begins with the oldest event that is kept. */
  after?: number;
  /** How many items to return at most. */
  limit?: number;
  /** How long the answer may be held while there is no event, in seconds. */
  waitSeconds?: number;
}

export interface ListClientsQuery {
  /** Only clients of this account. */
  accountId?: string;
  /** Only clients with this e-mail address; ASCII letters match in either case. */
  email?: string;
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

export interface ListDepositsQuery {
  /** Only deposits of this account. */
  accountId?: string;
  /** Only deposits of the account that you know under this id. */
  externalId?: string;
  /** Only deposits in one of these statuses, separated by commas. */
  status?: Array<DepositStatus>;
  /** Only deposits with exactly this contract reference. */
  rentalContract?: string;
  /** Only deposits of this client. */
  clientId?: string;
  /** Only deposits created at or after this time. */
  createdFrom?: string | Date;
  /** Only deposits created before this time. */
  createdTo?: string | Date;
  /** How many items to return at most. */
  limit?: number;
  /** The `nextCursor` of the page before. Leave out for the first page. */
  cursor?: string;
}

/** The partner that an API key belongs to. */
export interface Me {
  /** Your id. */
  partnerId: string;
  /** Your slug in connect URLs. */
  slug: string;
  /** Your name as operators see it. */
  name: string;
  /** The installation that answered. */
  environment: 'development' | 'staging' | 'production' | Other;
  /** The id of the API key you used. */
  keyId: string;
  /** Your rate limits. */
  limits: MeLimits;
}

export interface CreateApiKeyRequest {
  /** What the key is for, in one line. Names may repeat. */
  name: string;
}

/** A credential of yours, without the key itself. */
export interface ApiKey {
  /** The id of the key. */
  id: string;
  /** What the key is for. */
  name: string;
  /** The beginning of the key, which names its environment. */
  prefix: string;
  /** The last four characters of the key. */
  last4: string;
  /** When the key was created. */
  createdAt: string;
  /** When the key was last used, to about a minute. Absent if it never was. */
  lastUsedAt?: string;
  /** When the key was deleted. Absent while it works. */
  revokedAt?: string;
}

/** A new key. */
export interface CreatedApiKey {
  /** The id of the key. */
  id: string;
  /** What the key is for. */
  name: string;
  /** The beginning of the key, which names its environment. */
  prefix: string;
  /** The last four characters of the key. */
  last4: string;
  /** When the key was created. */
  createdAt: string;
  /** The key itself. Shown this once. */
  key: string;
}

/** The account of a rental operator who is or was linked to you. */
export interface Account {
  /** The id of the operator's account; you need it to create deposits. */
  accountId: string;
  /** Your own id of the operator, from the connect URL. */
  externalId: string;
  /** `active`: you may create deposits. `revoked`: you may still read and cancel those you made. */
  status: LinkStatus;
  /** When the link was made. */
  linkedAt: string;
  /** When the link ended. Only on revoked links. */
  revokedAt?: string;
  /** What deposits of this account may amount to, bounds included. */
  limits: AccountLimits;
}

/** `active`: you may create deposits. `revoked`: you may still read and cancel those you made. */
export type LinkStatus = 'active' | 'revoked' | Other;

/** What deposits of this account may amount to, bounds included. */
export interface AccountLimits {
  /** The least amount, in cents. */
  minAmountCents: number;
  /** The operator's ceiling, in cents. */
  maxAmountCents: number;
  /** Always `EUR`. */
  currency: Currency;
}

/** Always `EUR`. */
export type Currency = 'EUR' | Other;

/**
 * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the subscription
 * has no more specific event.
 */
export type EventName = 'rental_operator.linked' | 'deposit.status_changed' | 'deposit.activated' | 'deposit.captured' | 'deposit.expired' | 'deposit.cancelled' | Other;

export interface CreateWebhookRequest {
  /** Your endpoint. Must be https and publicly reachable, and not at a port of another service, such as 22 or 25. */
  url: string;
  /** What to send. Leave out for all events. */
  events?: Array<EventName>;
  /**
   * Which signatures deliveries carry: `svc` is ours and cannot be left out; with `standard` they carry the headers of
   * Standard Webhooks beside it. Leave out for ours alone.
   */
  signatures?: Array<SignatureKind>;
}

/**
 * `svc`: `X-Svc-Timestamp` and `X-Svc-Signature`. `standard`: `webhook-id`, `webhook-timestamp` and
 * `webhook-signature` beside them, for libraries of Standard Webhooks.
 */
export type SignatureKind = 'svc' | 'standard' | Other;

export interface UpdateWebhookRequest {
  /** The new endpoint. */
  url?: string;
  /** The new list of events, replacing the old one. */
  events?: Array<EventName>;
  /** The new list of signatures, replacing the old one; it has `svc`. */
  signatures?: Array<SignatureKind>;
  /** Whether deliveries go out. While false, they wait. */
  enabled?: boolean;
}

/** A subscription of one of your endpoints to events. */
export interface Webhook {
  /** The id of the subscription. */
  id: string;
  /** The endpoint. */
  url: string;
  /** What is sent to it. */
  events: Array<EventName>;
  /** Which signatures deliveries carry. */
  signatures: Array<SignatureKind>;
  /** Whether deliveries go out. */
  enabled: boolean;
  /** Why deliveries do not go out. Only while disabled. */
  disabledReason?: 'disabled_by_partner' | 'failing_for_five_days' | Other;
  /** When the subscription was created. */
  createdAt: string;
  /**
   * How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for
   * an attempt, are being sent, or are parked because the subscription is disabled.
   */
  health: EndpointHealth;
}

/**
 * How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for an
 * attempt, are being sent, or are parked because the subscription is disabled.
 */
export interface EndpointHealth {
  /**
   * `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the
   * last success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and
   * more go out. `disabled`: by you, or after five days of failures.
   */
  state: EndpointState;
  /** When the state began. */
  since: string;
  /** When the endpoint last took a delivery. While deliveries succeed, up to ten seconds behind. */
  lastSuccessAt?: string;
  /** When an attempt last failed. */
  lastFailureAt?: string;
  /**
   * Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
   * reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
   * belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
   */
  lastError?: AttemptError;
  /** How many deliveries have not ended. */
  pending: number;
  /** True, and only then there: more than 10,000 deliveries have not ended. */
  pendingCapped?: boolean;
  /** When the oldest of them was created. */
  oldestPendingAt?: string;
}

/**
 * `healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the last
 * success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and more go
 * out. `disabled`: by you, or after five days of failures.
 */
export type EndpointState = 'healthy' | 'failing' | 'held' | 'disabled' | Other;

/** A new subscription with its signing secret. */
export interface CreatedWebhook {
  /** The id of the subscription. */
  id: string;
  /** The endpoint. */
  url: string;
  /** What is sent to it. */
  events: Array<EventName>;
  /** Which signatures deliveries carry. */
  signatures: Array<SignatureKind>;
  /** Whether deliveries go out. */
  enabled: boolean;
  /** When the subscription was created. */
  createdAt: string;
  /**
   * How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for
   * an attempt, are being sent, or are parked because the subscription is disabled.
   */
  health: EndpointHealth;
  /** The signing secret. Shown this once. */
  secret: string;
}

/** A subscription with its new signing secret. */
export interface RotatedSecret {
  /** The id of the subscription. */
  id: string;
  /** The endpoint. */
  url: string;
  /** What is sent to it. */
  events: Array<EventName>;
  /** The new signing secret. Shown this once. */
  secret: string;
}

/**
 * `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint answered
 * 2xx. `failed`: given up.
 */
export type DeliveryStatus = 'pending' | 'retrying' | 'succeeded' | 'failed' | Other;

/**
 * Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
 * `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
 * `webhook_deleted`: the subscription was deleted.
 */
export type FailureReason = 'attempts_exhausted' | 'webhook_disabled' | 'webhook_deleted' | Other;

/**
 * Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
 * reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
 * belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
 */
export type AttemptError = 'timeout' | 'dns' | 'connect' | 'tls' | 'non_2xx' | 'redirect' | 'blocked' | 'secret' | Other;

/** One attempt to deliver. */
export interface DeliveryAttempt {
  /** Counts from 1. */
  number: number;
  /** When the attempt began. */
  startedAt: string;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The HTTP status your endpoint answered with, if it did. */
  responseStatus?: number;
  /** The beginning of what it answered, at most 1 KiB. */
  responseSnippet?: string;
  /**
   * Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
   * reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
   * belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate it.
   */
  error?: AttemptError;
}

/** One event on its way to one subscription. */
export interface Delivery {
  /** The id of the delivery. */
  id: string;
  /** The subscription it goes to. */
  webhookId: string;
  /** The id of the event. */
  eventId: string;
  /**
   * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
   * subscription has no more specific event.
   */
  event: EventName;
  /** The deposit it is about. Absent for `rental_operator.linked`. */
  depositId?: string;
  /** Whether this is a test you asked for. */
  test: boolean;
  /**
   * `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint answered
   * 2xx. `failed`: given up.
   */
  status: DeliveryStatus;
  /** How many attempts were made. */
  attemptCount: number;
  /** When the next attempt is due. Absent when none is. */
  nextAttemptAt?: string;
  /** When the delivery was created. */
  createdAt: string;
  /** When your endpoint answered 2xx. */
  deliveredAt?: string;
  /**
   * Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
   * `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
   * `webhook_deleted`: the subscription was deleted.
   */
  failureReason?: FailureReason;
  /** The delivery that this one repeats. */
  redeliveryOf?: string;
  /** SHA-256 of the body in hex, the same on every attempt. */
  bodySha256: string;
  /** All attempts, the oldest first. */
  attempts: Array<DeliveryAttempt>;
}

/** A delivery with the body it carries. */
export interface DeliveryDetail {
  /** The id of the delivery. */
  id: string;
  /** The subscription it goes to. */
  webhookId: string;
  /** The id of the event. */
  eventId: string;
  /**
   * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
   * subscription has no more specific event.
   */
  event: EventName;
  /** The deposit it is about. Absent for `rental_operator.linked`. */
  depositId?: string;
  /** Whether this is a test you asked for. */
  test: boolean;
  /**
   * `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint answered
   * 2xx. `failed`: given up.
   */
  status: DeliveryStatus;
  /** How many attempts were made. */
  attemptCount: number;
  /** When the next attempt is due. Absent when none is. */
  nextAttemptAt?: string;
  /** When the delivery was created. */
  createdAt: string;
  /** When your endpoint answered 2xx. */
  deliveredAt?: string;
  /**
   * Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
   * `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
   * `webhook_deleted`: the subscription was deleted.
   */
  failureReason?: FailureReason;
  /** The delivery that this one repeats. */
  redeliveryOf?: string;
  /** SHA-256 of the body in hex, the same on every attempt. */
  bodySha256: string;
  /** All attempts, the oldest first. */
  attempts: Array<DeliveryAttempt>;
  /** The exact body, to the byte, as a string. */
  body: string;
}

export interface ExplainWebhookRequest {
  /**
   * The headers as your endpoint received them, in any case; `X-Svc-Signature` and `X-Svc-Timestamp` are read. Join
   * the values of a header that came more than once with a comma.
   */
  headers: { [name: string]: string };
  /** The body as your endpoint received it, in base64. */
  body: string;
  /** The signature that your endpoint computed, as it compared it. */
  computed?: string;
}

/** Why a delivery does not verify. */
export interface WebhookExplanation {
  /** Whether the signature verifies now, and was computed right if you sent it. */
  valid: boolean;
  /**
   * Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or none
   * of our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`, `future`: the
   * timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds. `body_reserialized`: the
   * body was parsed and written again. `body_changed`: it was changed otherwise. `header_changed`: the body is that of
   * the delivery, and its signature or timestamp is not. `other_subscription_secret`: the secret is that of another
   * subscription. `wrong_secret_kind`: it is the connect secret or an API key, or a part of the secret.
   * `secret_whitespace`: the secret has white space around it. `order`: the signed message is put together otherwise.
   * `invalid_json`: the body is no JSON object. `mismatch`: none of these. `valid`: nothing is wrong.
   */
  cause: SignatureCause;
  /** The cause in words, with the remedy. */
  message: string;
  /** The delivery that was received, where it is found. */
  deliveryId?: string;
}

/**
 * Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or none
 * of our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`, `future`: the
 * timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds. `body_reserialized`: the
 * body was parsed and written again. `body_changed`: it was changed otherwise. `header_changed`: the body is that of
 * the delivery, and its signature or timestamp is not. `other_subscription_secret`: the secret is that of another
 * subscription. `wrong_secret_kind`: it is the connect secret or an API key, or a part of the secret.
 * `secret_whitespace`: the secret has white space around it. `order`: the signed message is put together otherwise.
 * `invalid_json`: the body is no JSON object. `mismatch`: none of these. `valid`: nothing is wrong.
 */
export type SignatureCause = 'valid' | 'missing_header' | 'malformed_header' | 'prefix_missing' | 'upper_case' | 'base64' | 'stale' | 'future' | 'milliseconds' | 'body_reserialized' | 'body_changed' | 'header_changed' | 'other_subscription_secret' | 'wrong_secret_kind' | 'secret_whitespace' | 'order' | 'invalid_json' | 'mismatch' | Other;

export interface ExplainConnectRequest {
  /** The connect URL as you gave it to the operator. */
  url: string;
}

/** Why a connect URL is refused. */
export interface ConnectExplanation {
  /** Whether our pages accept the URL. */
  valid: boolean;
  /**
   * Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there.
   * `malformed_parameter`: one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours.
   * `missing_connect_secret`: you have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise.
   * `wrong_secret_kind`: the secret is a signing secret or an API key, or a part of the connect secret.
   * `secret_whitespace`: it has white space around it. `order`: the signed message is put together otherwise.
   * `milliseconds`: ts is not in seconds. `ts_changed`: another ts was signed. `encoding`: external_id was encoded
   * twice, or not at all. `mismatch`: the signature does not match, for none of these reasons. `stale`, `future`: ts
   * is more than 30 days away. `revoked`: the link was ended after ts. `valid`: nothing is wrong.
   */
  cause: ConnectCause;
  /** The cause in words, with the remedy. */
  message: string;
}

/**
 * Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there.
 * `malformed_parameter`: one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours.
 * `missing_connect_secret`: you have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise.
 * `wrong_secret_kind`: the secret is a signing secret or an API key, or a part of the connect secret.
 * `secret_whitespace`: it has white space around it. `order`: the signed message is put together otherwise.
 * `milliseconds`: ts is not in seconds. `ts_changed`: another ts was signed. `encoding`: external_id was encoded
 * twice, or not at all. `mismatch`: the signature does not match, for none of these reasons. `stale`, `future`: ts is
 * more than 30 days away. `revoked`: the link was ended after ts. `valid`: nothing is wrong.
 */
export type ConnectCause = 'valid' | 'missing_parameter' | 'malformed_parameter' | 'wrong_partner' | 'missing_connect_secret' | 'upper_case' | 'base64' | 'prefix_unexpected' | 'wrong_secret_kind' | 'secret_whitespace' | 'order' | 'milliseconds' | 'ts_changed' | 'encoding' | 'mismatch' | 'stale' | 'future' | 'revoked' | Other;

export interface ReplayRequest {
  /** Deliveries created at or after this time … */
  from: string | Date;
  /** … and before this one. */
  to: string | Date;
  /**
   * `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint answered
   * 2xx. `failed`: given up.
   */
  status?: DeliveryStatus;
}

/** Deliveries that are being sent again. */
export interface Replay {
  /** The id of the replay. Quote it to support. */
  replayId: string;
  /**
   * How many deliveries match now, among the oldest 10,000 of the span; where failed ones are sent again, among the
   * oldest 10,000 failed ones. The replay goes on behind them.
   */
  matched: number;
}

export interface CreateClientRequest {
  /** A linked account. */
  accountId: string;
  /** The tenant's e-mail address. */
  email: string;
  /** The tenant's first name. */
  firstName: string;
  /** The tenant's last name. */
  lastName: string;
  /** The tenant's phone number in E.164 form, such as `+33612345678`. */
  phone?: string;
  /** The language to address the tenant in, such as `fr` or `en-GB`. */
  locale?: string;
}

/** A tenant of one account. */
export interface ClientRecord {
  /** The id of the client. */
  id: string;
  /** The account it belongs to. */
  accountId: string;
  /** The tenant's e-mail address. */
  email: string;
  /** The tenant's first name. */
  firstName: string;
  /** The tenant's last name. */
  lastName: string;
  /** The tenant's phone number in E.164 form. */
  phone?: string;
  /** The language to address the tenant in. */
  locale?: string;
  /** When the client was created. */
  createdAt: string;
}

export interface UpdateClientRequest {
  /** The tenant's new e-mail address. */
  email?: string;
  /** The tenant's new first name. */
  firstName?: string;
  /** The tenant's new last name. */
  lastName?: string;
  /** The new phone number in E.164 form; null clears it. */
  phone?: string | null;
  /** The new language to address the tenant in; null clears it. */
  locale?: string | null;
}

/** Where a deposit stands. See the table of statuses. */
export type DepositStatus = 'pending' | 'incomplete' | 'active' | 'cancelled' | 'payment_issue' | 'close' | 'captured' | Other;

/** Why a deposit came to its status, where there is more to say. */
export type StatusReason = 'checkout_idle' | 'fee_failed' | 'tenant_declined' | 'tenant_abandoned' | 'by_operator' | 'by_partner' | 'checkout_expired' | 'coverage_elapsed' | 'released' | 'claim' | Other;

export interface CreateDepositRequest {
  /** The account to secure the deposit for; it must be linked to you. */
  accountId: string;
  /**
   * The amount in **euros**, not cents, with at most two decimals: at least 70.00 and at most the operator's ceiling,
   * which is 2500.00 unless negotiated. Read exactly, never through a float.
   */
  amount: Euros;
  /** When the rental begins. May be in the past. */
  contractStartAt: string | Date;
  /** When the rental ends: in the future, and not before it begins. */
  contractEndAt: string | Date;
  /** Your booking or contract reference. */
  rentalContract?: string;
  /** The id of a client that you created on the same account. */
  clientId?: string;
  /** Whether to return a checkout URL for the tenant. */
  depositUrlGeneration?: boolean;
  /**
   * Where the tenant is redirected after checkout: https, or http on localhost; at most 2048 characters. Required when
   * `depositUrlGeneration` is true.
   */
  returnUrl?: string;
  /** Always `EUR`. */
  currency?: Currency;
  /**
   * Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and make nothing of
   * them.
   */
  metadata?: { [name: string]: string };
  /** The language of checkout, such as `fr` or `en-GB`. */
  locale?: string;
}

/** What a deposit is created with. */
export interface CreatedDeposit {
  /** The id of the deposit. */
  id: string;
  /** A short reference for people, easy to read aloud. */
  reference: string;
  /** Where a deposit stands. See the table of statuses. */
  status: DepositStatus;
  /** The tenant's checkout URL. Only with `depositUrlGeneration`. */
  depositUrl?: string;
}

/** A deposit that secures one rental. */
export interface Deposit {
  /** The id of the deposit. */
  id: string;
  /** A short reference for people, easy to read aloud. */
  reference: string;
  /** Where a deposit stands. See the table of statuses. */
  status: DepositStatus;
  /** Why a deposit came to its status, where there is more to say. */
  statusReason?: StatusReason;
  /** The account it is made for. */
  accountId: string;
  /** Your own id of the operator. */
  externalId: string;
  /** The amount in euros. */
  amount: string;
  /** The amount in cents. */
  amountCents: number;
  /** Always `EUR`. */
  currency: Currency;
  /** How much was captured, in cents; 0 unless captured. */
  capturedAmountCents: number;
  /** When the rental begins. */
  contractStartAt: string;
  /** When the rental ends. */
  contractEndAt: string;
  /** Your booking or contract reference; empty when you gave none. */
  rentalContract: string;
  /**
   * The client it was created for; also after the client was erased. Absent, as `client` is, from a deposit that you
   * did not create once your link to the account has ended.
   */
  clientId?: string;
  /** The tenant, as far as known. Absent once the client was erased. */
  client?: DepositClient;
  /** The tenant's checkout URL. Only with `depositUrlGeneration`. */
  depositUrl?: string;
  /** Where the tenant is redirected after checkout. */
  returnUrl?: string;
  /**
   * When it is cancelled unless it is secured: the end of the rental, 24 hours from creation at least. The tenant can
   * secure it until the rental ends.
   */
  checkoutExpiresAt: string;
  /** When the tenant secured it. */
  activatedAt?: string;
  /**
   * When coverage ends: 14 days after the end of the rental, at least 24 hours and at most 60 days after activation.
   */
  expiresAt?: string;
  /** Whether coverage reaches the end of the rental; before activation, as if it were activated now. */
  coversContract: boolean;
  /** When it was cancelled. */
  cancelledAt?: string;
  /** When it was closed. */
  closedAt?: string;
  /** When it was captured. */
  capturedAt?: string;
  /** The collection of the captured amount from the tenant. Only of a captured deposit. */
  collection?: Collection;
  /** The partner that created the deposit. Present only on deposits created through this API. */
  partnerContext?: PartnerContext;
  /**
   * Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and make nothing of
   * them.
   */
  metadata: { [name: string]: string };
  /** Counts the changes, from 1. Of two states of a deposit the higher version is the newer. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** What becomes of a captured amount. See the table of collections. */
export type CollectionStatus = 'scheduled' | 'retrying' | 'awaiting_tenant' | 'paid' | 'failed' | Other;

/** The collection of the captured amount from the tenant. Only of a captured deposit. */
export interface Collection {
  /** What becomes of a captured amount. See the table of collections. */
  status: CollectionStatus;
  /** When the card was last charged. */
  attemptedAt?: string;
  /** When the card will be charged next. */
  nextAttemptAt?: string;
  /** When the amount was paid. */
  paidAt?: string;
  /**
   * A code that says why the card was refused, such as `insufficient_funds`, or why the collection ended:
   * `settled_elsewhere` (the tenant paid the operator otherwise), `withdrawn` (the operator dropped the claim),
   * `cancelled`, `expired`, `below_minimum`. New codes may be added.
   */
  failure?: string;
}

/** The tenant, as far as known. Absent once the client was erased. */
export interface DepositClient {
  /** The id of the client. */
  id: string;
  /** The tenant's e-mail address. */
  email: string;
  /** The tenant's first name. */
  firstName: string;
  /** The tenant's last name. */
  lastName: string;
}

/** The partner that created the deposit. Present only on deposits created through this API. */
export interface PartnerContext {
  /** The partner's id. */
  partnerId: string;
  /** The partner's name. */
  partnerName: string;
  /** The partner's own id of the operator. */
  externalId: string;
}

export interface CancelDepositRequest {
  /** Why you cancel. */
  reason?: 'booking_cancelled' | 'duplicate' | 'other';
  /** Anything you want to keep with it. */
  comment?: string;
}

export interface ReleaseDepositRequest {
  /** Anything you want to keep with it. */
  comment?: string;
}

export interface CaptureDepositRequest {
  /**
   * How much to collect, in euros, with at most two decimals. More than 0, at most the deposit's amount, which is also
   * the default.
   */
  amount?: Euros;
  /** Always `EUR`. */
  currency?: Currency;
  /** What the claim is for. */
  reason?: 'damage' | 'cleaning' | 'missing_items' | 'unpaid_charges' | 'other';
  /** What happened. */
  description?: string;
}

export interface SendLinkRequest {
  /** Where to send the link. */
  email: string;
  /**
   * The language of the mail, such as `fr` or `en-GB`; by default the `locale` of the deposit. Without either, the
   * mail is in English and French.
   */
  locale?: string;
}

export interface SendLinkBatchRequest {
  /** Who gets the link, each address once. */
  recipients: Array<SendLinkRequest>;
}

/** A mail with the link to a checkout. */
export interface LinkMail {
  /** Where the link is sent. */
  email: string;
  /** The id of the mail, which begins its Message-ID. */
  messageId: string;
  /** The mail is stored and will be sent. */
  status: 'queued' | Other;
}

export interface SimulateDepositRequest {
  /** What happens. */
  outcome: 'start' | 'activate' | 'decline' | 'abandon' | 'fail_payment' | 'expire';
}

/** What happened, as webhooks carry it in `data`. */
export type EventData = DepositEventData | RentalOperatorLinkedData;

/** Something that happened, under its most specific name. */
export interface Event {
  /** The id of the event. */
  id: string;
  /**
   * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
   * subscription has no more specific event.
   */
  event: EventName;
  /** When it happened. */
  createdAt: string;
  /** What happened, as webhooks carry it in `data`. */
  data: EventData;
}

/** An event with its number in your feed. */
export interface FeedEvent {
  /** Counts 1, 2, 3, … without a gap. */
  sequence: number;
  /** The id of the event. */
  id: string;
  /**
   * The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
   * subscription has no more specific event.
   */
  event: EventName;
  /** When it happened. */
  createdAt: string;
  /** What happened, as webhooks carry it in `data`. */
  data: EventData;
}

export interface Feed {
  data: Array<FeedEvent>;
  /** Send this number as `after` of the next request. */
  nextAfter: number;
  /** Names the numbering. It changes only when our database was restored from a backup. */
  feedId: string;
}

/** The deposit as it stood when the change was made. */
export interface DepositEventData {
  /** The id of the deposit. */
  id: string;
  /** Its reference for people. */
  reference: string;
  /** Your booking or contract reference; empty when you gave none. */
  rentalContract: string;
  /** Where a deposit stands. See the table of statuses. */
  status: DepositStatus;
  /** Where a deposit stands. See the table of statuses. */
  previousStatus: DepositStatus;
  /** The amount in cents. */
  amountCents: number;
  /** When the rental begins. */
  contractStartAt: string;
  /** When the rental ends. */
  contractEndAt: string;
  /** The tenant, or `null` where none is known. */
  client: DepositEventDataClient | null;
  /** The partner that created the deposit. Present only on deposits created through this API. */
  partnerContext?: PartnerContext;
  /**
   * The version of the deposit after the change, which `GET` shows too. Of two events of a deposit the one with the
   * higher version is the newer. Events that are older than this field do not have it.
   */
  version?: number;
  /** How much was captured, in cents; `null` unless captured. Events that are older than this field do not have it. */
  capturedAmountCents?: number | null;
}

/** A new link. */
export interface RentalOperatorLinkedData {
  /** Your id. */
  partnerId: string;
  /** The id of the operator's account. Store it: you need it to create deposits. */
  accountId: string;
  /** Your own id of the operator. */
  externalId: string;
  /** When the link was made. */
  linkedAt: string;
}

/** The tenant, or `null` where none is known. */
export interface DepositEventDataClient {
  /** The id of the client. */
  id: string;
  /** The tenant's e-mail address. */
  email: string;
  /** The tenant's first name. */
  firstName: string;
  /** The tenant's last name. */
  lastName: string;
}

/** Your rate limits. */
export interface MeLimits {
  /** Requests of any kind per minute. */
  requestsPerMinute: number;
  /** How many of them may be `POST`, `PATCH` or `DELETE`. */
  writesPerMinute: number;
}

