-- name: SecuredDue :many
SELECT deposit_id FROM secured_notices ORDER BY secured_at LIMIT sqlc.arg(max_rows);

-- name: InsertSecuredNotice :exec
INSERT INTO secured_notices (deposit_id, secured_at) VALUES (@deposit_id, @secured_at) ON CONFLICT DO NOTHING;

-- name: TakeSecured :one
WITH taken AS (DELETE FROM secured_notices n WHERE n.deposit_id = @deposit_id RETURNING n.deposit_id)
SELECT o.id AS operator_id, o.email, o.locale, (o.verified_at IS NOT NULL)::boolean AS verified, d.id, d.reference,
    d.amount_cents, d.rental_contract, d.contract_start_at, d.contract_end_at, d.expires_at, a.company_name, a.timezone,
    coalesce(c.email, '') AS tenant_email, coalesce(g.locale, '') AS tenant_locale, coalesce(g.words, '') AS words,
    coalesce(p.amount_cents, 0)::bigint AS fee, p.settled_at AS paid_at
FROM taken JOIN deposits d ON d.id = taken.deposit_id JOIN accounts a ON a.id = d.account_id
    JOIN operators o ON o.id = a.operator_id
    LEFT JOIN clients c ON c.id = d.client_id
    LEFT JOIN payments p ON p.deposit_id = d.id AND p.kind = 'fee' AND p.status = 'succeeded'
    LEFT JOIN LATERAL (
        SELECT x.words, x.locale FROM deposit_agreements x WHERE x.deposit_id = d.id ORDER BY x.agreed_at DESC LIMIT 1
    ) g ON true;

-- name: InsertCoverMail :exec
INSERT INTO cover_mails (account_id, mailed_at, told_until) VALUES (@account_id, '-infinity', '-infinity')
ON CONFLICT DO NOTHING;

-- name: LockCoverMail :exec
SELECT FROM cover_mails WHERE account_id = @account_id FOR UPDATE;
