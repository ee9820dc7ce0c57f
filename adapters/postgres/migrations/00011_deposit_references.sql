-- +goose Up
-- Three foreign keys cost two fifths of an INSERT of deposits: for each row and key, Postgres runs a query and locks the same row
-- again. A deposit is made in a transaction that has locked the link of its partner and account, and its client. So the keys
-- go, and the rows that deposits refer to stay for ever (ADR 0013).
ALTER TABLE deposits
    DROP CONSTRAINT deposits_account_id_fkey,
    DROP CONSTRAINT deposits_partner_id_fkey,
    DROP CONSTRAINT deposits_client_id_fkey;

-- +goose StatementBegin
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % stays, with its id: deposits refer to it', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER partners_stay BEFORE DELETE OR UPDATE OF id ON partners FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER partners_are_not_truncated BEFORE TRUNCATE ON partners FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER accounts_stay BEFORE DELETE OR UPDATE OF id ON accounts FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER accounts_are_not_truncated BEFORE TRUNCATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER clients_stay BEFORE DELETE OR UPDATE OF id ON clients FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER clients_are_not_truncated BEFORE TRUNCATE ON clients FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();

-- A change of a deposit seldom changes its references, so here the database still checks. AFTER: a trigger BEFORE the update
-- would lock each deposit a second time.
-- +goose StatementBegin
CREATE FUNCTION check_deposit_references() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM accounts WHERE id = NEW.account_id)
        OR (NEW.partner_id IS NOT NULL AND NOT EXISTS (SELECT FROM partners WHERE id = NEW.partner_id))
        OR (NEW.client_id IS NOT NULL AND NOT EXISTS (SELECT FROM clients WHERE id = NEW.client_id))
    THEN
        RAISE EXCEPTION 'deposit % refers to a row that does not exist', NEW.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER deposits_refer_to_a_client AFTER UPDATE OF client_id ON deposits
    FOR EACH ROW WHEN (NEW.client_id IS DISTINCT FROM OLD.client_id) EXECUTE FUNCTION check_deposit_references();
CREATE TRIGGER deposits_refer_to_an_account AFTER UPDATE OF account_id, partner_id ON deposits
    FOR EACH ROW EXECUTE FUNCTION check_deposit_references();

-- +goose Down
SELECT 'the foreign keys are not made again';
