-- +goose Up
-- E-mails are compared with their ASCII letters in lower case. This folds less than before, so no two keys become equal.
UPDATE operators SET email_key = translate(email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
WHERE email_key <> translate(email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

-- The return URLs of ended payments hold checkout tokens. A new payment gets a return token of its own.
UPDATE sandbox_payments SET return_url = '' WHERE status <> 'open';

-- +goose Down
SELECT 'keys and return URLs are not taken back';
