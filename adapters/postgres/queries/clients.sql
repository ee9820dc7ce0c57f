-- name: InsertClient :exec
INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, phone, locale, created_at)
VALUES (@id, @account_id, @partner_id, @email, @first_name, @last_name, @phone, @locale, @created_at);

-- name: ClientOfPartner :one
SELECT c.id, c.account_id, c.partner_id, c.email, c.first_name, c.last_name, c.phone, c.locale, c.created_at, c.erased_at
FROM clients c WHERE c.id = @id AND c.partner_id = @partner_id AND c.erased_at IS NULL
    AND EXISTS (SELECT FROM account_links l WHERE l.partner_id = c.partner_id AND l.account_id = c.account_id);
