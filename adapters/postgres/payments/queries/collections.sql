-- name: LockDebt :one
SELECT payment_id, deposit_id, state, steps, captured_at, attempt, answered, attempted_at, next_attempt_at, page_at,
    ended_at, failure, barred, cancel_at, cancel_by, cancel_as, asked_at
FROM collections WHERE payment_id = @payment_id FOR UPDATE;

-- name: SaveDebt :exec
UPDATE collections SET state = @state, steps = @steps, attempt = @attempt, answered = @answered,
    attempted_at = @attempted_at, next_attempt_at = @next_attempt_at, page_at = @page_at, ended_at = @ended_at,
    failure = @failure, barred = @barred, cancel_at = @cancel_at, cancel_by = sqlc.arg(cancel_by)::text,
    cancel_as = @cancel_as, asked_at = @asked_at
WHERE payment_id = @payment_id;

-- name: InsertCollectionStep :exec
INSERT INTO collection_steps (payment_id, number, from_state, to_state, trigger, at, actor, detail)
VALUES (@payment_id, @number, @from_state, @to_state, @trigger, @at, @actor, @detail);

-- name: DebtsOf :many
SELECT payment_id, deposit_id, state, steps, captured_at, attempt, answered, attempted_at, next_attempt_at, page_at,
    ended_at, failure, barred, cancel_at, cancel_by, cancel_as, asked_at
FROM collections WHERE deposit_id = ANY (sqlc.arg(deposit_ids)::uuid[]) ORDER BY captured_at, payment_id;

-- The index collections_paid has this order.
-- name: PaidDebts :many
SELECT payment_id, deposit_id, state, steps, captured_at, attempt, answered, attempted_at, next_attempt_at, page_at,
    ended_at, failure, barred, cancel_at, cancel_by, cancel_as, asked_at
FROM collections WHERE state = 'paid' ORDER BY payment_id DESC LIMIT sqlc.arg(max_rows);

-- The first condition is that of the index collections_unpaid.
-- name: UnpaidDebts :many
SELECT payment_id, deposit_id, state, steps, captured_at, attempt, answered, attempted_at, next_attempt_at, page_at,
    ended_at, failure, barred, cancel_at, cancel_by, cancel_as, asked_at
FROM collections WHERE state <> 'paid' AND state = @state ORDER BY captured_at, payment_id LIMIT sqlc.arg(max_rows);

-- name: CollectionHistory :many
SELECT payment_id, number, from_state, to_state, trigger, at, actor, detail FROM collection_steps
WHERE payment_id = @payment_id ORDER BY number;

-- name: LockPayment :one
SELECT id, deposit_id, kind, amount_cents, status, provider_ref, failure, attempts, created_at, check_at, settled_at
FROM payments WHERE id = @id FOR UPDATE;

-- name: RefundsOfPayment :many
SELECT id, payment_id, deposit_id, amount_cents, reason, status, provider_ref, failure, actor, created_at, check_at,
    settled_at
FROM refunds WHERE payment_id = @payment_id ORDER BY created_at, id;

-- name: InsertRefund :exec
INSERT INTO refunds (id, payment_id, deposit_id, amount_cents, reason, status, provider_ref, failure, actor, created_at,
    check_at, settled_at)
VALUES (@id, @payment_id, @deposit_id, @amount_cents, @reason, @status, @provider_ref, @failure, @actor, @created_at,
    @check_at, @settled_at);

-- name: SettleRefund :execrows
UPDATE refunds SET status = @status, provider_ref = @provider_ref, failure = @failure, check_at = @check_at,
    settled_at = @settled_at
WHERE id = @id AND status = 'pending';

-- name: RefundsOfDeposit :many
SELECT id, payment_id, deposit_id, amount_cents, reason, status, provider_ref, failure, actor, created_at, check_at,
    settled_at
FROM refunds WHERE deposit_id = @deposit_id ORDER BY created_at, id;

-- name: RefundsToCheck :many
UPDATE refunds r SET check_at = sqlc.arg(next_check)::timestamptz
WHERE r.id IN (
    SELECT d.id FROM refunds d WHERE d.status = 'pending' AND d.check_at <= sqlc.arg(at)::timestamptz
    ORDER BY d.check_at LIMIT sqlc.arg(max_rows) FOR UPDATE SKIP LOCKED)
RETURNING r.id, r.payment_id, r.deposit_id, r.amount_cents, r.reason, r.status, r.provider_ref, r.failure, r.actor,
    r.created_at, r.check_at, r.settled_at;

-- name: InsertTenantNotice :exec
INSERT INTO tenant_notices (subject_id, kind, deposit_id, at) VALUES (@subject_id, @kind, @deposit_id, @at)
ON CONFLICT DO NOTHING;

-- name: TakeTenantNotice :one
DELETE FROM tenant_notices WHERE subject_id = @subject_id AND kind = @kind RETURNING subject_id;

-- name: TenantNoticesDue :many
SELECT subject_id, kind, deposit_id, at FROM tenant_notices ORDER BY at, subject_id LIMIT sqlc.arg(max_rows);
