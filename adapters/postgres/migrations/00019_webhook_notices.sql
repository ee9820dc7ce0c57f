-- +goose Up
-- Facts about endpoints that partners' contacts are to be told of by mail (core/webhook.Notice). The dispatcher appends, in the
-- transaction that records the attempts; a row of its own for each fact, so that no append waits for a lock. A job turns the
-- rows of an endpoint and a kind into a mail.
CREATE TABLE webhook_notices (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription_id uuid NOT NULL,
    kind            text NOT NULL,
    at              timestamptz NOT NULL,
    deliveries      integer NOT NULL DEFAULT 0,                                    -- given up
    put_off         boolean NOT NULL DEFAULT false,                                -- until mail_at, since there was a mail of the kind within a day
    mail_at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_notices_due ON webhook_notices (mail_at);

-- The last mail of each kind about an endpoint. Its row decides which of two dispatchers sends a mail.
CREATE TABLE webhook_notice_mails (
    subscription_id uuid NOT NULL,
    kind            text NOT NULL,
    mailed_at       timestamptz NOT NULL,
    PRIMARY KEY (subscription_id, kind)
);

-- A constant default changes no row.
ALTER TABLE webhook_subscriptions ADD COLUMN trouble boolean NOT NULL DEFAULT false; -- a notice told of trouble, and none of a recovery since

-- +goose Down
SELECT 'notices are not taken back';
