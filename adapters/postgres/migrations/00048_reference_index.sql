-- +goose Up
-- The index of references that migration 00047 made takes the place, and the name, of the constraint's.
ALTER TABLE deposits DROP CONSTRAINT deposits_reference_key;
ALTER INDEX deposits_by_reference RENAME TO deposits_reference_key;

-- +goose Down
SELECT 'the index stays';
