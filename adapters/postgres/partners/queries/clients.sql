-- name: InsertClient :exec
INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at)
VALUES (@id, @account_id, @partner_id, @email, @first_name, @last_name, @phone, @locale, @created_at);

-- A client without a partner came from a checkout before checkouts noted the partner: it belongs to the partner of its deposits.
-- name: ClientOfPartner :one
SELECT c.id, c.account_id, c.partner_id, c.email, c.first_name, c.last_name, c.phone, c.locale, c.created_at, c.erased_at, c.changed_at
FROM clients c WHERE c.id = @id AND c.erased_at IS NULL
    AND (c.partner_id = @partner_id OR (c.partner_id IS NULL
        AND EXISTS (SELECT FROM deposits d WHERE d.client_id = c.id AND d.partner_id = @partner_id AND d.by_partner_api)))
    AND EXISTS (SELECT FROM account_links l WHERE l.partner_id = @partner_id AND l.account_id = c.account_id);

-- FOR UPDATE also waits for the transactions that tell of the client in an event (HoldClients).
-- name: LockClient :one
SELECT c.id, c.account_id, c.partner_id, c.email, c.first_name, c.last_name, c.phone, c.locale, c.created_at, c.erased_at, c.changed_at
FROM clients c WHERE c.id = @id FOR UPDATE;

-- name: MadeDepositFor :one
SELECT EXISTS (SELECT FROM deposits d WHERE d.client_id = @client_id AND d.partner_id = @partner_id AND d.by_partner_api);

-- name: ClientChanged :one
SELECT c.changed_at FROM clients c WHERE c.id = @id;

-- name: UpdateClient :exec
UPDATE clients SET email = @email, first_name = @first_name, last_name = @last_name, phone = @phone, locale = @locale, changed_at = @changed_at
WHERE id = @id;

-- name: EraseClient :exec
UPDATE clients SET email = '', first_name = '', last_name = '', phone = '', locale = '', erased_at = @erased_at WHERE id = @id;

-- The waiting mails to an address about deposits of the client, and of its partner at the account; of the account where the client has no
-- partner. Other partners may have mails to the same person; theirs stay. Waiting mails are few, and each has its deposit looked up.
-- name: DeleteUnsentMails :exec
WITH theirs AS MATERIALIZED (
    SELECT m.id, m.link_of AS deposit_id FROM mails m
    WHERE m.sent_at IS NULL AND m.failed_at IS NULL AND lower(m.recipient COLLATE "C") = sqlc.arg(address)::text)
DELETE FROM mails WHERE mails.id IN (
    SELECT t.id FROM theirs t
    WHERE (SELECT d.account_id = sqlc.arg(account_id)::uuid AND (d.client_id = sqlc.arg(client_id)::uuid OR d.partner_id = sqlc.narg(partner_id)::uuid OR sqlc.narg(partner_id)::uuid IS NULL)
        FROM deposits d WHERE d.id = t.deposit_id) IS TRUE);

-- Keeps the address if one of the newest deposits has not ended, or if there are too many deposits to look at now.
-- name: SealAddress :exec
INSERT INTO sealed_addresses (client_id, address, sealed_at, check_at)
SELECT sqlc.arg(client_id)::uuid, sqlc.arg(address)::bytea, sqlc.arg(sealed_at)::timestamptz, now()
WHERE EXISTS (
    SELECT FROM (SELECT d.status, row_number() OVER (ORDER BY d.created_at DESC, d.id DESC) AS n FROM deposits d WHERE d.client_id = sqlc.arg(client_id)::uuid
        ORDER BY d.created_at DESC, d.id DESC LIMIT 100) AS newest
    WHERE newest.status NOT IN ('cancelled', 'close', 'captured') OR newest.n = 100);

-- name: SealedAddress :one
SELECT s.client_id, s.address FROM deposits d JOIN sealed_addresses s ON s.client_id = d.client_id
WHERE d.id = @deposit_id AND d.status NOT IN ('cancelled', 'close', 'captured');

-- Reads on in the deposits of each due client, 500 of them at most. Deposits of an erased client only end; none is added.
-- name: CheckSealedAddresses :one
WITH due AS (
    SELECT s.client_id, s.from_at, s.from_id FROM sealed_addresses s WHERE s.check_at <= now()
    ORDER BY s.check_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED),
seen AS (
    SELECT due.client_id, coalesce(lives.created_at, further.created_at) AS at, coalesce(lives.id, further.id) AS id, lives.id IS NOT NULL AS needed
    FROM due
    LEFT JOIN LATERAL (
        SELECT next.created_at, next.id FROM (
            SELECT d.created_at, d.id, d.status FROM deposits d WHERE d.client_id = due.client_id AND (d.created_at, d.id) <= (due.from_at, due.from_id)
            ORDER BY d.created_at DESC, d.id DESC LIMIT 500) AS next
        WHERE next.status NOT IN ('cancelled', 'close', 'captured') LIMIT 1) AS lives ON true
    LEFT JOIN LATERAL (
        SELECT d.created_at, d.id FROM deposits d WHERE d.client_id = due.client_id AND (d.created_at, d.id) <= (due.from_at, due.from_id)
        ORDER BY d.created_at DESC, d.id DESC OFFSET 500 LIMIT 1) AS further ON lives.id IS NULL),
removed AS (
    DELETE FROM sealed_addresses s USING seen WHERE s.client_id = seen.client_id AND seen.id IS NULL RETURNING s.client_id),
kept AS (
    UPDATE sealed_addresses s SET from_at = seen.at, from_id = seen.id,
        check_at = CASE WHEN seen.needed THEN now() + sqlc.arg(pause)::interval ELSE now() END
    FROM seen WHERE s.client_id = seen.client_id AND seen.id IS NOT NULL RETURNING s.client_id)
SELECT (SELECT count(*) FROM removed) AS removed, (SELECT count(*) FROM seen) AS checked;

-- Asks for the removal of a client's card at the payment provider. A client who never came to pay has none.
-- name: QueueErasure :exec
INSERT INTO payment_erasures (client_id, asked_at, due_at)
SELECT sqlc.arg(client_id)::uuid, sqlc.arg(at)::timestamptz, sqlc.arg(at)::timestamptz
WHERE EXISTS (SELECT FROM deposits d JOIN payments p ON p.deposit_id = d.id
    WHERE d.client_id = sqlc.arg(client_id)::uuid AND p.kind = 'fee')
ON CONFLICT DO NOTHING;

-- name: ClientByID :one
SELECT id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at, erased_at
FROM clients WHERE id = @id;

-- The conditions are those of the index clients_of_email.
-- name: ClientsByEmail :many
SELECT id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at, erased_at FROM clients
WHERE lower(email COLLATE "C") = lower(sqlc.arg(email)::text COLLATE "C") AND erased_at IS NULL
ORDER BY created_at DESC, id DESC LIMIT sqlc.arg(max_rows);
