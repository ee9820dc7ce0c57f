-- No row inserted: the reference is taken.
-- name: InsertDeposit :execrows
WITH made AS (
INSERT INTO deposits (id, reference, status, status_reason, version, account_id, partner_id, by_partner_api, external_id, client_id,
    amount_cents, captured_cents, contract_start_at, contract_end_at, rental_contract, return_url, url_generation, metadata, locale,
    checkout_token_hash, checkout_token, checkout_expires_at, checkout_started_at, activated_at, expires_at, cancelled_at, closed_at, captured_at,
    created_at, updated_at)
VALUES (@id, @reference, @status, @status_reason, @version, @account_id, @partner_id, @by_partner_api, @external_id, @client_id,
    @amount_cents, @captured_cents, @contract_start_at, @contract_end_at, @rental_contract, @return_url, @url_generation, @metadata, @locale,
    @checkout_token_hash, @checkout_token, @checkout_expires_at, @checkout_started_at, @activated_at, @expires_at, @cancelled_at, @closed_at, @captured_at,
    @created_at, @updated_at)
ON CONFLICT (reference) DO NOTHING RETURNING id, checkout_expires_at)
INSERT INTO deposit_timers (kind, due_at, deposit_id) SELECT 'checkout', made.checkout_expires_at, made.id FROM made;

-- One statement for the row and its history. Where the guard finds another status or version there is no id for the
-- history's row, and NOT NULL ends the transaction: a stale step cannot be half a step, and nobody has to count rows.
-- name: Transition :exec
WITH moved AS (
    UPDATE deposits d SET status = sqlc.arg(to_status), status_reason = @status_reason, version = sqlc.arg(to_version), captured_cents = @captured_cents, client_id = @client_id,
        checkout_started_at = @checkout_started_at, activated_at = @activated_at, expires_at = @expires_at, cancelled_at = @cancelled_at,
        closed_at = @closed_at, captured_at = @captured_at, updated_at = @updated_at
    WHERE d.id = @id AND d.version = sqlc.arg(to_version) - 1 AND d.status = sqlc.arg(from_status)
    RETURNING d.id)
INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id)
VALUES ((SELECT moved.id FROM moved), sqlc.arg(to_version), sqlc.arg(from_status), sqlc.arg(to_status), @trigger, @at, @actor, @detail, @event_id);

-- name: SetCheckout :exec
WITH stepped AS (
    UPDATE deposits SET client_id = @client_id, checkout_started_at = @checkout_started_at, updated_at = @updated_at WHERE id = @id
    RETURNING id, checkout_started_at)
INSERT INTO deposit_timers (kind, due_at, deposit_id)
SELECT 'idle', stepped.checkout_started_at, stepped.id FROM stepped WHERE stepped.checkout_started_at IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: SetTimer :exec
INSERT INTO deposit_timers (kind, due_at, deposit_id) VALUES (@kind, sqlc.arg(due_at)::timestamptz, @deposit_id) ON CONFLICT DO NOTHING;

-- name: CheckoutTokens :many
SELECT id, checkout_token FROM deposits WHERE id = ANY (@ids::uuid[]);

-- Timers that no longer concern their deposit.
-- name: DropStaleTimers :execrows
DELETE FROM deposit_timers WHERE (kind, due_at, deposit_id) IN (
    SELECT t.kind, t.due_at, t.deposit_id FROM deposit_timers t LEFT JOIN deposits d ON d.id = t.deposit_id
    WHERE t.kind = @kind AND t.due_at <= sqlc.arg(at)::timestamptz AND NOT coalesce(CASE t.kind
        WHEN 'idle' THEN d.status = 'pending' AND d.checkout_started_at = t.due_at
        WHEN 'checkout' THEN d.status IN ('pending', 'incomplete', 'payment_issue')
        ELSE d.status = 'active' END, false)
    ORDER BY t.due_at LIMIT sqlc.arg(most)::integer FOR UPDATE OF t SKIP LOCKED);

-- name: IdleCheckouts :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'idle' AND t.due_at < sqlc.arg(before)::timestamptz AND d.status = 'pending' AND d.checkout_started_at = t.due_at
ORDER BY t.due_at LIMIT sqlc.arg(most)::integer;

-- name: ExpiredCheckouts :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'checkout' AND t.due_at <= sqlc.arg(at)::timestamptz AND d.status IN ('pending', 'incomplete', 'payment_issue')
ORDER BY t.due_at LIMIT sqlc.arg(most)::integer;

-- name: ElapsedCoverages :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'coverage' AND t.due_at <= sqlc.arg(at)::timestamptz AND d.status = 'active'
ORDER BY t.due_at LIMIT sqlc.arg(most)::integer;
