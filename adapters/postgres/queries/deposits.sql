-- No row inserted: the reference is taken.
-- name: InsertDeposit :execrows
INSERT INTO deposits (id, reference, status, status_reason, version, account_id, partner_id, by_partner_api, external_id, client_id,
    amount_cents, captured_cents, contract_start_at, contract_end_at, rental_contract, return_url, url_generation, metadata, locale,
    checkout_token_hash, checkout_token, checkout_expires_at, checkout_started_at, activated_at, expires_at, cancelled_at, closed_at, captured_at,
    created_at, updated_at)
VALUES (@id, @reference, @status, @status_reason, @version, @account_id, @partner_id, @by_partner_api, @external_id, @client_id,
    @amount_cents, @captured_cents, @contract_start_at, @contract_end_at, @rental_contract, @return_url, @url_generation, @metadata, @locale,
    @checkout_token_hash, @checkout_token, @checkout_expires_at, @checkout_started_at, @activated_at, @expires_at, @cancelled_at, @closed_at, @captured_at,
    @created_at, @updated_at)
ON CONFLICT (reference) DO NOTHING;

-- One statement for the row and its history. Where the guard finds another status or version there is no id for the
-- history's row, and NOT NULL ends the transaction: a stale step cannot be half a step, and nobody has to count rows.
-- name: Transition :exec
WITH moved AS (
    UPDATE deposits d SET status = sqlc.arg(to_status), status_reason = @status_reason, version = sqlc.arg(to_version), captured_cents = @captured_cents, client_id = @client_id,
        checkout_started_at = @checkout_started_at, activated_at = @activated_at, expires_at = @expires_at, cancelled_at = @cancelled_at,
        closed_at = @closed_at, captured_at = @captured_at, updated_at = @updated_at
    WHERE d.id = @id AND d.version = sqlc.arg(to_version) - 1 AND d.status = sqlc.arg(from_status)
    RETURNING d.id)
INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at)
VALUES ((SELECT moved.id FROM moved), sqlc.arg(to_version), sqlc.arg(from_status), sqlc.arg(to_status), @trigger, @at);

-- name: SetCheckout :exec
UPDATE deposits SET client_id = @client_id, checkout_started_at = @checkout_started_at, updated_at = @updated_at WHERE id = @id;

-- name: CheckoutTokens :many
SELECT id, checkout_token FROM deposits WHERE id = ANY (@ids::uuid[]);

-- name: IdleCheckouts :many
SELECT id FROM deposits WHERE status = 'pending' AND checkout_started_at < sqlc.arg(before)::timestamptz
ORDER BY checkout_started_at LIMIT sqlc.arg(most)::integer;

-- name: ExpiredCheckouts :many
SELECT id FROM deposits WHERE status IN ('pending', 'incomplete', 'payment_issue') AND checkout_expires_at <= sqlc.arg(at)::timestamptz
ORDER BY checkout_expires_at LIMIT sqlc.arg(most)::integer;

-- name: ElapsedCoverages :many
SELECT id FROM deposits WHERE status = 'active' AND expires_at <= sqlc.arg(at)::timestamptz
ORDER BY expires_at LIMIT sqlc.arg(most)::integer;
