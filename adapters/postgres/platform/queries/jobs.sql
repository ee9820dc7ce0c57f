-- Tells which jobs of the dispatcher have work. A condition is true whenever the job's own statement would return a row.
-- name: WaitingWork :one
SELECT
    EXISTS (SELECT FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
        WHERE t.kind = 'idle' AND t.due_at < sqlc.arg(idle_before)::timestamptz AND d.status = 'pending'
            AND d.checkout_started_at = t.due_at) AS idle_checkouts,
    EXISTS (SELECT FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
        WHERE t.kind = 'checkout' AND t.due_at <= sqlc.arg(at)::timestamptz
            AND d.status IN ('pending', 'incomplete', 'payment_issue')) AS expired_checkouts,
    EXISTS (SELECT FROM deposit_timers t JOIN deposits d ON d.id = t.deposit_id
        WHERE t.kind = 'coverage' AND t.due_at <= sqlc.arg(at)::timestamptz AND d.status = 'active') AS elapsed_coverages,
    EXISTS (SELECT FROM secured_notices) AS secured_notices,
    EXISTS (SELECT FROM tenant_notices) AS tenant_notices,
    EXISTS (SELECT FROM payment_questions WHERE due_at <= sqlc.arg(at)::timestamptz) AS payment_questions,
    EXISTS (SELECT FROM payments WHERE status = 'processing' AND check_at <= sqlc.arg(at)::timestamptz) AS payments,
    EXISTS (SELECT FROM refunds WHERE status = 'pending' AND check_at <= sqlc.arg(at)::timestamptz) AS refunds,
    EXISTS (SELECT FROM password_requests) AS password_requests,
    EXISTS (SELECT FROM mails WHERE sent_at IS NULL AND failed_at IS NULL AND due_at <= now()) AS mails,
    EXISTS (SELECT FROM webhook_notices WHERE mail_at <= now()) AS endpoint_notices,
    EXISTS (SELECT FROM webhook_subscriptions WHERE enabled AND deleted_at IS NULL AND failing_since IS NOT NULL)
        AS failing_endpoints, -- reads every subscription: there are thousands, not millions
    EXISTS (SELECT FROM webhook_replays r JOIN webhook_subscriptions s ON s.id = r.subscription_id
        WHERE r.finished_at IS NULL AND r.next_at <= sqlc.arg(at)::timestamptz
            AND (s.enabled OR s.deleted_at IS NOT NULL)) AS replays;
