-- name: WaitWithFile :exec
INSERT INTO deposit_files (id, deposit_id, name, media_type, size, sent_at, session)
VALUES (@id, @deposit_id, @name, @media_type, @size, @sent_at, @session);

-- name: WaitingFiles :many
SELECT id, deposit_id, name, media_type, size, sent_at, added_at, added_by FROM deposit_files
WHERE id = ANY (sqlc.arg(file_ids)::uuid[]) AND deposit_id = @deposit_id AND session = @session AND sent_at >= sqlc.arg(since)::timestamptz AND added_at IS NULL
ORDER BY id;

-- name: CountFiles :one
SELECT count(*) FROM deposit_files WHERE deposit_id = @deposit_id AND added_at IS NOT NULL;

-- name: AddFiles :many
UPDATE deposit_files SET session = NULL, added_at = sqlc.arg(at)::timestamptz, added_by = sqlc.arg(actor)::text
WHERE id = ANY (sqlc.arg(file_ids)::uuid[]) AND deposit_id = @deposit_id AND session = @session AND sent_at >= sqlc.arg(since)::timestamptz AND added_at IS NULL
RETURNING id, deposit_id, name, media_type, size, sent_at, added_at, added_by;

-- name: FilesOfDeposit :many
SELECT id, deposit_id, name, media_type, size, sent_at, added_at, added_by FROM deposit_files
WHERE deposit_id = @deposit_id AND added_at IS NOT NULL ORDER BY added_at, id;

-- name: FileOfDeposit :one
SELECT id, deposit_id, name, media_type, size, sent_at, added_at, added_by FROM deposit_files
WHERE id = @id AND deposit_id = @deposit_id AND added_at IS NOT NULL;

-- name: AbandonedFiles :many
SELECT id FROM deposit_files WHERE added_at IS NULL AND sent_at < sqlc.arg(since)::timestamptz ORDER BY sent_at LIMIT sqlc.arg(max_rows)::integer;

-- name: ForgetFiles :exec
DELETE FROM deposit_files WHERE id = ANY (sqlc.arg(file_ids)::uuid[]);

-- name: InsertFileContent :exec
INSERT INTO file_contents (file_id, key) VALUES (@file_id, @key);

-- name: InsertFileChunk :exec
INSERT INTO file_chunks (file_id, n, data) VALUES (@file_id, @n, @data);

-- name: FileContentKey :one
SELECT key FROM file_contents WHERE file_id = @file_id;

-- name: FileChunk :one
SELECT data FROM file_chunks WHERE file_id = @file_id AND n = @n;

-- name: DeleteFileContents :exec
DELETE FROM file_contents WHERE file_id = ANY (sqlc.arg(file_ids)::uuid[]);
