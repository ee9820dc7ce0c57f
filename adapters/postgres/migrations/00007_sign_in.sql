-- +goose Up
-- The networks from which an operator signed in. While an e-mail has too many failed log-ins, only these networks may try.
-- A row ends 90 days after its last use, when the operator signs in from another network.
CREATE TABLE operator_networks (
    operator_id uuid NOT NULL REFERENCES operators ON DELETE CASCADE,
    network     bytea NOT NULL CHECK (length(network) = 32),                       -- SHA-256 of operator and network: no address in clear
    last_at     timestamptz NOT NULL,
    PRIMARY KEY (operator_id, network)
);

-- Finds the last revocation of an external id of a partner: connect URLs from before are expired.
CREATE INDEX account_links_revoked ON account_links (partner_id, external_id, revoked_at) WHERE revoked_at IS NOT NULL;

-- +goose Down
SELECT 'the networks are not taken back';
