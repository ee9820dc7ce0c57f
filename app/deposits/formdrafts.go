package deposits

import (
	"context"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	depositports "partnerdeposits/ports/deposits"
)

const (
	// The time after which a form draft can no longer be opened.
	draftLasts = time.Hour
	// draftsOfAccount limits an account's form drafts: a new one replaces the oldest.
	draftsOfAccount = 20
	// The time for which an ended form draft stays stored, since the clocks of processes differ.
	draftsGrace = 10 * time.Minute
)

// StoreFormDraft stores what an operator sent with a form, for the token's session.
//
// Returns connect.ErrBadCredentials for a text that is no token.
func (s *Service) StoreFormDraft(ctx context.Context, accountID id.ID, token string, form [16]byte,
	content secret.Text) error {
	key, err := draftKey(accountID, token, form)
	if err != nil {
		return err
	}
	return s.deps.Drafts.Store(ctx, key, content, s.deps.Clock.Now(), draftsOfAccount)
}

// FindFormDraft returns a stored form draft, or depositports.ErrFormDraftGone after an hour and for another session or
// account.
func (s *Service) FindFormDraft(ctx context.Context, accountID id.ID, token string, form [16]byte) (secret.Text,
	error) {
	key, err := draftKey(accountID, token, form)
	if err != nil {
		return "", err
	}
	return s.deps.Drafts.Draft(ctx, key, s.deps.Clock.Now().Add(-draftLasts))
}

func (s *Service) DeleteFormDraft(ctx context.Context, accountID id.ID, token string, form [16]byte) error {
	key, err := draftKey(accountID, token, form)
	if err != nil {
		return err
	}
	return s.deps.Drafts.DropDraft(ctx, key)
}

func draftKey(accountID id.ID, token string, form [16]byte) (depositports.FormDraftKey, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return depositports.FormDraftKey{}, connect.ErrBadCredentials
	}
	return depositports.FormDraftKey{AccountID: accountID, Session: hash, Form: form}, nil
}

func (s *Service) FormDraftCleaningJob() schedules.Job {
	return schedules.NewCleaningJob("form drafts", s.deps.Clock, func(ctx context.Context, now time.Time) (int, error) {
		return s.deps.Drafts.DeleteExpired(ctx, now.Add(-draftLasts-draftsGrace), schedules.CleaningBatchSize)
	})
}
