# Code generated from openapi.yaml by sdk/generate. DO NOT EDIT.
"""The routes and types of the Partner API, for callers with and without asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import threading
import uuid
from datetime import datetime
from decimal import Decimal
from typing import (Any, AsyncIterator, Callable, Dict, Generic, Iterable, Iterator, List, Literal, Mapping, Optional,
                    Sequence, TypedDict, TypeVar, Union)

from ._core import (OMIT, Answer, ApiConnectionError, ApiError, Core, Pages, PartnerDepositsError, caller_left,
                    ensure, follow)

__all__ = [
    "Account", "AccountLimits", "Answer", "ApiConnectionError", "ApiError", "ApiKey", "AsyncPages",
    "AsyncPartnerDeposits", "AttemptError", "ClientRecord", "Collection", "CollectionStatus", "ConnectCause",
    "ConnectExplanation", "CreatedApiKey", "CreatedDeposit", "CreatedWebhook", "Currency", "Delivery",
    "DeliveryAttempt", "DeliveryDetail", "DeliveryStatus", "Deposit", "DepositClient", "DepositEventDataClient",
    "DepositStatus", "EndpointHealth", "EndpointState", "EnsuredWebhook", "Event", "EventData", "EventName",
    "FailureReason", "Feed", "FeedEvent", "FollowedEvent", "LinkMail", "LinkReturn", "LinkStatus", "Me", "MeLimits",
    "Money", "Page", "Pages", "Pagination", "PartnerContext", "PartnerDeposits", "PartnerDepositsError", "Replay",
    "RotatedSecret", "SendLinkParam", "SignatureCause", "SignatureKind", "StatusReason", "Time", "VERSION", "Webhook",
    "WebhookEvent", "WebhookExplanation", "is_newer",
]
VERSION = "1.0.0"
WORDS = {
    "missing_header": "X-Svc-Signature or X-Svc-Timestamp is missing.",
    "malformed_header": "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
    "missing_parameter": "A signed parameter of the return URL is missing.",
    "malformed_parameter": "A signed parameter of the return URL is not in the form that we send.",
    "expired": "The timestamp is outside the tolerance.",
    "mismatch": "The signature does not match.",
    "invalid_json": "The body is not a JSON object.",
    "stale": "It is in the past: check this server's clock, and that the request is not a replay.",
    "future": "It is in the future: check this server's clock.",
    "milliseconds": "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
    "body_reserialized": "The body was parsed and written again: pass the raw body.",
    "body_changed": "The body is not what was sent: pass the raw body, unread and unchanged.",
    "wrong_secret_kind": "The secret is not a signing secret (svc_whsec_…).",
    "secret_whitespace": "The secret has white space around it.",
    "base64": "The signature is base64: it must be lower-case hex.",
    "upper_case": "The signature is in upper case: it must be lower-case hex.",
    "prefix_missing": "The prefix sha256= is missing.",
    "order": "The signed message is in another order: it is <timestamp>.<raw body>.",
}
T = TypeVar("T")
Money = Union[str, int, Decimal]
Time = Union[str, datetime]
LinkStatus = Literal["active", "revoked"]
Currency = Literal["EUR"]
EventName = Literal["rental_operator.linked", "deposit.status_changed", "deposit.activated", "deposit.captured",
                    "deposit.expired", "deposit.cancelled"]
SignatureKind = Literal["svc", "standard"]
EndpointState = Literal["healthy", "failing", "held", "disabled"]
DeliveryStatus = Literal["pending", "retrying", "succeeded", "failed"]
FailureReason = Literal["attempts_exhausted", "webhook_disabled", "webhook_deleted"]
AttemptError = Literal["timeout", "dns", "connect", "tls", "non_2xx", "redirect", "blocked", "secret"]
SignatureCause = Literal["valid", "missing_header", "malformed_header", "prefix_missing", "upper_case", "base64",
                         "stale", "future", "milliseconds", "body_reserialized", "body_changed", "header_changed",
                         "other_subscription_secret", "wrong_secret_kind", "secret_whitespace", "order", "invalid_json",
                         "mismatch"]
ConnectCause = Literal["valid", "missing_parameter", "malformed_parameter", "wrong_partner", "missing_connect_secret",
                       "upper_case", "base64", "prefix_unexpected", "wrong_secret_kind", "secret_whitespace", "order",
                       "milliseconds", "ts_changed", "encoding", "mismatch", "stale", "future", "revoked"]
DepositStatus = Literal["pending", "incomplete", "active", "cancelled", "payment_issue", "close", "captured"]
StatusReason = Literal["checkout_idle", "fee_failed", "tenant_declined", "tenant_abandoned", "by_operator",
                       "by_partner", "checkout_expired", "coverage_elapsed", "released", "claim"]
CollectionStatus = Literal["scheduled", "retrying", "awaiting_tenant", "paid", "failed"]
SendLinkParam = TypedDict("SendLinkParam", {"email": "str", "locale": "str"}, total=False)


class Me(Answer):
    """The partner that an API key belongs to."""

    partner_id: str
    """Your id."""
    slug: str
    """Your slug in connect URLs."""
    name: str
    """Your name as operators see it."""
    environment: str
    """The installation that answered."""
    key_id: str
    """The id of the API key you used."""
    limits: MeLimits
    """Your rate limits."""


class ApiKey(Answer):
    """A credential of yours, without the key itself."""

    id: str
    """The id of the key."""
    name: str
    """What the key is for."""
    prefix: str
    """The beginning of the key, which names its environment."""
    last4: str
    """The last four characters of the key."""
    created_at: str
    """When the key was created."""
    last_used_at: Optional[str]
    """When the key was last used, to about a minute. Absent if it never was."""
    revoked_at: Optional[str]
    """When the key was deleted. Absent while it works."""


class CreatedApiKey(Answer):
    """A new key."""

    id: str
    """The id of the key."""
    name: str
    """What the key is for."""
    prefix: str
    """The beginning of the key, which names its environment."""
    last4: str
    """The last four characters of the key."""
    created_at: str
    """When the key was created."""
    key: str
    """The key itself. Shown this once."""


class Account(Answer):
    """The account of a rental operator who is or was linked to you."""

    account_id: str
    """The id of the operator's account; you need it to create deposits."""
    external_id: str
    """Your own id of the operator, from the connect URL."""
    status: str
    """`active`: you may create deposits. `revoked`: you may still read and cancel those you made."""
    linked_at: str
    """When the link was made."""
    revoked_at: Optional[str]
    """When the link ended. Only on revoked links."""
    limits: AccountLimits
    """What deposits of this account may amount to, bounds included."""


class AccountLimits(Answer):
    """What deposits of this account may amount to, bounds included."""

    min_amount_cents: int
    """The least amount, in cents."""
    max_amount_cents: int
    """The operator's ceiling, in cents."""
    currency: str
    """Always `EUR`."""


class Webhook(Answer):
    """A subscription of one of your endpoints to events."""

    id: str
    """The id of the subscription."""
    url: str
    """The endpoint."""
    events: List[str]
    """What is sent to it."""
    signatures: List[str]
    """Which signatures deliveries carry."""
    enabled: bool
    """Whether deliveries go out."""
    disabled_reason: Optional[str]
    """Why deliveries do not go out. Only while disabled."""
    created_at: str
    """When the subscription was created."""
    health: EndpointHealth
    """How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for
    an attempt, are being sent, or are parked because the subscription is disabled.
    """


class EndpointHealth(Answer):
    """How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for
    an attempt, are being sent, or are parked because the subscription is disabled.
    """

    state: str
    """`healthy`: the last attempt succeeded, or there was none. `failing`: at least one attempt has failed since the
    last success. `held`: the endpoint kept failing, so deliveries wait while single attempts probe it; then more and
    more go out. `disabled`: by you, or after five days of failures.
    """
    since: str
    """When the state began."""
    last_success_at: Optional[str]
    """When the endpoint last took a delivery. While deliveries succeed, up to ten seconds behind."""
    last_failure_at: Optional[str]
    """When an attempt last failed."""
    last_error: Optional[str]
    """Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
    reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
    belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate
    it.
    """
    pending: int
    """How many deliveries have not ended."""
    pending_capped: Optional[bool]
    """True, and only then there: more than 10,000 deliveries have not ended."""
    oldest_pending_at: Optional[str]
    """When the oldest of them was created."""


class CreatedWebhook(Answer):
    """A new subscription with its signing secret."""

    id: str
    """The id of the subscription."""
    url: str
    """The endpoint."""
    events: List[str]
    """What is sent to it."""
    signatures: List[str]
    """Which signatures deliveries carry."""
    enabled: bool
    """Whether deliveries go out."""
    created_at: str
    """When the subscription was created."""
    health: EndpointHealth
    """How the endpoint of a subscription does. `pending` counts the deliveries that have not ended: those that wait for
    an attempt, are being sent, or are parked because the subscription is disabled.
    """
    secret: str
    """The signing secret. Shown this once."""


class RotatedSecret(Answer):
    """A subscription with its new signing secret."""

    id: str
    """The id of the subscription."""
    url: str
    """The endpoint."""
    events: List[str]
    """What is sent to it."""
    secret: str
    """The new signing secret. Shown this once."""


class DeliveryAttempt(Answer):
    """One attempt to deliver."""

    number: int
    """Counts from 1."""
    started_at: str
    """When the attempt began."""
    duration_ms: int
    """How long it took, in milliseconds."""
    response_status: Optional[int]
    """The HTTP status your endpoint answered with, if it did."""
    response_snippet: Optional[str]
    """The beginning of what it answered, at most 1 KiB."""
    error: Optional[str]
    """Why an attempt failed. `timeout`: no answer within 10 seconds. `dns`, `connect`, `tls`: your endpoint was not
    reached. `non_2xx`, `redirect`: it answered otherwise. `blocked`: its address is not a public one, or its port
    belongs to another service. `secret`: nothing was sent, since we cannot read the secret of the webhook; rotate
    it.
    """


class Delivery(Answer):
    """One event on its way to one subscription."""

    id: str
    """The id of the delivery."""
    webhook_id: str
    """The subscription it goes to."""
    event_id: str
    """The id of the event."""
    event: str
    """The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
    subscription has no more specific event.
    """
    deposit_id: Optional[str]
    """The deposit it is about. Absent for `rental_operator.linked`."""
    test: bool
    """Whether this is a test you asked for."""
    status: str
    """`pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
    answered 2xx. `failed`: given up.
    """
    attempt_count: int
    """How many attempts were made."""
    next_attempt_at: Optional[str]
    """When the next attempt is due. Absent when none is."""
    created_at: str
    """When the delivery was created."""
    delivered_at: Optional[str]
    """When your endpoint answered 2xx."""
    failure_reason: Optional[str]
    """Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
    `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
    `webhook_deleted`: the subscription was deleted.
    """
    redelivery_of: Optional[str]
    """The delivery that this one repeats."""
    body_sha256: str
    """SHA-256 of the body in hex, the same on every attempt."""
    attempts: List[DeliveryAttempt]
    """All attempts, the oldest first."""


