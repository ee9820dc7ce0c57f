-- +goose Up

-- Why a delivery failed, where its attempts do not tell. NULL for a failed delivery says that its last attempt failed, so the
-- record of an attempt writes no reason. A column without a default changes no row.
ALTER TABLE deliveries ADD COLUMN failure_reason text;

-- +goose Down
SELECT 'the reasons stay';
