-- +goose NO TRANSACTION
-- +goose Up
-- The collections from before the triggers. One that was given up is failed: nobody had a page to pay it.
INSERT INTO collections (payment_id, deposit_id, state, captured_at, attempt, next_attempt_at, ended_at, failure)
SELECT p.id, p.deposit_id,
    CASE p.status WHEN 'succeeded' THEN 'paid' WHEN 'processing' THEN CASE p.attempts WHEN 0 THEN 'scheduled' ELSE 'retrying' END ELSE 'failed' END,
    p.created_at, p.attempts, CASE p.status WHEN 'processing' THEN p.check_at END, p.settled_at, CASE p.status WHEN 'succeeded' THEN '' ELSE p.failure END
FROM payments p WHERE p.kind = 'collection'
ON CONFLICT DO NOTHING;
-- A payment that was settled while the rows were made.
UPDATE collections c SET state = CASE p.status WHEN 'succeeded' THEN 'paid' ELSE 'failed' END, next_attempt_at = NULL, ended_at = p.settled_at, failure = p.failure
FROM payments p WHERE p.id = c.payment_id AND p.status <> 'processing' AND c.state NOT IN ('paid', 'failed');

-- +goose Down
SELECT 'the rows stay';
