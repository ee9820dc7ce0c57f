-- +goose Up
-- A request that nobody made: too many wrong passwords were tried, and the operator is told with the same link. An older dispatcher mails
-- the link with the words of a request.
ALTER TABLE password_requests ADD COLUMN locked_out boolean NOT NULL DEFAULT false;

-- +goose Down
SELECT 'the column stays';
