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
	// draftLasts is the time after which a stored form draft can no longer be opened.
	draftLasts = time.Hour
	// draftsOfAccount is the largest number of form drafts of an account: a new one replaces the oldest.
	draftsOfAccount = 20
	// The time for which a form draft stays stored after it can no longer be opened, since the clocks of processes
	// differ.
	draftsGrace = 10 * time.Minute
)

// StoreFormDraft stores what an operator sent with a form as a form draft, for the session with this token.
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

// FormDraft returns the form draft that StoreFormDraft stored.
//
// Returns depositports.ErrFormDraftGone for a draft that is an hour old, and for one of another session or
// account.
func (s *Service) FormDraft(ctx context.Context, accountID id.ID, token string, form [16]byte) (secret.Text, error) {
	key, err := draftKey(accountID, token, form)
	if err != nil {
		return "", err
	}
	return s.deps.Drafts.Draft(ctx, key, s.deps.Clock.Now().Add(-draftLasts))
}

// DeleteFormDraft deletes the form draft of a form that has had its effect.
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

// FormDraftCleaningJob returns the scheduled job that deletes form drafts that can no longer be opened.
func (s *Service) FormDraftCleaningJob() schedules.Job {
	return schedules.NewCleaningJob("form drafts", s.deps.Clock, func(ctx context.Context, now time.Time) (int, error) {
		return s.deps.Drafts.DeleteExpired(ctx, now.Add(-draftLasts-draftsGrace), schedules.CleaningBatchSize)
	})
}
