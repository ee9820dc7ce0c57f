package deposits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"partnerdeposits/app/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// checkoutTokenBytes is the randomness of a checkout URL.
const checkoutTokenBytes = 32

// referenceTries is how often a taken reference is replaced. There are 30^8 of them.
const referenceTries = 5

// NewDeposit is what a deposit is created of. An id is zero where what came cannot be one of ours.
type NewDeposit struct {
	AccountID id.ID
	ClientID  *id.ID // nil: none was sent
	deposit.Draft
}

// Create makes a pending deposit for a linked account. Checked in the order of api.md §1: shapes, link, ceiling and
// dates, client.
//
// Returns account_not_linked, account_revoked, what Draft.Validate returns, invalid_client, and what
// idempotent.Keys.Do returns.
func (s *Service) Create(ctx context.Context, by partner.Caller, in NewDeposit, call idempotent.Call[View]) (idempotent.Response, error) {
	now := s.d.Clock.Now()
	return s.d.Keys.Do(ctx, idempotent.Job{
		Key:     call.Key,
		Now:     now,
		Grouped: true,
		Prepare: func(context.Context) error { return in.validate() },
		Effect: func(ctx context.Context, repos ports.Repositories) (idempotent.Response, error) {
			v, err := s.create(ctx, repos, by.Partner, in, now)
			if err != nil {
				return idempotent.Response{}, err
			}
			return call.Encode(v)
		},
	})
}

func (in NewDeposit) validate() error {
	if !tenant.ValidLocale(in.Locale) {
		return fault.ErrInvalidField.WithField("locale", "must look like fr or en-GB")
	}
	return nil
}

func (s *Service) create(ctx context.Context, repos ports.Repositories, p partner.Partner, in NewDeposit, now time.Time) (View, error) {
	link, err := activeLink(ctx, repos, p.ID, in.AccountID)
	if err != nil {
		return View{}, err
	}
	if err := in.Draft.Validate(link.MaxAmountCents); err != nil {
		return View{}, err
	}
	client, err := clientOf(ctx, repos, in)
	if err != nil {
		return View{}, err
	}
	origin := deposit.Origin{AccountID: link.AccountID, PartnerID: p.ID, PartnerName: p.Name, ExternalID: link.ExternalID, ByPartnerAPI: true}
	token := secret.FromRandom("", s.d.Entropy.Bytes(checkoutTokenBytes))
	for range referenceTries {
		reference := deposit.Reference(s.d.Entropy.Bytes(deposit.ReferenceBytes))
		d := deposit.New(s.d.Entropy.NewID(), reference, origin, in.Draft, client, now)
		err := repos.Deposits.Insert(ctx, d, token)
		if errors.Is(err, ports.ErrReferenceTaken) {
			continue
		}
		if err != nil {
			return View{}, err
		}
		d.CheckoutToken = token
		return s.view(d, now), nil
	}
	return View{}, fmt.Errorf("deposits: %d references in a row were taken", referenceTries)
}

// clientOf gives the client of the request; nil where none was sent.
func clientOf(ctx context.Context, repos ports.Repositories, in NewDeposit) (*deposit.Client, error) {
	if in.ClientID == nil {
		return nil, nil //nolint:nilnil // a deposit needs no client
	}
	c, err := repos.Clients.OfAccount(ctx, in.AccountID, *in.ClientID)
	if errors.Is(err, tenant.ErrNotFound) {
		return nil, deposit.ErrInvalidClient
	}
	if err != nil {
		return nil, err
	}
	return &deposit.Client{ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName}, nil
}
