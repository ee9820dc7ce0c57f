-- +goose NO TRANSACTION
-- +goose Up

-- The deposits from before the triggers. A deposit that moved meanwhile left a row behind, which goes: no status comes back.
INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
SELECT d.account_id, d.status, d.created_at, d.id, coalesce(d.expires_at, d.checkout_expires_at), CASE d.status WHEN 'captured' THEN d.captured_cents ELSE d.amount_cents END
FROM deposits d
WHERE d.status IN ('pending', 'incomplete', 'payment_issue', 'active')
    OR (d.status = 'captured' AND EXISTS (SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection' AND p.status = 'processing'))
ON CONFLICT DO NOTHING;
DELETE FROM open_deposits o USING deposits d
WHERE d.id = o.deposit_id AND (d.status <> o.status
    OR (d.status = 'captured' AND NOT EXISTS (SELECT FROM payments p WHERE p.deposit_id = d.id AND p.kind = 'collection' AND p.status = 'processing')));

-- Indexes of the operator's list, each in the order of its list. None contains a column that a transition of a deposit changes.
-- CONCURRENTLY, because the tables may be large and in use. An interrupted CREATE leaves an invalid index; the DROP removes that index.

-- The deposits whose rental period overlaps a span.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_stay;
CREATE INDEX CONCURRENTLY deposits_of_stay ON deposits (account_id, contract_start_at DESC, id DESC, contract_end_at);

-- The beginnings of bookings, names and addresses in any case. ICU folds the letters of every language; "C" keeps what begins alike together.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_booking;
CREATE INDEX CONCURRENTLY deposits_of_booking ON deposits (account_id, (lower(rental_contract COLLATE "und-x-icu") COLLATE "C")) WHERE rental_contract <> '';
DROP INDEX CONCURRENTLY IF EXISTS clients_of_account_name;
CREATE INDEX CONCURRENTLY clients_of_account_name ON clients (account_id, (lower((first_name || ' ' || last_name) COLLATE "und-x-icu") COLLATE "C")) WHERE erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS clients_of_account_surname;
CREATE INDEX CONCURRENTLY clients_of_account_surname ON clients (account_id, (lower((last_name || ' ' || first_name) COLLATE "und-x-icu") COLLATE "C")) WHERE erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS clients_of_account_email;
CREATE INDEX CONCURRENTLY clients_of_account_email ON clients (account_id, (lower(email COLLATE "und-x-icu") COLLATE "C")) WHERE erased_at IS NULL;

-- +goose Down
SELECT 'the indexes stay';