class DeliveryDetail(Answer):
    """A delivery with the body it carries."""

    id: str
    """The id of the delivery."""
    webhook_id: str
    """The subscription it goes to."""
    event_id: str
    """The id of the event."""
    event: str
    """The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
    subscription has no more specific event.
    """
    deposit_id: Optional[str]
    """The deposit it is about. Absent for `rental_operator.linked`."""
    test: bool
    """Whether this is a test you asked for."""
    status: str
    """`pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your endpoint
    answered 2xx. `failed`: given up.
    """
    attempt_count: int
    """How many attempts were made."""
    next_attempt_at: Optional[str]
    """When the next attempt is due. Absent when none is."""
    created_at: str
    """When the delivery was created."""
    delivered_at: Optional[str]
    """When your endpoint answered 2xx."""
    failure_reason: Optional[str]
    """Why a delivery was given up; only with the status `failed`. `attempts_exhausted`: every attempt failed.
    `webhook_disabled`: the subscription was disabled, and the delivery waited until it was 30 days old.
    `webhook_deleted`: the subscription was deleted.
    """
    redelivery_of: Optional[str]
    """The delivery that this one repeats."""
    body_sha256: str
    """SHA-256 of the body in hex, the same on every attempt."""
    attempts: List[DeliveryAttempt]
    """All attempts, the oldest first."""
    body: str
    """The exact body, to the byte, as a string."""


class WebhookExplanation(Answer):
    """Why a delivery does not verify."""

    valid: bool
    """Whether the signature verifies now, and was computed right if you sent it."""
    cause: str
    """Why a signature does not verify. `missing_header`, `malformed_header`: there is no signature or timestamp, or
    none of our form. `prefix_missing`, `upper_case`, `base64`: the signature is written otherwise. `stale`,
    `future`: the timestamp is more than 300 seconds away. `milliseconds`: the timestamp is not in seconds.
    `body_reserialized`: the body was parsed and written again. `body_changed`: it was changed otherwise.
    `header_changed`: the body is that of the delivery, and its signature or timestamp is not.
    `other_subscription_secret`: the secret is that of another subscription. `wrong_secret_kind`: it is the connect
    secret or an API key, or a part of the secret. `secret_whitespace`: the secret has white space around it.
    `order`: the signed message is put together otherwise. `invalid_json`: the body is no JSON object. `mismatch`:
    none of these. `valid`: nothing is wrong.
    """
    message: str
    """The cause in words, with the remedy."""
    delivery_id: Optional[str]
    """The delivery that was received, where it is found."""


class ConnectExplanation(Answer):
    """Why a connect URL is refused."""

    valid: bool
    """Whether our pages accept the URL."""
    cause: str
    """Why a connect URL is refused. `missing_parameter`: partner, external_id, ts or sig is not there.
    `malformed_parameter`: one of them is there twice, or not of our form. `wrong_partner`: the slug is not yours.
    `missing_connect_secret`: you have none. `upper_case`, `base64`, `prefix_unexpected`: sig is written otherwise.
    `wrong_secret_kind`: the secret is a signing secret or an API key, or a part of the connect secret.
    `secret_whitespace`: it has white space around it. `order`: the signed message is put together otherwise.
    `milliseconds`: ts is not in seconds. `ts_changed`: another ts was signed. `encoding`: external_id was encoded
    twice, or not at all. `mismatch`: the signature does not match, for none of these reasons. `stale`, `future`: ts
    is more than 30 days away. `revoked`: the link was ended after ts. `valid`: nothing is wrong.
    """
    message: str
    """The cause in words, with the remedy."""


class Replay(Answer):
    """Deliveries that are being sent again."""

    replay_id: str
    """The id of the replay. Quote it to support."""
    matched: int
    """How many deliveries match now, among the oldest 10,000 of the span; where failed ones are sent again, among the
    oldest 10,000 failed ones. The replay goes on behind them.
    """


class ClientRecord(Answer):
    """A tenant of one account."""

    id: str
    """The id of the client."""
    account_id: str
    """The account it belongs to."""
    email: str
    """The tenant's e-mail address."""
    first_name: str
    """The tenant's first name."""
    last_name: str
    """The tenant's last name."""
    phone: Optional[str]
    """The tenant's phone number in E.164 form."""
    locale: Optional[str]
    """The language to address the tenant in."""
    created_at: str
    """When the client was created."""


class CreatedDeposit(Answer):
    """What a deposit is created with."""

    id: str
    """The id of the deposit."""
    reference: str
    """A short reference for people, easy to read aloud."""
    status: str
    """Where a deposit stands. See the table of statuses."""
    deposit_url: Optional[str]
    """The tenant's checkout URL. Only with `depositUrlGeneration`."""


class Deposit(Answer):
    """A deposit that secures one rental."""

    id: str
    """The id of the deposit."""
    reference: str
    """A short reference for people, easy to read aloud."""
    status: str
    """Where a deposit stands. See the table of statuses."""
    status_reason: Optional[str]
    """Why a deposit came to its status, where there is more to say."""
    account_id: str
    """The account it is made for."""
    external_id: str
    """Your own id of the operator."""
    amount: Decimal
    """The amount in euros."""
    amount_cents: int
    """The amount in cents."""
    currency: str
    """Always `EUR`."""
    captured_amount_cents: int
    """How much was captured, in cents; 0 unless captured."""
    contract_start_at: str
    """When the rental begins."""
    contract_end_at: str
    """When the rental ends."""
    rental_contract: str
    """Your booking or contract reference; empty when you gave none."""
    client_id: Optional[str]
    """The client it was created for; also after the client was erased. Absent, as `client` is, from a deposit that you
    did not create once your link to the account has ended.
    """
    client: Optional[DepositClient]
    """The tenant, as far as known. Absent once the client was erased."""
    deposit_url: Optional[str]
    """The tenant's checkout URL. Only with `depositUrlGeneration`."""
    return_url: Optional[str]
    """Where the tenant is redirected after checkout."""
    checkout_expires_at: str
    """When it is cancelled unless it is secured: the end of the rental, 24 hours from creation at least. The tenant can
    secure it until the rental ends.
    """
    activated_at: Optional[str]
    """When the tenant secured it."""
    expires_at: Optional[str]
    """When coverage ends: 14 days after the end of the rental, at least 24 hours and at most 60 days after activation.
    """
    covers_contract: bool
    """Whether coverage reaches the end of the rental; before activation, as if it were activated now."""
    cancelled_at: Optional[str]
    """When it was cancelled."""
    closed_at: Optional[str]
    """When it was closed."""
    captured_at: Optional[str]
    """When it was captured."""
    collection: Optional[Collection]
    """The collection of the captured amount from the tenant. Only of a captured deposit."""
    partner_context: Optional[PartnerContext]
    """The partner that created the deposit. Present only on deposits created through this API."""
    metadata: Dict[str, str]
    """Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and make nothing of
    them.
    """
    version: int
    """Counts the changes, from 1. Of two states of a deposit the higher version is the newer."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it last changed."""


class Collection(Answer):
    """The collection of the captured amount from the tenant. Only of a captured deposit."""

    status: str
    """What becomes of a captured amount. See the table of collections."""
    attempted_at: Optional[str]
    """When the card was last charged."""
    next_attempt_at: Optional[str]
    """When the card will be charged next."""
    paid_at: Optional[str]
    """When the amount was paid."""
    failure: Optional[str]
    """A code that says why the card was refused, such as `insufficient_funds`, or why the collection ended:
    `settled_elsewhere` (the tenant paid the operator otherwise), `withdrawn` (the operator dropped the claim),
    `cancelled`, `expired`, `below_minimum`. New codes may be added.
    """


class DepositClient(Answer):
    """The tenant, as far as known. Absent once the client was erased."""

    id: str
    """The id of the client."""
    email: str
    """The tenant's e-mail address."""
    first_name: str
    """The tenant's first name."""
    last_name: str
    """The tenant's last name."""


class PartnerContext(Answer):
    """The partner that created the deposit. Present only on deposits created through this API."""

    partner_id: str
    """The partner's id."""
    partner_name: str
    """The partner's name."""
    external_id: str
    """The partner's own id of the operator."""


class LinkMail(Answer):
    """A mail with the link to a checkout."""

    email: str
    """Where the link is sent."""
    message_id: str
    """The id of the mail, which begins its Message-ID."""
    status: str
    """The mail is stored and will be sent."""


class EventData(Answer):
    """What happened, as webhooks carry it in `data`."""

    id: Optional[str]
    """The id of the deposit."""
    reference: Optional[str]
    """Its reference for people."""
    rental_contract: Optional[str]
    """Your booking or contract reference; empty when you gave none."""
    status: Optional[str]
    """Where a deposit stands. See the table of statuses."""
    previous_status: Optional[str]
    """Where a deposit stands. See the table of statuses."""
    amount_cents: Optional[int]
    """The amount in cents."""
    contract_start_at: Optional[str]
    """When the rental begins."""
    contract_end_at: Optional[str]
    """When the rental ends."""
    client: Optional[DepositEventDataClient]
    """The tenant, or `null` where none is known."""
    partner_context: Optional[PartnerContext]
    """The partner that created the deposit. Present only on deposits created through this API."""
    version: Optional[int]
    """The version of the deposit after the change, which `GET` shows too. Of two events of a deposit the one with the
    higher version is the newer. Events that are older than this field do not have it.
    """
    captured_amount_cents: Optional[int]
    """How much was captured, in cents; `null` unless captured. Events that are older than this field do not have it."""
    partner_id: Optional[str]
    """Your id."""
    account_id: Optional[str]
    """The id of the operator's account. Store it: you need it to create deposits."""
    external_id: Optional[str]
    """Your own id of the operator."""
    linked_at: Optional[str]
    """When the link was made."""


class Event(Answer):
    """Something that happened, under its most specific name."""

    id: str
    """The id of the event."""
    event: str
    """The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
    subscription has no more specific event.
    """
    created_at: str
    """When it happened."""
    data: EventData
    """What happened, as webhooks carry it in `data`."""


class FeedEvent(Answer):
    """An event with its number in your feed."""

    sequence: int
    """Counts 1, 2, 3, … without a gap."""
    id: str
    """The id of the event."""
    event: str
    """The name of an event. `deposit.status_changed` covers every change of a deposit's status for which the
    subscription has no more specific event.
    """
    created_at: str
    """When it happened."""
    data: EventData
    """What happened, as webhooks carry it in `data`."""


class Feed(Answer):
    data: List[FeedEvent]
    next_after: int
    """Send this number as `after` of the next request."""
    feed_id: str
    """Names the numbering. It changes only when our database was restored from a backup."""


class DepositEventDataClient(Answer):
    """The tenant, or `null` where none is known."""

    id: str
    """The id of the client."""
    email: str
    """The tenant's e-mail address."""
    first_name: str
    """The tenant's first name."""
    last_name: str
    """The tenant's last name."""


class MeLimits(Answer):
    """Your rate limits."""

    requests_per_minute: int
    """Requests of any kind per minute."""
    writes_per_minute: int
    """How many of them may be `POST`, `PATCH` or `DELETE`."""


class EnsuredWebhook(Webhook):
    """A subscription as `webhooks.ensure` answers it."""

    secret: Optional[str]
    """The signing secret. Only of a subscription that was created just now."""


class FollowedEvent(FeedEvent):
    """An event as `events.follow` gives it."""

    feed_id: str
    """The feed in which `sequence` counts. Keep both."""


class WebhookEvent(Answer):
    """The body of a webhook."""

    event: str
    created_at: str
    data: EventData


def is_newer(event: Mapping[str, Any], stored_version: Optional[int]) -> bool:
    """Whether an event is newer than the version that you store with its deposit.

    An event without a version is: it is not about a deposit, or older than versions.
    """
    version = event["data"].get("version")
    return not stored_version or version is None or version > stored_version


class LinkReturn(Answer):
    """How an operator came back from connecting, as `verify_return` answers it."""

    status: str
    """`linked`, `already_linked` or `error`."""
    account_id: str
    """The id of the operator's account; empty with `error`."""
    external_id: str
    """Your own id of the operator."""
    ts: int
    """When the operator was sent back, in Unix seconds."""
    error: Optional[str]
    """The code of the error, which is not signed."""


