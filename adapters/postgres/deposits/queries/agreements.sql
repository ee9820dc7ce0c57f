-- name: KeepAgreement :exec
INSERT INTO deposit_agreements (id, deposit_id, client_id, version, locale, words, agreed_at, origin)
SELECT sqlc.arg(id)::uuid, @deposit_id, @client_id, sqlc.arg(version)::text, sqlc.arg(locale)::text, @words,
    sqlc.arg(agreed_at)::timestamptz, sqlc.arg(origin)::bytea
WHERE sqlc.narg(since)::timestamptz IS NULL OR NOT EXISTS (
    SELECT FROM deposit_agreements a
    WHERE a.deposit_id = @deposit_id AND a.client_id = @client_id AND a.words = @words
        AND a.agreed_at >= sqlc.narg(since)::timestamptz);

-- name: AgreementsOf :many
SELECT id, client_id, version, locale, words, agreed_at, origin FROM deposit_agreements
WHERE deposit_id = @deposit_id ORDER BY agreed_at, id;
