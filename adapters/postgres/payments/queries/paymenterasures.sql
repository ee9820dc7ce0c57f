-- A client owes something while a deposit has not ended, or a payment is processing.
-- name: ErasuresDue :many
WITH looked AS (
    UPDATE payment_erasures SET due_at = sqlc.arg(next_look)::timestamptz
    WHERE client_id IN (
        SELECT d.client_id FROM payment_erasures d WHERE d.due_at <= sqlc.arg(at)::timestamptz
        ORDER BY d.due_at LIMIT sqlc.arg(max_rows) FOR UPDATE SKIP LOCKED)
    RETURNING client_id)
SELECT l.client_id,
    ARRAY(SELECT p.id FROM deposits d JOIN payments p ON p.deposit_id = d.id
        WHERE d.client_id = l.client_id AND p.kind = 'fee' ORDER BY p.id)::uuid[] AS fee_payments,
    EXISTS (SELECT FROM deposits d WHERE d.client_id = l.client_id
        AND (d.status NOT IN ('cancelled', 'close', 'captured')
            OR EXISTS (SELECT FROM payments p WHERE p.deposit_id = d.id AND p.status = 'processing'))) AS owes
FROM looked l;

-- name: DropErasure :execrows
DELETE FROM payment_erasures WHERE client_id = @client_id;
