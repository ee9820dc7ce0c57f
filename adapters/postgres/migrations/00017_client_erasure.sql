-- +goose Up

-- An erased client never gets personal data again, whichever program writes (api.md §2, "Erasure").
-- +goose StatementBegin
CREATE FUNCTION refuse_recovery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'client % is erased and stays erased', OLD.id USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER erased_clients_stay_erased BEFORE UPDATE ON clients
    FOR EACH ROW WHEN (OLD.erased_at IS NOT NULL) EXECUTE FUNCTION refuse_recovery();
ALTER TABLE clients ADD CONSTRAINT erased_clients_have_no_locale CHECK (erased_at IS NULL OR locale = '') NOT VALID;

-- The last change of the details. NULL: they are those that the client was created with.
ALTER TABLE clients ADD COLUMN changed_at timestamptz;

-- The address of an erased client, for the mails of the deposits that have not ended. from_at and from_id are a place in the list
-- of the client's deposits, newest first: the deposits before that place have ended.
CREATE TABLE sealed_addresses (
    client_id uuid PRIMARY KEY REFERENCES clients,
    address   bytea NOT NULL,                                                      -- encrypted, bound to the client's id
    sealed_at timestamptz NOT NULL,
    check_at  timestamptz NOT NULL,                                                -- the next look for deposits that have not ended
    from_at   timestamptz NOT NULL DEFAULT 'infinity',
    from_id   uuid NOT NULL DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'
);
CREATE INDEX sealed_addresses_to_check ON sealed_addresses (check_at);

-- The history of a deposit loses the words of people by erase_deposit_text, and in no other way.
-- +goose StatementBegin
CREATE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF current_setting('svc.erases_text_of', true) = OLD.deposit_id::text AND to_jsonb(NEW) - 'detail' = to_jsonb(OLD) - 'detail' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER transitions_are_append_only BEFORE UPDATE OR DELETE ON deposit_transitions
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();

-- Removes the words of people from a deposit: its metadata, and the details of its history but for the API key, the amount and the
-- reason, which is chosen from a list. The audit entry says how many rows lost words, and none of the words; where there were no words
-- there is no entry. Returns false for a deposit that does not exist.
-- +goose StatementBegin
CREATE FUNCTION erase_deposit_text(deposit uuid, entry uuid, entry_at timestamptz, entry_actor text, entry_subject text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    steps    integer;
    metadata_gone integer;
BEGIN
    PERFORM FROM deposits WHERE id = deposit FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM set_config('svc.erases_text_of', deposit::text, true);
    UPDATE deposit_transitions t
    SET detail = (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(t.detail) WHERE key IN ('keyId', 'amount', 'reason'))
    WHERE t.deposit_id = deposit AND t.detail - ARRAY['keyId', 'amount', 'reason'] <> '{}';
    GET DIAGNOSTICS steps = ROW_COUNT;
    PERFORM set_config('svc.erases_text_of', '', true);
    UPDATE deposits SET metadata = '{}', updated_at = entry_at WHERE id = deposit AND metadata <> '{}';
    GET DIAGNOSTICS metadata_gone = ROW_COUNT;
    IF steps + metadata_gone > 0 THEN
        INSERT INTO audit_log (id, at, actor, action, subject, detail)
        VALUES (entry, entry_at, entry_actor, 'deposit.erase_text', entry_subject, jsonb_build_object('transitions', steps::text, 'metadata', metadata_gone::text));
    END IF;
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'what was erased does not come back';
