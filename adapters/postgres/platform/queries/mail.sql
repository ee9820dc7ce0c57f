-- name: EnqueueMail :exec
INSERT INTO mails (id, recipient, subject, body, sealed, link_of, created_at, due_at)
VALUES (@id, @recipient, @subject, @body, @sealed, @link_of, @created_at, @created_at);

-- The mails with the link of a deposit since a time, oldest first.
-- name: LinkMails :many
SELECT recipient, created_at FROM mails WHERE link_of = @deposit_id::uuid AND created_at > @since ORDER BY created_at LIMIT sqlc.arg(max_rows)::integer;

-- The mails with the links of an account's deposits to an address since a time, oldest first.
-- name: LinkMailsTo :many
SELECT m.recipient, m.created_at FROM mails m JOIN deposits d ON d.id = m.link_of
WHERE m.link_of IS NOT NULL AND lower(m.recipient COLLATE "C") = sqlc.arg(address)::text AND m.created_at > @since AND d.account_id = @account_id
ORDER BY m.created_at LIMIT sqlc.arg(max_rows)::integer;

-- The due time of a claimed mail is the end of its lease: if the sender dies, another sender claims the mail then.
-- name: ClaimMails :many
UPDATE mails m SET due_at = now() + sqlc.arg(lease)::interval, attempts = m.attempts + 1, claimed_at = clock_timestamp()
WHERE m.id IN (
    SELECT d.id FROM mails d WHERE d.sent_at IS NULL AND d.failed_at IS NULL AND d.due_at <= now()
    ORDER BY d.due_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED)
RETURNING m.id, m.recipient, m.subject, m.body, m.sealed, m.link_of, m.created_at, m.attempts;

-- name: MailSent :exec
UPDATE mails SET sent_at = now() WHERE id = @id AND sent_at IS NULL;

-- waits are the pauses before the second try, the third try, and so on; a failure after the last pause is final. A sender whose
-- lease ran out changes nothing once another sender has claimed the mail.
-- name: MailFailed :exec
UPDATE mails m SET
    due_at = CASE WHEN m.attempts <= cardinality(sqlc.arg(waits)::interval[]) THEN now() + (sqlc.arg(waits)::interval[])[m.attempts] ELSE m.due_at END,
    failed_at = CASE WHEN m.attempts > cardinality(sqlc.arg(waits)::interval[]) THEN now() END
WHERE m.id = @id AND m.attempts = @attempt::integer AND m.sent_at IS NULL AND m.failed_at IS NULL;

-- name: NewestMails :many
SELECT id, recipient, subject, body, sealed, link_of, created_at, attempts FROM mails ORDER BY created_at DESC, id DESC LIMIT sqlc.arg(max_rows)::integer;

-- name: AppendAudit :exec
INSERT INTO audit_log (id, at, actor, action, subject, detail, request_id)
VALUES (@id, @at, @actor, @action, @subject, @detail, nullif(sqlc.arg(request_id)::text, ''));

-- name: DeleteFinishedMails :execrows
DELETE FROM mails WHERE mails.id = ANY (ARRAY (
    SELECT m.id FROM mails m
    WHERE m.id < uuid_floor(sqlc.arg(at)::timestamptz) AND (m.sent_at IS NOT NULL OR m.failed_at IS NOT NULL)
    ORDER BY m.id LIMIT sqlc.arg(max_rows) FOR UPDATE SKIP LOCKED));
