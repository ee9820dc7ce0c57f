-- The lock on the partner's row makes the limit of subscriptions hold under concurrent inserts.
-- name: LockPartner :exec
SELECT 1 FROM partners WHERE id = @id FOR NO KEY UPDATE;

-- Inserts no row when the limit of subscriptions is reached.
-- name: InsertSubscription :execrows
INSERT INTO webhook_subscriptions (id, partner_id, url, events, secret, enabled, disabled_reason, created_at, standard)
SELECT sqlc.arg(id)::uuid, @partner_id, sqlc.arg(url)::text, sqlc.arg(events)::text[], sqlc.arg(secret)::bytea, sqlc.arg(enabled)::boolean,
    sqlc.arg(disabled_reason)::text, sqlc.arg(created_at)::timestamptz, sqlc.arg(standard)::boolean
WHERE (SELECT count(*) FROM webhook_subscriptions s WHERE s.partner_id = @partner_id AND s.deleted_at IS NULL) < sqlc.arg(max_rows)::integer;

-- name: SubscriptionForUpdate :one
SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, standard FROM webhook_subscriptions
WHERE id = @id AND partner_id = @partner_id AND deleted_at IS NULL FOR UPDATE;

-- A relay and a change of health do not wait for this lock.
-- name: HoldSubscription :one
SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, standard FROM webhook_subscriptions
WHERE id = @id AND partner_id = @partner_id AND deleted_at IS NULL FOR KEY SHARE;

-- name: Subscription :one
SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, standard FROM webhook_subscriptions
WHERE id = @id AND partner_id = @partner_id AND deleted_at IS NULL;

-- name: SubscriptionByID :one
SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, standard FROM webhook_subscriptions
WHERE id = @id AND deleted_at IS NULL;

-- Enabling ends the failure history: the endpoint starts healthy.
-- name: UpdateSubscription :one
UPDATE webhook_subscriptions s SET url = @url, events = @events, standard = @standard, enabled = @enabled, disabled_reason = @disabled_reason,
    failures = CASE WHEN @enabled AND NOT s.enabled THEN 0 ELSE s.failures END,
    failing_since = CASE WHEN @enabled AND NOT s.enabled THEN NULL ELSE s.failing_since END,
    slow = CASE WHEN @enabled AND NOT s.enabled THEN false ELSE s.slow END,
    quick = CASE WHEN @enabled AND NOT s.enabled THEN 0 ELSE s.quick END,
    holds = CASE WHEN @enabled AND NOT s.enabled THEN 0 ELSE s.holds END,
    held_until = CASE WHEN @enabled AND NOT s.enabled THEN NULL ELSE s.held_until END,
    ramp = CASE WHEN @enabled AND NOT s.enabled THEN 0 ELSE s.ramp END,
    state_since = CASE WHEN @enabled <> s.enabled THEN now() ELSE s.state_since END
FROM (SELECT o.id, o.enabled FROM webhook_subscriptions o WHERE o.id = @id AND o.deleted_at IS NULL FOR UPDATE) old
WHERE s.id = old.id
RETURNING old.enabled AS was_enabled;

-- name: SetSubscriptionSecret :exec
UPDATE webhook_subscriptions SET secret = @secret WHERE id = @id AND deleted_at IS NULL;

-- name: DeleteSubscription :execrows
UPDATE webhook_subscriptions SET deleted_at = sqlc.arg(at)::timestamptz WHERE id = @id AND deleted_at IS NULL;

-- The next three statements name their rows by an array: for a join with a set, a planner that believes the table to be small
-- compares each row with each other row. Released deliveries are spread over time, so that an endpoint that was just enabled
-- does not receive all of them at once: width_bucket gives the position of an id in the sorted array.
-- name: ReleaseDeliveries :execrows
WITH parked AS MATERIALIZED (SELECT ARRAY (
    SELECT w.id FROM deliveries w WHERE w.subscription_id = @subscription_id AND w.state = 0 AND w.due_at IS NULL
    ORDER BY w.id LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED) AS ids)
