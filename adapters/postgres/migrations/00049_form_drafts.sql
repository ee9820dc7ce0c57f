-- +goose Up
-- Forms of deposits as operators sent them, while the page that asks once more, or names mistakes, can be opened again (pages.md,
-- "Questions"). They are encrypted, bound to a session, and kept for an hour.
CREATE TABLE form_drafts (
    session    bytea NOT NULL,       -- hash of the session that sent the form
    form       uuid NOT NULL,        -- key of the form
    account_id uuid NOT NULL,
    content    bytea NOT NULL,
    kept_at    timestamptz NOT NULL,
    PRIMARY KEY (session, form)
);
CREATE INDEX form_drafts_of_account ON form_drafts (account_id, kept_at);
CREATE INDEX form_drafts_by_time ON form_drafts (kept_at);

-- +goose Down
DROP TABLE form_drafts;
