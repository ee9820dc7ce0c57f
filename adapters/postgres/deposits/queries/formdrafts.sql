-- name: KeepFormDraft :exec
INSERT INTO form_drafts (session, form, account_id, content, kept_at)
VALUES (@session, @form, @account_id, @content, @kept_at)
ON CONFLICT (session, form) DO UPDATE SET content = excluded.content, kept_at = excluded.kept_at;

-- name: TrimFormDrafts :exec
DELETE FROM form_drafts d USING (
    SELECT f.session, f.form FROM form_drafts f WHERE f.account_id = @account_id
    ORDER BY f.kept_at DESC, f.form = sqlc.arg(newest)::uuid DESC OFFSET sqlc.arg(most)::integer
) AS old
WHERE d.session = old.session AND d.form = old.form;

-- name: FormDraft :one
SELECT content FROM form_drafts
WHERE session = @session AND form = @form AND account_id = @account_id AND kept_at >= sqlc.arg(since)::timestamptz;

-- name: DropFormDraft :exec
DELETE FROM form_drafts WHERE session = @session AND form = @form;

-- name: DeleteFormDrafts :execrows
DELETE FROM form_drafts WHERE (session, form) IN (
    SELECT session, form FROM form_drafts WHERE kept_at < sqlc.arg(before)::timestamptz ORDER BY kept_at LIMIT sqlc.arg(max_rows)::integer
);
