-- name: EnqueueMail :exec
INSERT INTO mails (id, recipient, subject, body, sealed, link_of, created_at, due_at)
VALUES (@id, @recipient, @subject, @body, @sealed, @link_of, @created_at, @created_at);

-- The mails with the link of a deposit since a time, oldest first.
-- name: LinkMails :many
SELECT recipient, created_at FROM mails WHERE link_of = @deposit_id::uuid AND created_at > @since ORDER BY created_at LIMIT sqlc.arg(max_rows)::integer;

-- Mailboxes are locked in the order of the keys, so that two batches do not wait for one another.
-- name: LockMailboxes :exec
SELECT pg_advisory_xact_lock(k) FROM unnest(sqlc.arg(keys)::bigint[]) AS k;

-- The newest mails to each mailbox since a time: those of the sender, and those of all.
-- name: SentLinks :many
SELECT b.mailbox::bytea AS mailbox, s.sent_at, s.by_sender FROM unnest(sqlc.arg(mailboxes)::bytea[]) AS b(mailbox) CROSS JOIN LATERAL (
    (SELECT l.sent_at, true AS by_sender FROM sent_links l WHERE l.mailbox = b.mailbox AND l.sender = @sender AND l.sent_at > @since
        ORDER BY l.sent_at DESC LIMIT sqlc.arg(max_of_sender)::integer)
    UNION ALL
    (SELECT l.sent_at, false FROM sent_links l WHERE l.mailbox = b.mailbox AND l.sent_at > @since
        ORDER BY l.sent_at DESC LIMIT sqlc.arg(max_of_all)::integer)) s
ORDER BY s.sent_at DESC;

-- name: CountSentLink :exec
INSERT INTO sent_links (id, mailbox, sender, sent_at) VALUES (@id, @mailbox, @sender, @sent_at);

-- The reader of a mail has opened its link: the mails of its sender to this mailbox count no more.
-- name: LinkOpened :exec
DELETE FROM sent_links WHERE id = ANY (ARRAY (
    SELECT l.id FROM sent_links o JOIN sent_links l ON l.mailbox = o.mailbox AND l.sender = o.sender
    WHERE o.id = @mark FOR UPDATE OF l SKIP LOCKED));

-- name: DeleteSentLinks :execrows
DELETE FROM sent_links WHERE id = ANY (ARRAY (
    SELECT l.id FROM sent_links l WHERE l.id < uuid_floor(sqlc.arg(at)::timestamptz) ORDER BY l.id LIMIT sqlc.arg(max_rows) FOR UPDATE SKIP LOCKED));

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
