package clients

import (
	"context"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
)

type NewClient struct {
	AccountID id.ID // The client's account; zero for an id of the wrong form.
	tenant.Person
}

// Create adds a client to a linked account.
//
// Returns missing_field, invalid_field, account_not_linked, account_revoked, and the errors of
// idempotent.Executor.Run.
func (s *Service) Create(ctx context.Context, by partner.Caller, in NewClient,
	call idempotent.KeyAndEncoder[tenant.Client]) (idempotent.Response, error) {
	now := s.deps.Clock.Now()
	client := tenant.Client{ID: s.deps.Entropy.NewID(), AccountID: in.AccountID, PartnerID: by.Partner.ID,
		Person: in.Person, CreatedAt: now}
	return s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: call.Key,
		Now: now,
		Prepare: func(context.Context) error {
			return in.Validate()
		},
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			link, err := s.deps.Links.LockNewestShared(ctx, by.Partner.ID, in.AccountID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := link.CheckUsable(); err != nil {
				return idempotent.Response{}, err
			}
			if err := s.deps.Clients.Insert(ctx, client); err != nil {
				return idempotent.Response{}, err
			}
			return call.Encode(client)
		},
	})
}
