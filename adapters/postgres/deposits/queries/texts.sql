-- name: EraseDepositText :one
SELECT erase_deposit_text(@deposit, @entry, @entry_at, @entry_actor, @entry_subject);

-- Tells whether the function found words: it writes no entry without.
-- name: AuditEntryExists :one
SELECT EXISTS (SELECT FROM audit_log WHERE id = @id);

-- name: DepositsOfClient :one
SELECT count(*) FROM deposits d WHERE d.client_id = @client_id::uuid;
