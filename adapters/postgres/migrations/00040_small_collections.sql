-- +goose Up
-- Collections below what the payment provider can charge end at the reconciler's next look, which is months away for a
-- collection that waits for its tenant. In an hour the dispatchers are of this version, which knows the bound.
UPDATE payments SET check_at = least(check_at, now() + interval '1 hour')
WHERE status = 'processing' AND kind = 'collection' AND amount_cents < 50;

-- +goose Down
SELECT 'the times stay';
