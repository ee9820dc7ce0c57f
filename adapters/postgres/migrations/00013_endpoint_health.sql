-- +goose Up
-- The health of an endpoint as partners read it (core/webhook.Report). Columns without a default change no row.
ALTER TABLE webhook_subscriptions
    ADD COLUMN state_since     timestamptz,                                        -- null: since failing_since, else since created_at
    ADD COLUMN last_success_at timestamptz,                                        -- at most webhook.SuccessGrain old while the endpoint succeeds
    ADD COLUMN last_failure_at timestamptz,
    ADD COLUMN last_error      text;                                               -- the result of the last failed attempt

-- Health is written often. A new row version on the same page costs no entry of an index.
ALTER TABLE webhook_subscriptions SET (fillfactor = 60);

-- +goose Down
SELECT 'the columns stay';
