-- +goose Up
-- Room for one more version of every row of a page: deposits that were made together are moved together, in one
-- transaction, and a version that finds no room on its page costs an entry in every index.
ALTER TABLE deposits SET (fillfactor = 50);

-- +goose Down
ALTER TABLE deposits SET (fillfactor = 75);