class Pagination(Answer):
    """Where a list goes on."""

    next_cursor: Optional[str]
    """The cursor of the next page."""
    has_more: bool
    """Whether there is one."""


class Page(Answer, Generic[T]):
    """A page of a list."""

    data: List[T]
    pagination: Pagination


class ApiKeyPage(Page[ApiKey]):
    _fields = {"data": ApiKey, "pagination": Pagination}


class AccountPage(Page[Account]):
    _fields = {"data": Account, "pagination": Pagination}


class WebhookPage(Page[Webhook]):
    _fields = {"data": Webhook, "pagination": Pagination}


class DeliveryPage(Page[Delivery]):
    _fields = {"data": Delivery, "pagination": Pagination}


class EventPage(Page[Event]):
    _fields = {"data": Event, "pagination": Pagination}


class ClientRecordPage(Page[ClientRecord]):
    _fields = {"data": ClientRecord, "pagination": Pagination}


class DepositPage(Page[Deposit]):
    _fields = {"data": Deposit, "pagination": Pagination}


Me._fields = {
    "partnerId": Answer, "slug": Answer, "name": Answer, "environment": Answer, "keyId": Answer, "limits": MeLimits,
}
ApiKey._fields = {
    "id": Answer, "name": Answer, "prefix": Answer, "last4": Answer, "createdAt": Answer, "lastUsedAt": Answer,
    "revokedAt": Answer,
}
CreatedApiKey._fields = {
    "id": Answer, "name": Answer, "prefix": Answer, "last4": Answer, "createdAt": Answer, "key": Answer,
}
Account._fields = {
    "accountId": Answer, "externalId": Answer, "status": Answer, "linkedAt": Answer, "revokedAt": Answer,
    "limits": AccountLimits,
}
AccountLimits._fields = {
    "minAmountCents": Answer, "maxAmountCents": Answer, "currency": Answer,
}
Webhook._fields = {
    "id": Answer, "url": Answer, "events": Answer, "signatures": Answer, "enabled": Answer, "disabledReason": Answer,
    "createdAt": Answer, "health": EndpointHealth,
}
EndpointHealth._fields = {
    "state": Answer, "since": Answer, "lastSuccessAt": Answer, "lastFailureAt": Answer, "lastError": Answer,
    "pending": Answer, "pendingCapped": Answer, "oldestPendingAt": Answer,
}
CreatedWebhook._fields = {
    "id": Answer, "url": Answer, "events": Answer, "signatures": Answer, "enabled": Answer, "createdAt": Answer,
    "health": EndpointHealth, "secret": Answer,
}
RotatedSecret._fields = {
    "id": Answer, "url": Answer, "events": Answer, "secret": Answer,
}
DeliveryAttempt._fields = {
    "number": Answer, "startedAt": Answer, "durationMs": Answer, "responseStatus": Answer, "responseSnippet": Answer,
    "error": Answer,
}
Delivery._fields = {
    "id": Answer, "webhookId": Answer, "eventId": Answer, "event": Answer, "depositId": Answer, "test": Answer,
    "status": Answer, "attemptCount": Answer, "nextAttemptAt": Answer, "createdAt": Answer, "deliveredAt": Answer,
    "failureReason": Answer, "redeliveryOf": Answer, "bodySha256": Answer, "attempts": DeliveryAttempt,
}
DeliveryDetail._fields = {
    "id": Answer, "webhookId": Answer, "eventId": Answer, "event": Answer, "depositId": Answer, "test": Answer,
    "status": Answer, "attemptCount": Answer, "nextAttemptAt": Answer, "createdAt": Answer, "deliveredAt": Answer,
    "failureReason": Answer, "redeliveryOf": Answer, "bodySha256": Answer, "attempts": DeliveryAttempt, "body": Answer,
}
WebhookExplanation._fields = {
    "valid": Answer, "cause": Answer, "message": Answer, "deliveryId": Answer,
}
ConnectExplanation._fields = {
    "valid": Answer, "cause": Answer, "message": Answer,
}
Replay._fields = {
    "replayId": Answer, "matched": Answer,
}
ClientRecord._fields = {
    "id": Answer, "accountId": Answer, "email": Answer, "firstName": Answer, "lastName": Answer, "phone": Answer,
    "locale": Answer, "createdAt": Answer,
}
CreatedDeposit._fields = {
    "id": Answer, "reference": Answer, "status": Answer, "depositUrl": Answer,
}
Deposit._fields = {
    "id": Answer, "reference": Answer, "status": Answer, "statusReason": Answer, "accountId": Answer,
    "externalId": Answer, "amount": Answer, "amountCents": Answer, "currency": Answer, "capturedAmountCents": Answer,
    "contractStartAt": Answer, "contractEndAt": Answer, "rentalContract": Answer, "clientId": Answer,
    "client": DepositClient, "depositUrl": Answer, "returnUrl": Answer, "checkoutExpiresAt": Answer,
    "activatedAt": Answer, "expiresAt": Answer, "coversContract": Answer, "cancelledAt": Answer, "closedAt": Answer,
    "capturedAt": Answer, "collection": Collection, "partnerContext": PartnerContext, "metadata": dict,
    "version": Answer, "createdAt": Answer, "updatedAt": Answer,
}
Collection._fields = {
    "status": Answer, "attemptedAt": Answer, "nextAttemptAt": Answer, "paidAt": Answer, "failure": Answer,
}
DepositClient._fields = {
    "id": Answer, "email": Answer, "firstName": Answer, "lastName": Answer,
}
PartnerContext._fields = {
    "partnerId": Answer, "partnerName": Answer, "externalId": Answer,
}
LinkMail._fields = {
    "email": Answer, "messageId": Answer, "status": Answer,
}
EventData._fields = {
    "id": Answer, "reference": Answer, "rentalContract": Answer, "status": Answer, "previousStatus": Answer,
    "amountCents": Answer, "contractStartAt": Answer, "contractEndAt": Answer, "client": DepositEventDataClient,
    "partnerContext": PartnerContext, "version": Answer, "capturedAmountCents": Answer, "partnerId": Answer,
    "accountId": Answer, "externalId": Answer, "linkedAt": Answer,
}
Event._fields = {
    "id": Answer, "event": Answer, "createdAt": Answer, "data": EventData,
}
FeedEvent._fields = {
    "sequence": Answer, "id": Answer, "event": Answer, "createdAt": Answer, "data": EventData,
}
Feed._fields = {
    "data": FeedEvent, "nextAfter": Answer, "feedId": Answer,
}
DepositEventDataClient._fields = {
    "id": Answer, "email": Answer, "firstName": Answer, "lastName": Answer,
}
MeLimits._fields = {
    "requestsPerMinute": Answer, "writesPerMinute": Answer,
}
EnsuredWebhook._fields = {**Webhook._fields, "secret": Answer}
FollowedEvent._fields = FeedEvent._fields
WebhookEvent._fields = {"data": EventData}


async def in_thread(work: Callable[..., T], *args: Any, **options: Any) -> T:
    context, left = contextvars.copy_context(), threading.Event()
    context.run(caller_left.set, left.is_set)
    done: concurrent.futures.Future[T] = concurrent.futures.Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(context.run(work, *args, **options))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()  # the loop's own pool would be filled, and waited for at its end
    try:
        return await asyncio.wrap_future(done)
    finally:
        left.set()  # a caller that was cancelled wants no further attempt


async def each(items: Iterable[T]) -> AsyncIterator[T]:
    iterator = iter(items)
    end: Any = object()
    while (item := await in_thread(next, iterator, end)) is not end:
        yield item


class AsyncPages(Generic[T]):
    """All items of a list. Each page is read, in a thread, when the items before it are used up."""

    def __init__(self, pages: Pages[T]):
        self._pages = pages

    def __aiter__(self) -> AsyncIterator[T]:
        return each(self._pages)

    async def page(self, cursor: Optional[str] = None) -> Page[T]:
        """The first page, or the page that a `next_cursor` names."""
        return await in_thread(self._pages.page, cursor)


class MeResource:
    def __init__(self, core: Core):
        self._core = core

    def get(self, *, timeout: Optional[float] = None) -> Me:
        """Retrieve yourself.

        Shows the partner that the API key belongs to. A good first request: it needs nothing but the key.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable.
        """
        answer: Me = self._core._call("data", Me, "GET", "/api/partner/v1/me", timeout=timeout)
        return answer


