-- +goose Up
-- A page keeps free space for a new version of each of its rows: deposits that were created together change together, in a
-- group commit. A row version that does not fit its page costs an entry in every index.
ALTER TABLE deposits SET (fillfactor = 50);

-- +goose Down
ALTER TABLE deposits SET (fillfactor = 75);
