-- +goose Up
-- Mails with a link to an address that somebody typed, for 24 hours. They bound the mails to an address.
CREATE TABLE sent_links (
    id      uuid PRIMARY KEY,     -- the mark in the link
    mailbox bytea NOT NULL,       -- a keyed hash of the address
    sender  uuid NOT NULL,        -- a partner or an account; of a mail that verifies an address, the operator
    sent_at timestamptz NOT NULL
);
CREATE INDEX sent_links_to ON sent_links (mailbox, sent_at);

-- +goose Down
SELECT 'the table stays';
