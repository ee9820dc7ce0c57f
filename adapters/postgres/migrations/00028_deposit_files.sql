-- +goose Up
-- Files of deposits: pictures and documents of a damage (ADR 0024). A file waits until its form is confirmed; then added_at is set and the
-- session is forgotten. Rows of files are few and small; their contents are in file_contents and file_chunks, or in another store.
CREATE TABLE deposit_files (
    id         uuid PRIMARY KEY,
    deposit_id uuid NOT NULL,
    name       text NOT NULL,
    media_type text NOT NULL,
    size       bigint NOT NULL,
    sent_at    timestamptz NOT NULL,
    session    bytea,                                                              -- hash of the session that sent a file which waits
    added_at   timestamptz,
    added_by   text NOT NULL DEFAULT '',
    CHECK ((added_at IS NULL) = (session IS NOT NULL))
);
CREATE INDEX deposit_files_of_deposit ON deposit_files (deposit_id, added_at, id);
CREATE INDEX deposit_files_waiting ON deposit_files (sent_at) WHERE added_at IS NULL;

-- The key of a file's content, encrypted with the keyset and bound to the file's id.
CREATE TABLE file_contents (
    file_id uuid PRIMARY KEY,
    key     bytea NOT NULL
);

-- The content of a file in pieces, each encrypted with the key of the file. Encrypted bytes cannot be compressed.
CREATE TABLE file_chunks (
    file_id uuid NOT NULL REFERENCES file_contents (file_id) ON DELETE CASCADE,
    n       integer NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (file_id, n)
);
ALTER TABLE file_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

-- +goose Down
SELECT 'the files stay';
