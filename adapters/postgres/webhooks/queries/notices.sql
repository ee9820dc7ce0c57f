-- name: DueNotices :many
SELECT subscription_id, kind FROM webhook_notices WHERE mail_at <= now()
GROUP BY 1, 2 ORDER BY min(id) LIMIT sqlc.arg(max_rows);

-- name: TakeNotices :one
WITH taken AS (
    DELETE FROM webhook_notices WHERE subscription_id = @subscription_id AND kind = @kind
    RETURNING at, deliveries, put_off)
SELECT count(*) AS taken, coalesce(max(at), now())::timestamptz AS at,
    coalesce(sum(deliveries), 0)::bigint AS deliveries, coalesce(bool_and(put_off), false)::boolean AS put_off
FROM taken;

-- name: NoticeSubject :one
SELECT s.url, s.enabled, coalesce(s.state_since, s.failing_since, s.created_at)::timestamptz AS since, s.failures,
    s.held_until, s.ramp, s.last_success_at, s.last_failure_at, coalesce(s.last_error, '') AS last_error,
    p.contact_email
FROM webhook_subscriptions s JOIN partners p ON p.id = s.partner_id
WHERE s.id = @subscription_id AND s.deleted_at IS NULL AND p.contact_email <> '';

-- name: NoticesTold :many
SELECT kind, mailed_at FROM webhook_notice_mails WHERE subscription_id = @subscription_id;

-- name: PutOffNotice :exec
INSERT INTO webhook_notices (subscription_id, kind, at, deliveries, put_off, mail_at)
VALUES (@subscription_id, @kind, @at, @deliveries, true, @mail_at);

-- Changes no row while the last mail of the kind is younger than every.
-- name: MailNotice :execrows
INSERT INTO webhook_notice_mails AS m (subscription_id, kind, mailed_at) VALUES (@subscription_id, @kind, now())
ON CONFLICT (subscription_id, kind) DO UPDATE SET mailed_at = now()
WHERE m.mailed_at <= now() - sqlc.arg(every)::interval;
