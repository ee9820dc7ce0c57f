-- name: SetCheckout :exec
WITH stepped AS (
    UPDATE deposits SET client_id = @client_id, checkout_started_at = @checkout_started_at, updated_at = @updated_at WHERE id = @id
    RETURNING id, checkout_started_at)
INSERT INTO deposit_timers (kind, due_at, deposit_id)
SELECT 'idle', stepped.checkout_started_at, stepped.id FROM stepped WHERE stepped.checkout_started_at IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: CheckoutTokens :many
SELECT id, checkout_token FROM deposits WHERE id = ANY (@ids::uuid[]);

-- Deletes timers that their deposit no longer needs.
-- name: DropStaleTimers :execrows
DELETE FROM deposit_timers WHERE (kind, due_at, deposit_id) IN (
    SELECT t.kind, t.due_at, t.deposit_id FROM deposit_timers t LEFT JOIN deposits d ON d.id = t.deposit_id
    WHERE t.kind = @kind AND t.due_at <= sqlc.arg(at)::timestamptz AND NOT coalesce(CASE t.kind
        WHEN 'idle' THEN d.status = 'pending' AND d.checkout_started_at = t.due_at
        WHEN 'checkout' THEN d.status IN ('pending', 'incomplete', 'payment_issue')
        ELSE d.status = 'active' END, false)
    ORDER BY t.due_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE OF t SKIP LOCKED);

-- name: IdleCheckouts :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'idle' AND t.due_at < sqlc.arg(before)::timestamptz AND d.status = 'pending' AND d.checkout_started_at = t.due_at
ORDER BY t.due_at LIMIT sqlc.arg(max_rows)::integer;

-- name: ExpiredCheckouts :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'checkout' AND t.due_at <= sqlc.arg(at)::timestamptz AND d.status IN ('pending', 'incomplete', 'payment_issue')
ORDER BY t.due_at LIMIT sqlc.arg(max_rows)::integer;

-- name: ElapsedCoverages :many
SELECT t.deposit_id FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
WHERE t.kind = 'coverage' AND t.due_at <= sqlc.arg(at)::timestamptz AND d.status = 'active'
ORDER BY t.due_at LIMIT sqlc.arg(max_rows)::integer;

-- The accounts that were ever linked under an external id; two at most, since the caller asks whether there is a single
-- one.
-- name: AccountsOfExternalID :many
SELECT DISTINCT account_id FROM account_links WHERE partner_id = @partner_id AND external_id = @external_id LIMIT 2;

-- name: ActiveLinksOf :many
SELECT account_id, partner_id FROM account_links
WHERE account_id = ANY (sqlc.arg(accounts)::uuid[]) AND revoked_at IS NULL;

-- name: History :many
SELECT deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id
FROM deposit_transitions WHERE deposit_id = @deposit_id ORDER BY version;