UPDATE deliveries d SET due_at = now() + (width_bucket(d.id, (SELECT p.ids FROM parked p)) - 1) * interval '1 second' / sqlc.arg(per_second)::float8
WHERE d.subscription_id = @subscription_id AND d.id = ANY ((SELECT p.ids FROM parked p)::uuid[]);

-- name: ParkDeliveries :execrows
UPDATE deliveries d SET due_at = NULL
WHERE d.subscription_id = @subscription_id AND d.id = ANY (ARRAY (
    SELECT w.id FROM deliveries w WHERE w.subscription_id = @subscription_id AND w.state = 0 AND w.due_at IS NOT NULL
    ORDER BY w.due_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED));

-- name: CancelDeliveries :execrows
UPDATE deliveries d SET state = 4, finished_at = sqlc.arg(at)::timestamptz, due_at = NULL
WHERE d.subscription_id = @subscription_id AND d.id = ANY (ARRAY (
    SELECT w.id FROM deliveries w WHERE w.subscription_id = @subscription_id AND w.state < 2
    LIMIT sqlc.arg(max_rows)::integer FOR UPDATE));

-- name: SubscriptionsToRelease :many
SELECT s.id FROM webhook_subscriptions s
WHERE s.enabled AND s.deleted_at IS NULL
    AND EXISTS (SELECT FROM deliveries d WHERE d.subscription_id = s.id AND d.state = 0 AND d.due_at IS NULL);

-- name: SubscriptionsToClear :many
SELECT s.id FROM webhook_subscriptions s
WHERE s.deleted_at IS NOT NULL AND (
    EXISTS (SELECT FROM deliveries d WHERE d.subscription_id = s.id AND d.state = 0 AND d.due_at IS NOT NULL)
    OR EXISTS (SELECT FROM deliveries d WHERE d.subscription_id = s.id AND d.state = 0 AND d.due_at IS NULL));

-- name: InsertTestDelivery :exec
INSERT INTO deliveries (id, subscription_id, event_id, event, deposit_id, test, state, due_at, body, event_at, created_at, trace_parent, request_id)
VALUES (@id, @subscription_id, @event_id, @event, @deposit_id, true, 0, now(), @body, @created_at, @created_at, nullif(@trace_parent::text, ''), nullif(sqlc.arg(request_id)::text, ''));

-- name: DeliveryByID :one
SELECT id, subscription_id, event_id, event, deposit_id, test, state, attempts, due_at, body, encode(sha256(body), 'hex') AS body_sha256, redelivery_of, created_at, finished_at,
    taken_at, coalesce(taken_ms, 0)::integer AS taken_ms, coalesce(taken_status, 0)::smallint AS taken_status, coalesce(taken_snippet, '') AS taken_snippet,
    coalesce(failure_reason, '') AS failure_reason
FROM deliveries WHERE id = @id AND subscription_id = @subscription_id;

-- Ids sort by time, so a time span is a range of the primary key.
-- name: DeliveriesMade :many
SELECT id, body FROM deliveries
WHERE subscription_id = @subscription_id AND id >= uuid_floor(sqlc.arg(made_from)::timestamptz)
    AND id < uuid_floor(sqlc.arg(made_to)::timestamptz)
ORDER BY id DESC LIMIT sqlc.arg(max_rows)::integer;

-- The inner query is fenced by its limit, so that the planner reads the index of the deposit.
-- name: DeliveriesAbout :many
SELECT id, body FROM (SELECT o.id, o.body, o.subscription_id FROM deliveries o
    WHERE o.deposit_id = sqlc.arg(deposit_id)::uuid ORDER BY o.id DESC LIMIT 1000) AS about
WHERE subscription_id = @subscription_id ORDER BY id DESC LIMIT sqlc.arg(max_rows)::integer;

-- name: SigningSecrets :many
SELECT id, secret FROM webhook_subscriptions WHERE partner_id = @partner_id AND deleted_at IS NULL;

-- name: FindSubscription :one
SELECT id, partner_id, url, events, enabled, disabled_reason, created_at, deleted_at, failures, failing_since,
    held_until, slow, standard
FROM webhook_subscriptions WHERE id = @id;

-- name: SubscriptionsOfPartner :many
SELECT id FROM webhook_subscriptions WHERE partner_id = @partner_id;