class ApiKeysResource:
    def __init__(self, core: Core):
        self._core = core

    def create(self, *, name: str, timeout: Optional[float] = None) -> CreatedApiKey:
        """Create an API key.

        Creates a key. The answer holds the key itself, which is shown here and never again: store it before you go
        on. You may hold up to 20 keys; deleted ones do not count.

        This request takes no `Idempotency-Key`, so that no stored answer holds a key. If the answer got lost, delete
        the key without `lastUsedAt` that you find in the list, and create another.

        - name: What the key is for, in one line. Names may repeat.

        Codes of its ApiError: api_key_limit_reached, api_key_revoked, internal_error, invalid_api_key,
        invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited,
        service_unavailable, unknown_field, unsupported_media_type.
        """
        answer: CreatedApiKey = self._core._call("data", CreatedApiKey, "POST", "/api/partner/v1/api-keys",
                                                 body={"name": name}, timeout=timeout)
        return answer

    def list(self, *, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[ApiKey]:
        """List API keys.

        Lists your keys, the newest first, with those that were deleted. The keys themselves are not shown.

        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, ApiKeyPage, "/api/partner/v1/api-keys", query={"limit": limit, "cursor": cursor},
                     timeout=timeout)

    def delete(self, key_id: str, *, timeout: Optional[float] = None) -> None:
        """Delete an API key.

        Revokes the key: within five seconds it works nowhere, and answers `api_key_revoked`. Deleting a key again
        changes nothing. Any key can be deleted, the one of this request and your last one too; without a key, ask us
        for a new one.

        Codes of its ApiError: api_key_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        self._core._call("none", None, "DELETE", "/api/partner/v1/api-keys/{}", key_id, timeout=timeout)


class AccountsResource:
    def __init__(self, core: Core):
        self._core = core

    def list(self, *, status: Optional[Literal["active", "revoked", "all"]] = None, external_id: Optional[str] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[Account]:
        """List linked accounts.

        Lists the accounts of the operators linked to you, the most recently linked first. Only active links are
        listed unless you ask for others.

        - status: Which links to list.
        - external_id: Only the account that you know under this id.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, AccountPage, "/api/partner/v1/accounts", query={"status": status,
                     "externalId": external_id, "limit": limit, "cursor": cursor}, timeout=timeout)

    def get(self, account_id: str, *, timeout: Optional[float] = None) -> Account:
        """Retrieve a linked account.

        Retrieves one account that is or was linked to you, with the amounts that its deposits may have.

        Codes of its ApiError: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        answer: Account = self._core._call("data", Account, "GET", "/api/partner/v1/accounts/{}", account_id,
                                           timeout=timeout)
        return answer

    def delete(self, account_id: str, *, timeout: Optional[float] = None) -> None:
        """End the link to an account.

        Ends your link to the account; the operator's account and its deposits stay, and the operator gets a mail.
        From then on you can no longer create or capture deposits or create clients for it. Its deposits can still be
        read and cancelled, and the events of the deposits that you created still arrive. Ending a link that has
        ended changes nothing.

        To link the operator again, send a new connect URL. Those that you signed before are `expired`.

        Codes of its ApiError: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        self._core._call("none", None, "DELETE", "/api/partner/v1/accounts/{}", account_id, timeout=timeout)


class ConnectResource:
    def __init__(self, core: Core):
        self._core = core

    def explain(self, *, url: str, timeout: Optional[float] = None) -> ConnectExplanation:
        """Explain why a connect URL is refused.

        Tells why a connect URL that you signed is refused. The secrets that are tried are those that you have now:
        the connect secret, the signing secrets and the API key of this request. The right signature is never shown,
        and we keep nothing of what you send.

        You have 30 requests a minute for this operation and `explainWebhook` together.

        - url: The connect URL as you gave it to the operator.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        answer: ConnectExplanation = self._core._call("data", ConnectExplanation, "POST",
                                                      "/api/partner/v1/connect/explain", body={"url": url},
                                                      timeout=timeout)
        return answer


class WebhooksResource:
    def __init__(self, core: Core):
        self._core = core

    def create(self, *, url: str, events: Optional[Sequence[EventName]] = None,
               signatures: Optional[Sequence[SignatureKind]] = None, idempotency_key: Optional[str] = None,
               timeout: Optional[float] = None) -> CreatedWebhook:
        """Create a webhook subscription.

        Registers an endpoint of yours. The answer holds the signing secret, which is shown here and never again:
        store it before you go on. If you lose it, rotate it.

        - url: Your endpoint. Must be https and publicly reachable, and not at a port of another service, such as 22
        or 25.
        - events: What to send. Leave out for all events.
        - signatures: Which signatures deliveries carry: `svc` is ours and cannot be left out; with `standard` they
        carry the headers of Standard Webhooks beside it. Leave out for ours alone.

        Codes of its ApiError: api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error,
        invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field,
        payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
        webhook_limit_reached.
        """
        answer: CreatedWebhook = self._core._call("data", CreatedWebhook, "POST", "/api/partner/v1/webhooks",
                                                  body={"url": url, "events": events, "signatures": signatures},
                                                  key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def list(self, *, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[Webhook]:
        """List webhook subscriptions.

        Lists your subscriptions, the newest first. Secrets are not shown.

        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, WebhookPage, "/api/partner/v1/webhooks", query={"limit": limit, "cursor": cursor},
                     timeout=timeout)

    def get(self, webhook_id: str, *, timeout: Optional[float] = None) -> Webhook:
        """Retrieve a webhook subscription.

        Retrieves one subscription. The secret is not shown.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        answer: Webhook = self._core._call("data", Webhook, "GET", "/api/partner/v1/webhooks/{}", webhook_id,
                                           timeout=timeout)
        return answer

    def update(self, webhook_id: str, *, url: Optional[str] = None, events: Optional[Sequence[EventName]] = None,
               signatures: Optional[Sequence[SignatureKind]] = None, enabled: Optional[bool] = None,
               timeout: Optional[float] = None) -> Webhook:
        """Update a webhook subscription.

        Changes what you send and leaves the rest. `events` replaces the whole list. Setting `enabled` to false parks
        deliveries; setting it to true sends, at a gentle pace, what waited.

        - url: The new endpoint.
        - events: The new list of events, replacing the old one.
        - signatures: The new list of signatures, replacing the old one; it has `svc`.
        - enabled: Whether deliveries go out. While false, they wait.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
        webhook_not_found.
        """
        answer: Webhook = self._core._call("data", Webhook, "PATCH", "/api/partner/v1/webhooks/{}", webhook_id,
                                           body={"url": url, "events": events, "signatures": signatures,
                                           "enabled": enabled}, timeout=timeout)
        return answer

    def delete(self, webhook_id: str, *, timeout: Optional[float] = None) -> None:
        """Delete a webhook subscription.

        Deletes the subscription. Nothing is sent to it from then on, retries included.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        self._core._call("none", None, "DELETE", "/api/partner/v1/webhooks/{}", webhook_id, timeout=timeout)

    def rotate_secret(self, webhook_id: str, *, timeout: Optional[float] = None) -> RotatedSecret:
        """Rotate a signing secret.

        Issues a new secret and shows it, here and never again. The old one signs nothing from then on; retries of
        earlier deliveries are signed with the new one too.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        answer: RotatedSecret = self._core._call("data", RotatedSecret, "POST",
                                                 "/api/partner/v1/webhooks/{}/rotate-secret", webhook_id,
                                                 timeout=timeout)
        return answer

    def test(self, webhook_id: str, *, timeout: Optional[float] = None) -> Delivery:
        """Send a test delivery.

        Sends a synthetic `deposit.activated` to the endpoint, once, and answers with the delivery and what your
        endpoint said to it; also when it failed. The subscription must have `deposit.activated` or
        `deposit.status_changed`; the more specific of the two is sent. The deposit in it does not exist: its id
        starts with `dep_test_`.

        If the attempt takes longer than we can wait for, the delivery comes back as `pending`; look it up later. You
        have 20 tests a minute, and two in flight.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, test_event_not_subscribed, webhook_disabled, webhook_not_found.
        """
        answer: Delivery = self._core._call("data", Delivery, "POST", "/api/partner/v1/webhooks/{}/test", webhook_id,
                                            timeout=timeout)
        return answer

    def explain(self, webhook_id: str, *, headers: Mapping[str, str], body: str, computed: Optional[str] = None,
                timeout: Optional[float] = None) -> WebhookExplanation:
        """Explain why a delivery does not verify.

        Tells why the signature of a delivery does not verify at your endpoint. Send headers and body as your
        endpoint received them, and, if you can, the signature that it computed itself: most mistakes show there
        alone.

        A delivery is found by its signature, so a changed body is told from a changed header. The secrets that are
        tried are those that you have now: the signing secrets, the connect secret and the API key of this request.
        The right signature is never shown, and we keep nothing of what you send.

        You have 30 requests a minute for this operation and `explainConnectUrl` together.

        - headers: The headers as your endpoint received them, in any case; `X-Svc-Signature` and `X-Svc-Timestamp`
        are read. Join the values of a header that came more than once with a comma.
        - body: The body as your endpoint received it, in base64.
        - computed: The signature that your endpoint computed, as it compared it.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type, webhook_not_found.
        """
        answer: WebhookExplanation = self._core._call("data", WebhookExplanation, "POST",
                                                      "/api/partner/v1/webhooks/{}/explain", webhook_id,
                                                      body={"headers": headers, "body": body, "computed": computed},
                                                      timeout=timeout)
        return answer

    def replay(self, webhook_id: str, *, from_: Time, to: Time, status: Optional[DeliveryStatus] = None,
               timeout: Optional[float] = None) -> Replay:
        """Send the deliveries of a time span again.

        Sends again what was created from `from` on and before `to` and has the given status, `failed` unless you say
        otherwise: each delivery as a new one, as `redeliver` would, the oldest first. The answer tells how many
        match now; the work goes on by itself, across restarts on our side. Your replays send 50 deliveries a second
        in all. Those of one subscription are done one after another, and 8 of them may be unfinished; one more is
        refused with `replay_limit_reached`. A replay waits while the subscription is disabled and ends when it is
        deleted.

        Redeliveries and test deliveries are not repeated, so each event comes once, however often you had it sent
        again before. The status that counts is the delivery's own, when its turn comes: a failed delivery stays
        `failed` also when a redelivery of it arrived.

        - from_: Deliveries created at or after this time …
        - to: … and before this one.
        - status: `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your
        endpoint answered 2xx. `failed`: given up.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_date_range, invalid_field,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, replay_limit_reached,
        service_unavailable, unknown_field, unsupported_media_type, webhook_disabled, webhook_not_found.
        """
        answer: Replay = self._core._call("data", Replay, "POST", "/api/partner/v1/webhooks/{}/replay", webhook_id,
                                          body={"from": from_, "to": to, "status": status}, timeout=timeout)
        return answer

    def ensure(self, url: str, events: Optional[Sequence[EventName]] = None) -> EnsuredWebhook:
        """The subscription of this URL: created, or given these events, where needed.

        A subscription that is there already has no `secret`.
        """
        answer: EnsuredWebhook = ensure(self, EnsuredWebhook, url, events)
        return answer


class DeliveriesResource:
    def __init__(self, core: Core):
        self._core = core

    def list(self, webhook_id: str, *, status: Optional[DeliveryStatus] = None, event: Optional[EventName] = None,
             deposit_id: Optional[str] = None, from_: Optional[Time] = None, to: Optional[Time] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[Delivery]:
        """List deliveries.

        Lists what was sent to a subscription, the newest first, each with all its attempts.

        - status: Only deliveries in this status.
        - event: Only deliveries of this event.
        - deposit_id: Only deliveries about this deposit.
        - from_: Only deliveries created at or after this time.
        - to: Only deliveries created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field, webhook_not_found.
        """
        return Pages(self._core, DeliveryPage, "/api/partner/v1/webhooks/{}/deliveries", webhook_id,
                     query={"status": status, "event": event, "depositId": deposit_id, "from": from_, "to": to,
                     "limit": limit, "cursor": cursor}, timeout=timeout)

    def get(self, webhook_id: str, delivery_id: str, *, timeout: Optional[float] = None) -> DeliveryDetail:
        """Retrieve a delivery.

        Retrieves one delivery with its attempts and the exact body that was, or will be, sent.

        Codes of its ApiError: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable, webhook_not_found.
        """
        answer: DeliveryDetail = self._core._call("data", DeliveryDetail, "GET",
                                                  "/api/partner/v1/webhooks/{}/deliveries/{}", webhook_id, delivery_id,
                                                  timeout=timeout)
        return answer

    def redeliver(self, webhook_id: str, delivery_id: str, *, timeout: Optional[float] = None) -> Delivery:
        """Send a delivery again.

        Makes a new delivery with the same bytes, due at once and retried like any other, whatever became of the
        first one, which stays as it is. It goes to the present URL, signed with the present secret. `redeliveryOf`
        is always the original, also when you send a redelivery again. A test delivery can be sent again too, and is
        again attempted only once. You have 60 redeliveries a minute; to send many deliveries again, use `replay`.

        Codes of its ApiError: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable, webhook_disabled, webhook_not_found.
        """
        answer: Delivery = self._core._call("data", Delivery, "POST",
                                            "/api/partner/v1/webhooks/{}/deliveries/{}/redeliver", webhook_id,
                                            delivery_id, timeout=timeout)
        return answer


class EventsResource:
    def __init__(self, core: Core):
        self._core = core

    def list(self, *, event: Optional[EventName] = None, deposit_id: Optional[str] = None, from_: Optional[Time] = None,
             to: Optional[Time] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[Event]:
        """List events.

        Lists your events of the last 30 days, the newest first, whatever your subscriptions receive. To follow
        events without missing one, read the feed.

        - event: Only events of this name.
        - deposit_id: Only events about this deposit.
        - from_: Only events created at or after this time.
        - to: Only events created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, EventPage, "/api/partner/v1/events", query={"event": event, "depositId": deposit_id,
                     "from": from_, "to": to, "limit": limit, "cursor": cursor}, timeout=timeout)

    def feed(self, *, after: Optional[int] = None, limit: Optional[int] = None, wait_seconds: Optional[int] = None,
             timeout: Optional[float] = None) -> Feed:
        """Read the feed.

        Your events, numbered 1, 2, 3, … without a gap, the oldest first. Keep `nextAfter`, and send it as `after` of
        the next request: so you receive each event exactly once, and can prove that none is missing. With
        `waitSeconds` the answer is held until there is an event. When `feedId` differs from the one you keep, our
        database was restored from a backup: discard the answer and read anew, without `after`.

        - after: The number of the last event that you have. Without it, the feed begins with the oldest event that
        is kept.
        - limit: How many items to return at most.
        - wait_seconds: How long the answer may be held while there is no event, in seconds.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        answer: Feed = self._core._call("whole", Feed, "GET", "/api/partner/v1/events/feed", query={"after": after,
                                        "limit": limit, "waitSeconds": wait_seconds}, timeout=timeout)
        return answer

    def get(self, event_id: str, *, timeout: Optional[float] = None) -> Event:
        """Retrieve an event.

        Retrieves an event. Events are kept for 30 days.

        Codes of its ApiError: api_key_revoked, event_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        answer: Event = self._core._call("data", Event, "GET", "/api/partner/v1/events/{}", event_id, timeout=timeout)
        return answer

    def follow(self, after: Optional[int] = None, *, feed_id: Optional[str] = None, wait_seconds: int = 25,
               limit: Optional[int] = None) -> Iterator[FollowedEvent]:
        """The events after a number, and those to come. With `wait_seconds` of 0 it ends when it has caught up.

        Keep `sequence` and `feed_id` of the last event that you have processed, and give them when you begin again.
        ApiError with code feed_changed: the service was restored, so read anew, without `after` and `feed_id`.
        """
        return follow(self, FollowedEvent, after, feed_id, wait_seconds, limit)


class ClientsResource:
    def __init__(self, core: Core):
        self._core = core

    def create(self, *, account_id: str, email: str, first_name: str, last_name: str, phone: Optional[str] = None,
               locale: Optional[str] = None, idempotency_key: Optional[str] = None,
               timeout: Optional[float] = None) -> ClientRecord:
        """Create a client.

        Creates a tenant of one of your linked accounts. Pass its id as `clientId` when you create a deposit on the
        same account: checkout is prefilled, and events name the person.

        - account_id: A linked account.
        - email: The tenant's e-mail address.
        - first_name: The tenant's first name.
        - last_name: The tenant's last name.
        - phone: The tenant's phone number in E.164 form, such as `+33612345678`.
        - locale: The language to address the tenant in, such as `fr` or `en-GB`.

        Codes of its ApiError: account_not_linked, account_revoked, api_key_revoked, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        answer: ClientRecord = self._core._call("data", ClientRecord, "POST", "/api/partner/v1/clients",
                                                body={"accountId": account_id, "email": email, "firstName": first_name,
                                                "lastName": last_name, "phone": phone, "locale": locale},
                                                key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def list(self, *, account_id: Optional[str] = None, email: Optional[str] = None, limit: Optional[int] = None,
             cursor: Optional[str] = None, timeout: Optional[float] = None) -> Pages[ClientRecord]:
        """List clients.

        Lists your clients at your linked accounts, the newest first: those that you created, and those that tenants
        brought to the checkouts of your deposits. Filters are combined. Erased clients are not listed. To answer a
        person who asks about their data, filter by `email`.

        - account_id: Only clients of this account.
        - email: Only clients with this e-mail address; ASCII letters match in either case.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: account_revoked, api_key_revoked, internal_error, invalid_api_key, invalid_cursor,
        invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, ClientRecordPage, "/api/partner/v1/clients", query={"accountId": account_id,
                     "email": email, "limit": limit, "cursor": cursor}, timeout=timeout)

    def get(self, client_id: str, *, timeout: Optional[float] = None) -> ClientRecord:
        """Retrieve a client.

        Retrieves one of your clients. An erased client is not found.

        Codes of its ApiError: account_revoked, api_key_revoked, client_not_found, internal_error, invalid_api_key,
        missing_api_key, rate_limited, service_unavailable.
        """
        answer: ClientRecord = self._core._call("data", ClientRecord, "GET", "/api/partner/v1/clients/{}", client_id,
                                                timeout=timeout)
        return answer

    def update(self, client_id: str, *, email: Optional[str] = None, first_name: Optional[str] = None,
               last_name: Optional[str] = None, phone: Optional[str] = OMIT, locale: Optional[str] = OMIT,
               idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> ClientRecord:
        """Update a client.

        Changes what you send and leaves the rest. `null` clears `phone` and `locale`. Deposits and later events show
        the new details; events that were made before do not change.

        - email: The tenant's new e-mail address.
        - first_name: The tenant's new first name.
        - last_name: The tenant's new last name.
        - phone: The new phone number in E.164 form; null clears it.
        - locale: The new language to address the tenant in; null clears it.

        Codes of its ApiError: account_revoked, api_key_revoked, client_not_found, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        answer: ClientRecord = self._core._call("data", ClientRecord, "PATCH", "/api/partner/v1/clients/{}", client_id,
                                                body={"email": email, "firstName": first_name, "lastName": last_name,
                                                "phone": phone, "locale": locale}, nullable=("phone", "locale",),
                                                key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def delete(self, client_id: str, *, timeout: Optional[float] = None) -> None:
        """Erase a client.

        Erases the person, at once and for good, whatever the status of their deposits and of the link to the
        account. Deposits keep `clientId` and lose `client`; later events carry `client: null`. Unsent mails to the
        person are removed. Events, deliveries and stored responses that were made before keep their bytes until
        their retention ends, 30 days at most for events. Again: 204.

        Codes of its ApiError: api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        self._core._call("none", None, "DELETE", "/api/partner/v1/clients/{}", client_id, timeout=timeout)


class DepositsResource:
    def __init__(self, core: Core):
        self._core = core

    def create(self, *, account_id: str, amount: Money, contract_start_at: Time, contract_end_at: Time,
               rental_contract: Optional[str] = None, client_id: Optional[str] = None,
               deposit_url_generation: Optional[bool] = None, return_url: Optional[str] = None,
               currency: Optional[Currency] = None, metadata: Optional[Mapping[str, str]] = None,
               locale: Optional[str] = None, idempotency_key: Optional[str] = None,
               timeout: Optional[float] = None) -> CreatedDeposit:
        """Create a deposit.

        Creates a deposit for a linked account. It starts as `pending` and waits for the tenant.

        Set `depositUrlGeneration` to true to get a `depositUrl` back: send the tenant there. After checkout we
        redirect the tenant to your `returnUrl` with two more query parameters: `depositId`, and `depositStatus`,
        which is `secured`, `declined` or `abandoned`. That tells your page what to show; the authoritative status is
        the one you retrieve or hear by webhook.

        The request is checked in this order: JSON, idempotency key, shapes of the fields, the link to the account,
        then amount, dates, return URL and client.

        - account_id: The account to secure the deposit for; it must be linked to you.
        - amount: The amount in **euros**, not cents, with at most two decimals: at least 70.00 and at most the
        operator's ceiling, which is 2500.00 unless negotiated. Read exactly, never through a float.
        - contract_start_at: When the rental begins. May be in the past.
        - contract_end_at: When the rental ends: in the future, and not before it begins.
        - rental_contract: Your booking or contract reference.
        - client_id: The id of a client that you created on the same account.
        - deposit_url_generation: Whether to return a checkout URL for the tenant.
        - return_url: Where the tenant is redirected after checkout: https, or http on localhost; at most 2048
        characters. Required when `depositUrlGeneration` is true.
        - currency: Always `EUR`.
        - metadata: Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and
        make nothing of them.
        - locale: The language of checkout, such as `fr` or `en-GB`.

        Codes of its ApiError: account_not_linked, account_revoked, amount_above_maximum, amount_below_minimum,
        api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_client, invalid_date_range, invalid_field, invalid_idempotency_key, invalid_json, invalid_return_url,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        answer: CreatedDeposit = self._core._call("data", CreatedDeposit, "POST", "/api/partner/v1/deposits",
                                                  body={"accountId": account_id, "amount": amount,
                                                  "contractStartAt": contract_start_at,
                                                  "contractEndAt": contract_end_at, "rentalContract": rental_contract,
                                                  "clientId": client_id, "depositUrlGeneration": deposit_url_generation,
                                                  "returnUrl": return_url, "currency": currency, "metadata": metadata,
                                                  "locale": locale}, money=("amount",),
                                                  key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def list(self, *, account_id: Optional[str] = None, external_id: Optional[str] = None,
             status: Optional[Sequence[DepositStatus]] = None, rental_contract: Optional[str] = None,
             client_id: Optional[str] = None, created_from: Optional[Time] = None, created_to: Optional[Time] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> Pages[Deposit]:
        """List deposits.

        Lists your deposits, the newest first. Filters are combined: a deposit must match all of them.

        - account_id: Only deposits of this account.
        - external_id: Only deposits of the account that you know under this id.
        - status: Only deposits in one of these statuses, separated by commas.
        - rental_contract: Only deposits with exactly this contract reference.
        - client_id: Only deposits of this client.
        - created_from: Only deposits created at or after this time.
        - created_to: Only deposits created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return Pages(self._core, DepositPage, "/api/partner/v1/deposits", query={"accountId": account_id,
                     "externalId": external_id, "status": status, "rentalContract": rental_contract,
                     "clientId": client_id, "createdFrom": created_from, "createdTo": created_to, "limit": limit,
                     "cursor": cursor}, timeout=timeout)

    def get(self, deposit_id: str, *, timeout: Optional[float] = None) -> Deposit:
        """Retrieve a deposit.

        Retrieves a deposit as it is now. `status` is authoritative: use this to catch up after missed events.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_found, internal_error,
        invalid_api_key, missing_api_key, rate_limited, service_unavailable.
        """
        answer: Deposit = self._core._call("data", Deposit, "GET", "/api/partner/v1/deposits/{}", deposit_id,
                                           timeout=timeout)
        return answer

    def cancel(self, deposit_id: str, *, reason: Optional[Literal["booking_cancelled", "duplicate", "other"]] = None,
               comment: Optional[str] = None, idempotency_key: Optional[str] = None,
               timeout: Optional[float] = None) -> Deposit:
        """Cancel a deposit.

        Voids a deposit that the tenant has not secured yet: `pending`, `incomplete` or `payment_issue`. The checkout
        URL stops working. This also works after the link to the account was revoked.

        - reason: Why you cancel.
        - comment: Anything you want to keep with it.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
        idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field,
        invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        answer: Deposit = self._core._call("data", Deposit, "POST", "/api/partner/v1/deposits/{}/cancel", deposit_id,
                                           body={"reason": reason, "comment": comment},
                                           key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def release(self, deposit_id: str, *, comment: Optional[str] = None, idempotency_key: Optional[str] = None,
                timeout: Optional[float] = None) -> Deposit:
        """Release a deposit.

        Ends the cover of an active deposit early, without a claim. The status becomes `close`, and the tenant can no
        longer be charged. This cannot be undone.

        - comment: Anything you want to keep with it.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_releasable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited,
        service_unavailable, unknown_field, unsupported_media_type.
        """
        answer: Deposit = self._core._call("data", Deposit, "POST", "/api/partner/v1/deposits/{}/release", deposit_id,
                                           body={"comment": comment}, key=idempotency_key or str(uuid.uuid4()),
                                           timeout=timeout)
        return answer

    def capture(self, deposit_id: str, *, amount: Money = OMIT, currency: Optional[Currency] = None,
                reason: Optional[Literal["damage", "cleaning", "missing_items", "unpaid_charges", "other"]] = None,
                description: Optional[str] = None, idempotency_key: Optional[str] = None,
                timeout: Optional[float] = None) -> Deposit:
        """Capture a deposit.

        Collects an active deposit after damage, all of it or a part, once and before `expiresAt`. The status becomes
        `captured` at once: the operator holds a guarantee. Collecting from the tenant follows; `collection` tells
        how far it is.

        - amount: How much to collect, in euros, with at most two decimals. More than 0, at most the deposit's
        amount, which is also the default.
        - currency: Always `EUR`.
        - reason: What the claim is for.
        - description: What happened.

        Codes of its ApiError: account_revoked, api_key_revoked, capture_below_minimum, capture_exceeds_amount,
        deposit_access_denied, deposit_not_capturable, deposit_not_found, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        answer: Deposit = self._core._call("data", Deposit, "POST", "/api/partner/v1/deposits/{}/capture", deposit_id,
                                           body={"amount": amount, "currency": currency, "reason": reason,
                                           "description": description}, money=("amount",),
                                           key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def send_link(self, deposit_id: str, *, email: str, locale: Optional[str] = None,
                  idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> LinkMail:
        """Mail the checkout link to a tenant.

        Mails the link to the checkout of a deposit that the tenant can still secure. The link works whether or not
        the deposit was created with `depositUrlGeneration`. The mail names you, the operator's company, the amount
        and the rental period.

        A deposit's link goes to an address 5 times at most within 24 hours, and 60 times to all addresses. Over all
        deposits you mail an address 10 links at most within 24 hours; the count begins anew once the tenant opens a
        mailed link. An address that has got 30 links from everybody gets no more from who sent three or more. Beyond
        these limits the answer is `rate_limited`, with the wait in `Retry-After`.

        - email: Where to send the link.
        - locale: The language of the mail, such as `fr` or `en-GB`; by default the `locale` of the deposit. Without
        either, the mail is in English and French.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
        rate_limited, service_unavailable, unknown_field, unsupported_media_type.
        """
        answer: LinkMail = self._core._call("data", LinkMail, "POST", "/api/partner/v1/deposits/{}/send-link",
                                            deposit_id, body={"email": email, "locale": locale},
                                            key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer

    def send_link_batch(self, deposit_id: str, *, recipients: Sequence[SendLinkParam],
                        idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> List[LinkMail]:
        """Mail the checkout link to several people.

        Does as `send-link` for up to 20 recipients. Either every mail is queued or none: one bad recipient refuses
        the request, and so does an address that occurs twice.

        - recipients: Who gets the link, each address once.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
        rate_limited, service_unavailable, unknown_field, unsupported_media_type.
        """
        answer: List[LinkMail] = self._core._call("list", LinkMail, "POST",
                                                  "/api/partner/v1/deposits/{}/send-link/batch", deposit_id,
                                                  body={"recipients": recipients},
                                                  key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer


class TestResource:
    def __init__(self, core: Core):
        self._core = core

    def simulate(self, deposit_id: str, *,
                 outcome: Literal["start", "activate", "decline", "abandon", "fail_payment", "expire"],
                 timeout: Optional[float] = None) -> Deposit:
        """Simulate what a tenant does.

        Moves a deposit as the tenant or the passing of time would, with all that follows from it: status, events and
        deliveries. Exists in development and staging only; in production the answer is `route_not_found`.

        | Outcome | What happens | Becomes | |---|---|---| | `start` | The tenant starts checkout and goes no further
        | still `pending`; `incomplete` once it was idle for 30 minutes | | `activate` | The tenant secures the
        deposit | `active` | | `decline` | Scoring refuses the tenant | `cancelled` | | `abandon` | The tenant gives
        up | `cancelled` | | `fail_payment` | The fee cannot be charged | `payment_issue` | | `expire` | Coverage of
        an active deposit ends, or the checkout of one that is not secured | `close`, `cancelled` |

        - outcome: What happens.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
        deposit_not_releasable, deposit_not_securable, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, route_not_found, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        answer: Deposit = self._core._call("data", Deposit, "POST", "/api/partner/v1/test/deposits/{}/simulate",
                                           deposit_id, body={"outcome": outcome}, timeout=timeout)
        return answer



class AsyncMeResource:
    def __init__(self, resource: MeResource):
        self._resource = resource

    async def get(self, *, timeout: Optional[float] = None) -> Me:
        """Retrieve yourself.

        Shows the partner that the API key belongs to. A good first request: it needs nothing but the key.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable.
        """
        return await in_thread(self._resource.get, timeout=timeout)


class AsyncApiKeysResource:
    def __init__(self, resource: ApiKeysResource):
        self._resource = resource

    async def create(self, *, name: str, timeout: Optional[float] = None) -> CreatedApiKey:
        """Create an API key.

        Creates a key. The answer holds the key itself, which is shown here and never again: store it before you go
        on. You may hold up to 20 keys; deleted ones do not count.

        This request takes no `Idempotency-Key`, so that no stored answer holds a key. If the answer got lost, delete
        the key without `lastUsedAt` that you find in the list, and create another.

        - name: What the key is for, in one line. Names may repeat.

        Codes of its ApiError: api_key_limit_reached, api_key_revoked, internal_error, invalid_api_key,
        invalid_field, invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited,
        service_unavailable, unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.create, name=name, timeout=timeout)

    def list(self, *, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[ApiKey]:
        """List API keys.

        Lists your keys, the newest first, with those that were deleted. The keys themselves are not shown.

        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(limit=limit, cursor=cursor, timeout=timeout))

    async def delete(self, key_id: str, *, timeout: Optional[float] = None) -> None:
        """Delete an API key.

        Revokes the key: within five seconds it works nowhere, and answers `api_key_revoked`. Deleting a key again
        changes nothing. Any key can be deleted, the one of this request and your last one too; without a key, ask us
        for a new one.

        Codes of its ApiError: api_key_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        await in_thread(self._resource.delete, key_id, timeout=timeout)


class AsyncAccountsResource:
    def __init__(self, resource: AccountsResource):
        self._resource = resource

    def list(self, *, status: Optional[Literal["active", "revoked", "all"]] = None, external_id: Optional[str] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[Account]:
        """List linked accounts.

        Lists the accounts of the operators linked to you, the most recently linked first. Only active links are
        listed unless you ask for others.

        - status: Which links to list.
        - external_id: Only the account that you know under this id.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(status=status, external_id=external_id, limit=limit, cursor=cursor,
                                              timeout=timeout))

    async def get(self, account_id: str, *, timeout: Optional[float] = None) -> Account:
        """Retrieve a linked account.

        Retrieves one account that is or was linked to you, with the amounts that its deposits may have.

        Codes of its ApiError: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        return await in_thread(self._resource.get, account_id, timeout=timeout)

    async def delete(self, account_id: str, *, timeout: Optional[float] = None) -> None:
        """End the link to an account.

        Ends your link to the account; the operator's account and its deposits stay, and the operator gets a mail.
        From then on you can no longer create or capture deposits or create clients for it. Its deposits can still be
        read and cancelled, and the events of the deposits that you created still arrive. Ending a link that has
        ended changes nothing.

        To link the operator again, send a new connect URL. Those that you signed before are `expired`.

        Codes of its ApiError: account_not_found, api_key_revoked, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        await in_thread(self._resource.delete, account_id, timeout=timeout)


class AsyncConnectResource:
    def __init__(self, resource: ConnectResource):
        self._resource = resource

    async def explain(self, *, url: str, timeout: Optional[float] = None) -> ConnectExplanation:
        """Explain why a connect URL is refused.

        Tells why a connect URL that you signed is refused. The secrets that are tried are those that you have now:
        the connect secret, the signing secrets and the API key of this request. The right signature is never shown,
        and we keep nothing of what you send.

        You have 30 requests a minute for this operation and `explainWebhook` together.

        - url: The connect URL as you gave it to the operator.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        return await in_thread(self._resource.explain, url=url, timeout=timeout)


class AsyncWebhooksResource:
    def __init__(self, resource: WebhooksResource):
        self._resource = resource

    async def create(self, *, url: str, events: Optional[Sequence[EventName]] = None,
                     signatures: Optional[Sequence[SignatureKind]] = None, idempotency_key: Optional[str] = None,
                     timeout: Optional[float] = None) -> CreatedWebhook:
        """Create a webhook subscription.

        Registers an endpoint of yours. The answer holds the signing secret, which is shown here and never again:
        store it before you go on. If you lose it, rotate it.

        - url: Your endpoint. Must be https and publicly reachable, and not at a port of another service, such as 22
        or 25.
        - events: What to send. Leave out for all events.
        - signatures: Which signatures deliveries carry: `svc` is ours and cannot be left out; with `standard` they
        carry the headers of Standard Webhooks beside it. Leave out for ours alone.

        Codes of its ApiError: api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error,
        invalid_api_key, invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field,
        payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
        webhook_limit_reached.
        """
        return await in_thread(self._resource.create, url=url, events=events, signatures=signatures,
                               idempotency_key=idempotency_key, timeout=timeout)

    def list(self, *, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[Webhook]:
        """List webhook subscriptions.

        Lists your subscriptions, the newest first. Secrets are not shown.

        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(limit=limit, cursor=cursor, timeout=timeout))

    async def get(self, webhook_id: str, *, timeout: Optional[float] = None) -> Webhook:
        """Retrieve a webhook subscription.

        Retrieves one subscription. The secret is not shown.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        return await in_thread(self._resource.get, webhook_id, timeout=timeout)

    async def update(self, webhook_id: str, *, url: Optional[str] = None, events: Optional[Sequence[EventName]] = None,
                     signatures: Optional[Sequence[SignatureKind]] = None, enabled: Optional[bool] = None,
                     timeout: Optional[float] = None) -> Webhook:
        """Update a webhook subscription.

        Changes what you send and leaves the rest. `events` replaces the whole list. Setting `enabled` to false parks
        deliveries; setting it to true sends, at a gentle pace, what waited.

        - url: The new endpoint.
        - events: The new list of events, replacing the old one.
        - signatures: The new list of signatures, replacing the old one; it has `svc`.
        - enabled: Whether deliveries go out. While false, they wait.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field, unsupported_media_type,
        webhook_not_found.
        """
        return await in_thread(self._resource.update, webhook_id, url=url, events=events, signatures=signatures,
                               enabled=enabled, timeout=timeout)

    async def delete(self, webhook_id: str, *, timeout: Optional[float] = None) -> None:
        """Delete a webhook subscription.

        Deletes the subscription. Nothing is sent to it from then on, retries included.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        await in_thread(self._resource.delete, webhook_id, timeout=timeout)

    async def rotate_secret(self, webhook_id: str, *, timeout: Optional[float] = None) -> RotatedSecret:
        """Rotate a signing secret.

        Issues a new secret and shows it, here and never again. The old one signs nothing from then on; retries of
        earlier deliveries are signed with the new one too.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, webhook_not_found.
        """
        return await in_thread(self._resource.rotate_secret, webhook_id, timeout=timeout)

    async def test(self, webhook_id: str, *, timeout: Optional[float] = None) -> Delivery:
        """Send a test delivery.

        Sends a synthetic `deposit.activated` to the endpoint, once, and answers with the delivery and what your
        endpoint said to it; also when it failed. The subscription must have `deposit.activated` or
        `deposit.status_changed`; the more specific of the two is sent. The deposit in it does not exist: its id
        starts with `dep_test_`.

        If the attempt takes longer than we can wait for, the delivery comes back as `pending`; look it up later. You
        have 20 tests a minute, and two in flight.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, missing_api_key, rate_limited,
        service_unavailable, test_event_not_subscribed, webhook_disabled, webhook_not_found.
        """
        return await in_thread(self._resource.test, webhook_id, timeout=timeout)

    async def explain(self, webhook_id: str, *, headers: Mapping[str, str], body: str, computed: Optional[str] = None,
                      timeout: Optional[float] = None) -> WebhookExplanation:
        """Explain why a delivery does not verify.

        Tells why the signature of a delivery does not verify at your endpoint. Send headers and body as your
        endpoint received them, and, if you can, the signature that it computed itself: most mistakes show there
        alone.

        A delivery is found by its signature, so a changed body is told from a changed header. The secrets that are
        tried are those that you have now: the signing secrets, the connect secret and the API key of this request.
        The right signature is never shown, and we keep nothing of what you send.

        You have 30 requests a minute for this operation and `explainConnectUrl` together.

        - headers: The headers as your endpoint received them, in any case; `X-Svc-Signature` and `X-Svc-Timestamp`
        are read. Join the values of a header that came more than once with a comma.
        - body: The body as your endpoint received it, in base64.
        - computed: The signature that your endpoint computed, as it compared it.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type, webhook_not_found.
        """
        return await in_thread(self._resource.explain, webhook_id, headers=headers, body=body, computed=computed,
                               timeout=timeout)

    async def replay(self, webhook_id: str, *, from_: Time, to: Time, status: Optional[DeliveryStatus] = None,
                     timeout: Optional[float] = None) -> Replay:
        """Send the deliveries of a time span again.

        Sends again what was created from `from` on and before `to` and has the given status, `failed` unless you say
        otherwise: each delivery as a new one, as `redeliver` would, the oldest first. The answer tells how many
        match now; the work goes on by itself, across restarts on our side. Your replays send 50 deliveries a second
        in all. Those of one subscription are done one after another, and 8 of them may be unfinished; one more is
        refused with `replay_limit_reached`. A replay waits while the subscription is disabled and ends when it is
        deleted.

        Redeliveries and test deliveries are not repeated, so each event comes once, however often you had it sent
        again before. The status that counts is the delivery's own, when its turn comes: a failed delivery stays
        `failed` also when a redelivery of it arrived.

        - from_: Deliveries created at or after this time …
        - to: … and before this one.
        - status: `pending`: not attempted yet. `retrying`: failed so far, more attempts follow. `succeeded`: your
        endpoint answered 2xx. `failed`: given up.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_date_range, invalid_field,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, replay_limit_reached,
        service_unavailable, unknown_field, unsupported_media_type, webhook_disabled, webhook_not_found.
        """
        return await in_thread(self._resource.replay, webhook_id, from_=from_, to=to, status=status, timeout=timeout)

    async def ensure(self, url: str, events: Optional[Sequence[EventName]] = None) -> EnsuredWebhook:
        """The subscription of this URL: created, or given these events, where needed.

        A subscription that is there already has no `secret`.
        """
        return await in_thread(self._resource.ensure, url, events)


class AsyncDeliveriesResource:
    def __init__(self, resource: DeliveriesResource):
        self._resource = resource

    def list(self, webhook_id: str, *, status: Optional[DeliveryStatus] = None, event: Optional[EventName] = None,
             deposit_id: Optional[str] = None, from_: Optional[Time] = None, to: Optional[Time] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[Delivery]:
        """List deliveries.

        Lists what was sent to a subscription, the newest first, each with all its attempts.

        - status: Only deliveries in this status.
        - event: Only deliveries of this event.
        - deposit_id: Only deliveries about this deposit.
        - from_: Only deliveries created at or after this time.
        - to: Only deliveries created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field, webhook_not_found.
        """
        return AsyncPages(self._resource.list(webhook_id, status=status, event=event, deposit_id=deposit_id,
                                              from_=from_, to=to, limit=limit, cursor=cursor, timeout=timeout))

    async def get(self, webhook_id: str, delivery_id: str, *, timeout: Optional[float] = None) -> DeliveryDetail:
        """Retrieve a delivery.

        Retrieves one delivery with its attempts and the exact body that was, or will be, sent.

        Codes of its ApiError: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable, webhook_not_found.
        """
        return await in_thread(self._resource.get, webhook_id, delivery_id, timeout=timeout)

    async def redeliver(self, webhook_id: str, delivery_id: str, *, timeout: Optional[float] = None) -> Delivery:
        """Send a delivery again.

        Makes a new delivery with the same bytes, due at once and retried like any other, whatever became of the
        first one, which stays as it is. It goes to the present URL, signed with the present secret. `redeliveryOf`
        is always the original, also when you send a redelivery again. A test delivery can be sent again too, and is
        again attempted only once. You have 60 redeliveries a minute; to send many deliveries again, use `replay`.

        Codes of its ApiError: api_key_revoked, delivery_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable, webhook_disabled, webhook_not_found.
        """
        return await in_thread(self._resource.redeliver, webhook_id, delivery_id, timeout=timeout)


class AsyncEventsResource:
    def __init__(self, resource: EventsResource):
        self._resource = resource

    def list(self, *, event: Optional[EventName] = None, deposit_id: Optional[str] = None, from_: Optional[Time] = None,
             to: Optional[Time] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[Event]:
        """List events.

        Lists your events of the last 30 days, the newest first, whatever your subscriptions receive. To follow
        events without missing one, read the feed.

        - event: Only events of this name.
        - deposit_id: Only events about this deposit.
        - from_: Only events created at or after this time.
        - to: Only events created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(event=event, deposit_id=deposit_id, from_=from_, to=to, limit=limit,
                                              cursor=cursor, timeout=timeout))

    async def feed(self, *, after: Optional[int] = None, limit: Optional[int] = None,
                   wait_seconds: Optional[int] = None, timeout: Optional[float] = None) -> Feed:
        """Read the feed.

        Your events, numbered 1, 2, 3, … without a gap, the oldest first. Keep `nextAfter`, and send it as `after` of
        the next request: so you receive each event exactly once, and can prove that none is missing. With
        `waitSeconds` the answer is held until there is an event. When `feedId` differs from the one you keep, our
        database was restored from a backup: discard the answer and read anew, without `after`.

        - after: The number of the last event that you have. Without it, the feed begins with the oldest event that
        is kept.
        - limit: How many items to return at most.
        - wait_seconds: How long the answer may be held while there is no event, in seconds.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return await in_thread(self._resource.feed, after=after, limit=limit, wait_seconds=wait_seconds,
                               timeout=timeout)

    async def get(self, event_id: str, *, timeout: Optional[float] = None) -> Event:
        """Retrieve an event.

        Retrieves an event. Events are kept for 30 days.

        Codes of its ApiError: api_key_revoked, event_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        return await in_thread(self._resource.get, event_id, timeout=timeout)

    def follow(self, after: Optional[int] = None, *, feed_id: Optional[str] = None, wait_seconds: int = 25,
               limit: Optional[int] = None) -> AsyncIterator[FollowedEvent]:
        """The events after a number, and those to come. With `wait_seconds` of 0 it ends when it has caught up.

        Keep `sequence` and `feed_id` of the last event that you have processed, and give them when you begin again.
        ApiError with code feed_changed: the service was restored, so read anew, without `after` and `feed_id`.
        """
        return each(self._resource.follow(after, feed_id=feed_id, wait_seconds=wait_seconds, limit=limit))


class AsyncClientsResource:
    def __init__(self, resource: ClientsResource):
        self._resource = resource

    async def create(self, *, account_id: str, email: str, first_name: str, last_name: str, phone: Optional[str] = None,
                     locale: Optional[str] = None, idempotency_key: Optional[str] = None,
                     timeout: Optional[float] = None) -> ClientRecord:
        """Create a client.

        Creates a tenant of one of your linked accounts. Pass its id as `clientId` when you create a deposit on the
        same account: checkout is prefilled, and events name the person.

        - account_id: A linked account.
        - email: The tenant's e-mail address.
        - first_name: The tenant's first name.
        - last_name: The tenant's last name.
        - phone: The tenant's phone number in E.164 form, such as `+33612345678`.
        - locale: The language to address the tenant in, such as `fr` or `en-GB`.

        Codes of its ApiError: account_not_linked, account_revoked, api_key_revoked, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.create, account_id=account_id, email=email, first_name=first_name,
                               last_name=last_name, phone=phone, locale=locale, idempotency_key=idempotency_key,
                               timeout=timeout)

    def list(self, *, account_id: Optional[str] = None, email: Optional[str] = None, limit: Optional[int] = None,
             cursor: Optional[str] = None, timeout: Optional[float] = None) -> AsyncPages[ClientRecord]:
        """List clients.

        Lists your clients at your linked accounts, the newest first: those that you created, and those that tenants
        brought to the checkouts of your deposits. Filters are combined. Erased clients are not listed. To answer a
        person who asks about their data, filter by `email`.

        - account_id: Only clients of this account.
        - email: Only clients with this e-mail address; ASCII letters match in either case.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: account_revoked, api_key_revoked, internal_error, invalid_api_key, invalid_cursor,
        invalid_field, missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(account_id=account_id, email=email, limit=limit, cursor=cursor,
                                              timeout=timeout))

    async def get(self, client_id: str, *, timeout: Optional[float] = None) -> ClientRecord:
        """Retrieve a client.

        Retrieves one of your clients. An erased client is not found.

        Codes of its ApiError: account_revoked, api_key_revoked, client_not_found, internal_error, invalid_api_key,
        missing_api_key, rate_limited, service_unavailable.
        """
        return await in_thread(self._resource.get, client_id, timeout=timeout)

    async def update(self, client_id: str, *, email: Optional[str] = None, first_name: Optional[str] = None,
                     last_name: Optional[str] = None, phone: Optional[str] = OMIT, locale: Optional[str] = OMIT,
                     idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> ClientRecord:
        """Update a client.

        Changes what you send and leaves the rest. `null` clears `phone` and `locale`. Deposits and later events show
        the new details; events that were made before do not change.

        - email: The tenant's new e-mail address.
        - first_name: The tenant's new first name.
        - last_name: The tenant's new last name.
        - phone: The new phone number in E.164 form; null clears it.
        - locale: The new language to address the tenant in; null clears it.

        Codes of its ApiError: account_revoked, api_key_revoked, client_not_found, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.update, client_id, email=email, first_name=first_name,
                               last_name=last_name, phone=phone, locale=locale, idempotency_key=idempotency_key,
                               timeout=timeout)

    async def delete(self, client_id: str, *, timeout: Optional[float] = None) -> None:
        """Erase a client.

        Erases the person, at once and for good, whatever the status of their deposits and of the link to the
        account. Deposits keep `clientId` and lose `client`; later events carry `client: null`. Unsent mails to the
        person are removed. Events, deliveries and stored responses that were made before keep their bytes until
        their retention ends, 30 days at most for events. Again: 204.

        Codes of its ApiError: api_key_revoked, client_not_found, internal_error, invalid_api_key, missing_api_key,
        rate_limited, service_unavailable.
        """
        await in_thread(self._resource.delete, client_id, timeout=timeout)


class AsyncDepositsResource:
    def __init__(self, resource: DepositsResource):
        self._resource = resource

    async def create(self, *, account_id: str, amount: Money, contract_start_at: Time, contract_end_at: Time,
                     rental_contract: Optional[str] = None, client_id: Optional[str] = None,
                     deposit_url_generation: Optional[bool] = None, return_url: Optional[str] = None,
                     currency: Optional[Currency] = None, metadata: Optional[Mapping[str, str]] = None,
                     locale: Optional[str] = None, idempotency_key: Optional[str] = None,
                     timeout: Optional[float] = None) -> CreatedDeposit:
        """Create a deposit.

        Creates a deposit for a linked account. It starts as `pending` and waits for the tenant.

        Set `depositUrlGeneration` to true to get a `depositUrl` back: send the tenant there. After checkout we
        redirect the tenant to your `returnUrl` with two more query parameters: `depositId`, and `depositStatus`,
        which is `secured`, `declined` or `abandoned`. That tells your page what to show; the authoritative status is
        the one you retrieve or hear by webhook.

        The request is checked in this order: JSON, idempotency key, shapes of the fields, the link to the account,
        then amount, dates, return URL and client.

        - account_id: The account to secure the deposit for; it must be linked to you.
        - amount: The amount in **euros**, not cents, with at most two decimals: at least 70.00 and at most the
        operator's ceiling, which is 2500.00 unless negotiated. Read exactly, never through a float.
        - contract_start_at: When the rental begins. May be in the past.
        - contract_end_at: When the rental ends: in the future, and not before it begins.
        - rental_contract: Your booking or contract reference.
        - client_id: The id of a client that you created on the same account.
        - deposit_url_generation: Whether to return a checkout URL for the tenant.
        - return_url: Where the tenant is redirected after checkout: https, or http on localhost; at most 2048
        characters. Required when `depositUrlGeneration` is true.
        - currency: Always `EUR`.
        - metadata: Up to 20 keys of yours, of 1 to 40 characters, each with a text of up to 500. We keep them and
        make nothing of them.
        - locale: The language of checkout, such as `fr` or `en-GB`.

        Codes of its ApiError: account_not_linked, account_revoked, amount_above_maximum, amount_below_minimum,
        api_key_revoked, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_client, invalid_date_range, invalid_field, invalid_idempotency_key, invalid_json, invalid_return_url,
        missing_api_key, missing_field, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        return await in_thread(self._resource.create, account_id=account_id, amount=amount,
                               contract_start_at=contract_start_at, contract_end_at=contract_end_at,
                               rental_contract=rental_contract, client_id=client_id,
                               deposit_url_generation=deposit_url_generation, return_url=return_url, currency=currency,
                               metadata=metadata, locale=locale, idempotency_key=idempotency_key, timeout=timeout)

    def list(self, *, account_id: Optional[str] = None, external_id: Optional[str] = None,
             status: Optional[Sequence[DepositStatus]] = None, rental_contract: Optional[str] = None,
             client_id: Optional[str] = None, created_from: Optional[Time] = None, created_to: Optional[Time] = None,
             limit: Optional[int] = None, cursor: Optional[str] = None,
             timeout: Optional[float] = None) -> AsyncPages[Deposit]:
        """List deposits.

        Lists your deposits, the newest first. Filters are combined: a deposit must match all of them.

        - account_id: Only deposits of this account.
        - external_id: Only deposits of the account that you know under this id.
        - status: Only deposits in one of these statuses, separated by commas.
        - rental_contract: Only deposits with exactly this contract reference.
        - client_id: Only deposits of this client.
        - created_from: Only deposits created at or after this time.
        - created_to: Only deposits created before this time.
        - limit: How many items to return at most.
        - cursor: The `nextCursor` of the page before. Leave out for the first page.

        Codes of its ApiError: api_key_revoked, internal_error, invalid_api_key, invalid_cursor, invalid_field,
        missing_api_key, rate_limited, service_unavailable, unknown_field.
        """
        return AsyncPages(self._resource.list(account_id=account_id, external_id=external_id, status=status,
                                              rental_contract=rental_contract, client_id=client_id,
                                              created_from=created_from, created_to=created_to, limit=limit,
                                              cursor=cursor, timeout=timeout))

    async def get(self, deposit_id: str, *, timeout: Optional[float] = None) -> Deposit:
        """Retrieve a deposit.

        Retrieves a deposit as it is now. `status` is authoritative: use this to catch up after missed events.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_found, internal_error,
        invalid_api_key, missing_api_key, rate_limited, service_unavailable.
        """
        return await in_thread(self._resource.get, deposit_id, timeout=timeout)

    async def cancel(self, deposit_id: str, *,
                     reason: Optional[Literal["booking_cancelled", "duplicate", "other"]] = None,
                     comment: Optional[str] = None, idempotency_key: Optional[str] = None,
                     timeout: Optional[float] = None) -> Deposit:
        """Cancel a deposit.

        Voids a deposit that the tenant has not secured yet: `pending`, `incomplete` or `payment_issue`. The checkout
        URL stops working. This also works after the link to the account was revoked.

        - reason: Why you cancel.
        - comment: Anything you want to keep with it.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
        idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key, invalid_field,
        invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.cancel, deposit_id, reason=reason, comment=comment,
                               idempotency_key=idempotency_key, timeout=timeout)

    async def release(self, deposit_id: str, *, comment: Optional[str] = None, idempotency_key: Optional[str] = None,
                      timeout: Optional[float] = None) -> Deposit:
        """Release a deposit.

        Ends the cover of an active deposit early, without a claim. The status becomes `close`, and the tenant can no
        longer be charged. This cannot be undone.

        - comment: Anything you want to keep with it.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_releasable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, payload_too_large, rate_limited,
        service_unavailable, unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.release, deposit_id, comment=comment, idempotency_key=idempotency_key,
                               timeout=timeout)

    async def capture(self, deposit_id: str, *, amount: Money = OMIT, currency: Optional[Currency] = None,
                      reason: Optional[Literal["damage", "cleaning", "missing_items", "unpaid_charges", "other"]] = None,
                      description: Optional[str] = None, idempotency_key: Optional[str] = None,
                      timeout: Optional[float] = None) -> Deposit:
        """Capture a deposit.

        Collects an active deposit after damage, all of it or a part, once and before `expiresAt`. The status becomes
        `captured` at once: the operator holds a guarantee. Collecting from the tenant follows; `collection` tells
        how far it is.

        - amount: How much to collect, in euros, with at most two decimals. More than 0, at most the deposit's
        amount, which is also the default.
        - currency: Always `EUR`.
        - reason: What the claim is for.
        - description: What happened.

        Codes of its ApiError: account_revoked, api_key_revoked, capture_below_minimum, capture_exceeds_amount,
        deposit_access_denied, deposit_not_capturable, deposit_not_found, idempotency_key_in_use,
        idempotency_key_reused, internal_error, invalid_api_key, invalid_field, invalid_idempotency_key,
        invalid_json, missing_api_key, payload_too_large, rate_limited, service_unavailable, unknown_field,
        unsupported_media_type.
        """
        return await in_thread(self._resource.capture, deposit_id, amount=amount, currency=currency, reason=reason,
                               description=description, idempotency_key=idempotency_key, timeout=timeout)

    async def send_link(self, deposit_id: str, *, email: str, locale: Optional[str] = None,
                        idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> LinkMail:
        """Mail the checkout link to a tenant.

        Mails the link to the checkout of a deposit that the tenant can still secure. The link works whether or not
        the deposit was created with `depositUrlGeneration`. The mail names you, the operator's company, the amount
        and the rental period.

        A deposit's link goes to an address 5 times at most within 24 hours, and 60 times to all addresses. Over all
        deposits you mail an address 10 links at most within 24 hours; the count begins anew once the tenant opens a
        mailed link. An address that has got 30 links from everybody gets no more from who sent three or more. Beyond
        these limits the answer is `rate_limited`, with the wait in `Retry-After`.

        - email: Where to send the link.
        - locale: The language of the mail, such as `fr` or `en-GB`; by default the `locale` of the deposit. Without
        either, the mail is in English and French.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
        rate_limited, service_unavailable, unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.send_link, deposit_id, email=email, locale=locale,
                               idempotency_key=idempotency_key, timeout=timeout)

    async def send_link_batch(self, deposit_id: str, *, recipients: Sequence[SendLinkParam],
                              idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> List[LinkMail]:
        """Mail the checkout link to several people.

        Does as `send-link` for up to 20 recipients. Either every mail is queued or none: one bad recipient refuses
        the request, and so does an address that occurs twice.

        - recipients: Who gets the link, each address once.

        Codes of its ApiError: account_revoked, api_key_revoked, deposit_access_denied, deposit_not_found,
        deposit_not_sendable, idempotency_key_in_use, idempotency_key_reused, internal_error, invalid_api_key,
        invalid_field, invalid_idempotency_key, invalid_json, missing_api_key, missing_field, payload_too_large,
        rate_limited, service_unavailable, unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.send_link_batch, deposit_id, recipients=recipients,
                               idempotency_key=idempotency_key, timeout=timeout)


class AsyncTestResource:
    def __init__(self, resource: TestResource):
        self._resource = resource

    async def simulate(self, deposit_id: str, *,
                       outcome: Literal["start", "activate", "decline", "abandon", "fail_payment", "expire"],
                       timeout: Optional[float] = None) -> Deposit:
        """Simulate what a tenant does.

        Moves a deposit as the tenant or the passing of time would, with all that follows from it: status, events and
        deliveries. Exists in development and staging only; in production the answer is `route_not_found`.

        | Outcome | What happens | Becomes | |---|---|---| | `start` | The tenant starts checkout and goes no further
        | still `pending`; `incomplete` once it was idle for 30 minutes | | `activate` | The tenant secures the
        deposit | `active` | | `decline` | Scoring refuses the tenant | `cancelled` | | `abandon` | The tenant gives
        up | `cancelled` | | `fail_payment` | The fee cannot be charged | `payment_issue` | | `expire` | Coverage of
        an active deposit ends, or the checkout of one that is not secured | `close`, `cancelled` |

        - outcome: What happens.

        Codes of its ApiError: api_key_revoked, deposit_access_denied, deposit_not_cancellable, deposit_not_found,
        deposit_not_releasable, deposit_not_securable, internal_error, invalid_api_key, invalid_field, invalid_json,
        missing_api_key, missing_field, payload_too_large, rate_limited, route_not_found, service_unavailable,
        unknown_field, unsupported_media_type.
        """
        return await in_thread(self._resource.simulate, deposit_id, outcome=outcome, timeout=timeout)



class PartnerDeposits(Core):
    """A client of the Partner API."""

    _version = VERSION

    @functools.cached_property
    def me(self) -> MeResource:
        return MeResource(self)

    @functools.cached_property
    def api_keys(self) -> ApiKeysResource:
        return ApiKeysResource(self)

    @functools.cached_property
    def accounts(self) -> AccountsResource:
        return AccountsResource(self)

    @functools.cached_property
    def connect(self) -> ConnectResource:
        return ConnectResource(self)

    @functools.cached_property
    def webhooks(self) -> WebhooksResource:
        return WebhooksResource(self)

    @functools.cached_property
    def deliveries(self) -> DeliveriesResource:
        return DeliveriesResource(self)

    @functools.cached_property
    def events(self) -> EventsResource:
        return EventsResource(self)

    @functools.cached_property
    def clients(self) -> ClientsResource:
        return ClientsResource(self)

    @functools.cached_property
    def deposits(self) -> DepositsResource:
        return DepositsResource(self)

    @functools.cached_property
    def test(self) -> TestResource:
        return TestResource(self)


class AsyncPartnerDeposits(Core):
    """A client of the Partner API for asyncio: each request runs in a thread."""

    _version = VERSION

    @functools.cached_property
    def me(self) -> AsyncMeResource:
        return AsyncMeResource(MeResource(self))

    @functools.cached_property
    def api_keys(self) -> AsyncApiKeysResource:
        return AsyncApiKeysResource(ApiKeysResource(self))

    @functools.cached_property
    def accounts(self) -> AsyncAccountsResource:
        return AsyncAccountsResource(AccountsResource(self))

    @functools.cached_property
    def connect(self) -> AsyncConnectResource:
        return AsyncConnectResource(ConnectResource(self))

    @functools.cached_property
    def webhooks(self) -> AsyncWebhooksResource:
        return AsyncWebhooksResource(WebhooksResource(self))

    @functools.cached_property
    def deliveries(self) -> AsyncDeliveriesResource:
        return AsyncDeliveriesResource(DeliveriesResource(self))

    @functools.cached_property
    def events(self) -> AsyncEventsResource:
        return AsyncEventsResource(EventsResource(self))

    @functools.cached_property
    def clients(self) -> AsyncClientsResource:
        return AsyncClientsResource(ClientsResource(self))

    @functools.cached_property
    def deposits(self) -> AsyncDepositsResource:
        return AsyncDepositsResource(DepositsResource(self))

    @functools.cached_property
    def test(self) -> AsyncTestResource:
        return AsyncTestResource(TestResource(self))
