-- +goose Up
-- The tenants' agreements to a charge of their card: evidence in a dispute.
CREATE TABLE deposit_agreements (
    id         uuid PRIMARY KEY,
    deposit_id uuid NOT NULL REFERENCES deposits,
    client_id  uuid NOT NULL REFERENCES clients,
    version    text NOT NULL,
    locale     text NOT NULL,
    words      text NOT NULL,        -- exactly as the tenant read them
    agreed_at  timestamptz NOT NULL,
    origin     bytea                 -- network address and user agent, encrypted; null once erased
);
CREATE INDEX deposit_agreements_of_deposit ON deposit_agreements (deposit_id, agreed_at);
CREATE INDEX deposit_agreements_of_client ON deposit_agreements (client_id);

-- +goose Down
SELECT 'the evidence stays';
