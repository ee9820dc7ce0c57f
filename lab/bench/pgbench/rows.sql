-- FROZEN. Thirty partners, each with a linked account. Partner n and account n have ids that follow from n, which the scripts
-- compute too. Then deposits to read, with ids in the order of their making.
INSERT INTO partners (id, slug, name, created_at)
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'p-' || n, 'Bench', now() FROM generate_series(1, 30) AS n;
INSERT INTO operators (id, email, email_key, password_hash, created_at)
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n || '@example.com', n || '@example.com', '-', now() FROM generate_series(1, 30) AS n;
INSERT INTO accounts (id, operator_id, company_name, created_at)
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Bench', now() FROM generate_series(1, 30) AS n;
INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at)
SELECT id, id, id, 'bench', now() FROM accounts;
INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api, external_id, amount_cents, contract_start_at, contract_end_at,
    rental_contract, url_generation, checkout_token_hash, checkout_token, checkout_expires_at, created_at, updated_at)
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'R-' || n, 'pending', 1, a.id, a.id, true, 'bench', 50000, '2026-07-01 12:00:00+00', '2026-07-08 12:00:00+00',
    'B-' || n, false, sha256(n::text::bytea), sha256(n::text::bytea) || sha256(n::text::bytea), now() + interval '1 day', now(), now()
FROM generate_series(1, 20000) AS n JOIN accounts a ON a.id = ('00000000-0000-7000-8000-' || lpad(to_hex(1 + n % 30), 12, '0'))::uuid;
