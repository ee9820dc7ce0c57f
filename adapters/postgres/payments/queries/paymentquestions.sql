-- A notice that names no payment of ours is a question of its reference, if it is about a dispute.
-- name: RaiseQuestion :exec
WITH due AS (
    UPDATE payments SET check_at = sqlc.arg(at)::timestamptz
    WHERE payments.id = sqlc.narg(payment_id)::uuid AND status = 'processing' AND check_at > sqlc.arg(at)::timestamptz),
subject AS (
    SELECT p.id, '' AS ref FROM payments p
    WHERE p.id = sqlc.narg(payment_id)::uuid AND (sqlc.arg(dispute)::boolean OR p.status IN ('failed', 'voided'))
    UNION ALL
    SELECT NULL, sqlc.arg(provider_ref)::text WHERE sqlc.narg(payment_id)::uuid IS NULL AND sqlc.arg(dispute)::boolean)
INSERT INTO payment_questions AS q (id, payment_id, provider_ref, dispute, raised_at, due_at)
SELECT sqlc.arg(id)::uuid, subject.id, subject.ref, sqlc.arg(dispute)::boolean, sqlc.arg(at)::timestamptz,
    sqlc.arg(at)::timestamptz
FROM subject
ON CONFLICT (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), provider_ref, dispute)
DO UPDATE SET told = q.told + 1, due_at = sqlc.arg(at)::timestamptz;

-- name: QuestionsDue :many
UPDATE payment_questions q SET tries = q.tries + 1,
    due_at = sqlc.arg(at)::timestamptz
        + (sqlc.arg(waits)::interval[])[least(q.tries + 1, cardinality(sqlc.arg(waits)::interval[]))]
WHERE q.id IN (
    SELECT d.id FROM payment_questions d WHERE d.due_at <= sqlc.arg(at)::timestamptz
    ORDER BY d.due_at LIMIT sqlc.arg(max_rows) FOR UPDATE SKIP LOCKED)
RETURNING q.id, q.payment_id, q.provider_ref, q.dispute, q.told, (q.tries - 1)::integer AS tries;

-- name: DropQuestion :exec
DELETE FROM payment_questions WHERE id = @id AND told = @told;

-- name: DisputedPayment :one
SELECT p.kind, o.id AS operator_id, o.email, o.locale, (o.verified_at IS NOT NULL)::boolean AS verified,
    d.id AS deposit_id, d.reference, d.rental_contract
FROM payments p JOIN deposits d ON d.id = p.deposit_id JOIN accounts a ON a.id = d.account_id
    JOIN operators o ON o.id = a.operator_id
WHERE p.id = @payment_id FOR UPDATE OF p;

-- name: DisputeByRef :one
SELECT amount_cents, reason, status, evidence_due_by, created_at FROM disputes WHERE ref = @ref;

-- name: SaveDispute :exec
INSERT INTO disputes (ref, payment_id, deposit_id, amount_cents, reason, status, evidence_due_by, created_at,
    changed_at)
VALUES (@ref, @payment_id, @deposit_id, @amount_cents, @reason, @status, @evidence_due_by, @created_at, @changed_at)
ON CONFLICT (ref) DO UPDATE SET amount_cents = @amount_cents, reason = @reason, status = @status,
    evidence_due_by = @evidence_due_by, changed_at = @changed_at
WHERE (disputes.amount_cents, disputes.status, disputes.evidence_due_by)
    IS DISTINCT FROM (@amount_cents, @status, @evidence_due_by);

-- name: DisputesOf :many
SELECT ref, payment_id, amount_cents, reason, status, evidence_due_by, created_at FROM disputes
WHERE deposit_id = @deposit_id ORDER BY created_at, ref;
