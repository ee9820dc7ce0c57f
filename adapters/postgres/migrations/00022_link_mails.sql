-- +goose Up
-- Mails with the link to checkout. Their text holds a secret and is kept encrypted. The table holds the mails of 30 days and the
-- columns are NULL in every row, so the statements take moments.
ALTER TABLE mails
    ADD COLUMN link_of    uuid,                                                    -- the deposit whose link the mail carries
    ADD COLUMN sealed     bytea,                                                   -- text and HTML, encrypted and bound to the mail's id; body is '' then
    ADD COLUMN claimed_at timestamptz;                                             -- of the last claim

-- Counts the mails with the link of a deposit.
CREATE INDEX mails_of_link ON mails (link_of, created_at) WHERE link_of IS NOT NULL;

-- A dispatcher from before this migration would send the empty body. It claims without claimed_at, and gets no such mail.
-- +goose StatementBegin
CREATE FUNCTION refuse_old_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER sealed_mails_need_a_new_dispatcher BEFORE UPDATE OF attempts ON mails
    FOR EACH ROW WHEN (NEW.sealed IS NOT NULL AND NEW.claimed_at IS NOT DISTINCT FROM OLD.claimed_at) EXECUTE FUNCTION refuse_old_claim();

-- +goose Down
SELECT 'the columns stay';
