-- +goose Up
-- The language of an operator's mails and pages, as a BCP 47 tag. '' is not known: such an operator gets mails in English and French.
-- The column has a constant default, so the statement takes moments.
ALTER TABLE operators ADD COLUMN locale text NOT NULL DEFAULT '';

-- +goose Down
SELECT 'the column stays';
