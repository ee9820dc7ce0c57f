package deposits

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ErrFormDraftGone is the error for a form draft that is not stored, or no longer.
var ErrFormDraftGone = errors.New("deposits: the form is no longer kept")

// FormDraftKey identifies what an operator typed into a form, by the account, the session and the form.
type FormDraftKey struct {
	AccountID id.ID
	Session   [32]byte
	Form      id.ID
}

// FormDraftStore stores what operators typed into the forms of deposits, encrypted, while they may open the form's
// page again (pages.md, "Questions").
type FormDraftStore interface {
	// Store stores a form draft (what an operator typed) in place of an earlier one of the same form. Of the
	// account's drafts only the newest remain, at most as many as most.
	Store(ctx context.Context, key FormDraftKey, content secret.Text, at time.Time, most int) error
	// Draft returns what an operator typed into a form, if it was stored at since or later, or ErrFormDraftGone.
	Draft(ctx context.Context, key FormDraftKey, since time.Time) (secret.Text, error)
	// DropDraft deletes what an operator typed into a form. An unknown form is no error.
	DropDraft(ctx context.Context, key FormDraftKey) error
	DeleteExpired(ctx context.Context, before time.Time, limit int) (int, error)
}
