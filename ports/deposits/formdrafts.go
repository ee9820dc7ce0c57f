package deposits

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ErrDraftGone tells that a form draft is no longer kept, or never was.
var ErrDraftGone = errors.New("deposits: the form is no longer kept")

// FormDraftKey names a form draft: the form of a session, in an account.
type FormDraftKey struct {
	AccountID id.ID
	Session   [32]byte // hash of the session's token
	Form      id.ID    // key of the form
}

// FormDrafts keeps what operators typed into the forms of deposits, encrypted, while they may open its page again
// (pages.md, "Questions").
type FormDrafts interface {
	// Keep stores a draft in place of an earlier one of the same form. Of the account's drafts only the newest remain,
	// most of them.
	Keep(ctx context.Context, key FormDraftKey, content secret.Text, at time.Time, most int) error
	// Draft gives a draft that was kept at since or later. Returns ErrDraftGone.
	Draft(ctx context.Context, key FormDraftKey, since time.Time) (secret.Text, error)
	// Drop removes a draft. An unknown one is no error.
	Drop(ctx context.Context, key FormDraftKey) error
	// Delete removes up to limit drafts that were kept before a time.
	Delete(ctx context.Context, before time.Time, limit int) (int, error)
}
