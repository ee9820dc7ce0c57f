-- +goose Up
-- An example of expanding: an older binary neither writes nor reads the new columns. The columns have constant defaults or none, so
-- no row is written, and each lock lasts for moments.
ALTER TABLE deposits
    ADD COLUMN example text,
    ADD COLUMN example_since timestamptz NOT NULL DEFAULT now(),
    ADD CONSTRAINT deposits_example_check CHECK (example <> '') NOT VALID;             -- 00901 validates
ALTER TABLE outbox ADD COLUMN example text NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN example text;
ALTER TABLE deliveries ADD COLUMN example boolean NOT NULL DEFAULT false;
ALTER TABLE webhook_subscriptions ADD COLUMN example integer NOT NULL DEFAULT 0;
ALTER TABLE operators ADD COLUMN example text NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ADD COLUMN example text;

CREATE TABLE deposit_examples (
    deposit_id uuid PRIMARY KEY,
    noted_at   timestamptz NOT NULL
);

-- A trigger writes the new table for older binaries.
-- +goose StatementBegin
CREATE FUNCTION note_example() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deposit_examples (deposit_id, noted_at) VALUES (NEW.id, NEW.created_at) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER deposits_note_example AFTER INSERT ON deposits FOR EACH ROW EXECUTE FUNCTION note_example();

-- +goose Down
SELECT 'an example';
