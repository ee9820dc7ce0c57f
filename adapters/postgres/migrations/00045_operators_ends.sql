-- +goose Up
-- An operator's end of a collection beside those of staff and of the clock, and when the tenant was last mailed the link to pay. An older
-- dispatcher that finishes such an end records it as cancelled, and mails no tenant.
ALTER TABLE collections ADD COLUMN cancel_as text NOT NULL DEFAULT '';
ALTER TABLE collections ADD COLUMN asked_at timestamptz;

UPDATE collections c SET asked_at = (SELECT max(s.at) FROM collection_steps s WHERE s.payment_id = c.payment_id AND s.to_state = 'awaiting_tenant')
WHERE c.state <> 'paid' AND c.state = 'awaiting_tenant';

-- The tenant is told of an operator's end. An older dispatcher mails such a notice with the words of a capture.
ALTER TABLE tenant_notices DROP CONSTRAINT tenant_notices_kind_check;
ALTER TABLE tenant_notices ADD CONSTRAINT tenant_notices_kind_check CHECK (kind IN ('captured', 'awaiting', 'paid', 'refunded', 'ended'));

-- +goose Down
SELECT 'the columns stay';
