-- Locks the payments of the same kind first, so that the insert sees the outcome of a payment that is being settled.
-- Inserts no row when such a payment is processing or has succeeded.
-- name: InsertPayment :execrows
WITH others AS (SELECT o.status FROM payments o WHERE o.deposit_id = @deposit_id AND o.kind = @kind FOR UPDATE)
INSERT INTO payments (id, deposit_id, kind, amount_cents, status, provider_ref, failure, attempts, created_at, check_at, settled_at)
SELECT sqlc.arg(id)::uuid, @deposit_id, @kind, sqlc.arg(amount_cents)::bigint, sqlc.arg(status)::text, sqlc.arg(provider_ref)::text, sqlc.arg(failure)::text,
    sqlc.arg(attempts)::integer, sqlc.arg(created_at)::timestamptz, sqlc.arg(check_at)::timestamptz, sqlc.narg(settled_at)::timestamptz
WHERE NOT EXISTS (SELECT FROM others WHERE others.status IN ('processing', 'succeeded'))
ON CONFLICT DO NOTHING;

-- name: ProcessingPayment :one
SELECT id, deposit_id, kind, amount_cents, status, provider_ref, failure, attempts, created_at, check_at, settled_at FROM payments
WHERE deposit_id = @deposit_id AND kind = @kind AND status = 'processing' FOR UPDATE;

-- name: UpdatePayment :exec
UPDATE payments SET status = @status, provider_ref = @provider_ref, failure = @failure, attempts = @attempts, check_at = @check_at, settled_at = @settled_at
WHERE id = @id;

-- name: PaymentsToCheck :many
UPDATE payments p SET check_at = sqlc.arg(next_check)::timestamptz
WHERE p.id IN (
    SELECT d.id FROM payments d WHERE d.status = 'processing' AND d.check_at <= sqlc.arg(at)::timestamptz
    ORDER BY d.check_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED)
RETURNING p.id, p.deposit_id, p.kind, p.amount_cents, p.status, p.provider_ref, p.failure, p.attempts, p.created_at, p.check_at, p.settled_at;

-- name: Payments :many
SELECT id, deposit_id, kind, amount_cents, status, provider_ref, failure, attempts, created_at, check_at, settled_at FROM payments
WHERE deposit_id = @deposit_id ORDER BY created_at, id;
