package deposits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// The number of random bytes in the token of a checkout URL.
const checkoutTokenBytes = 32

// referenceTries limits the random references that a creation tries; few of the 30^8 are taken.
const referenceTries = 5

// A malformed id in the request is replaced by an id that no stored row has.
type NewDeposit struct {
	AccountID id.ID
	ClientID  *id.ID // The id of the deposit's client; nil for none.
	deposit.Draft
}

// Create makes a pending deposit for a linked account. Its checks run in the order of api.md §1: field shapes,
// link, ceiling and dates, client.
//
// Returns account_not_linked, account_revoked, invalid_client, and the errors of deposit.Draft.Validate and
// idempotent.Executor.Run.
func (s *Service) Create(ctx context.Context, by partner.Caller, in NewDeposit,
	call idempotent.KeyAndEncoder[PartnerView]) (idempotent.Response, error) {
	now := s.deps.Clock.Now()
	for range referenceTries {
		response, err := s.deps.Idempotent.Run(ctx, s.creation(by.Partner, in, call, now))
		if err == nil && !response.Replayed {
			s.deps.Metrics.CountCreated(depositports.AuthorPartner)
		}
		if !errors.Is(err, ports.ErrReferenceTaken) {
			return response, err
		}
	}
	return idempotent.Response{}, fmt.Errorf("deposits: %d references in a row were taken", referenceTries)
}

// creation returns the idempotent request that creates a deposit.
func (s *Service) creation(p partner.Partner, in NewDeposit, call idempotent.KeyAndEncoder[PartnerView],
	now time.Time) idempotent.Request {
	token := secret.FromRandom("", s.deps.Entropy.Bytes(checkoutTokenBytes))
	reference := deposit.NewReference(s.deps.Entropy.Bytes(deposit.ReferenceBytes))
	depositID := s.deps.Entropy.NewID()
	needs := ports.RowsToRead{Link: ports.LinkLookupKey{PartnerID: p.ID, AccountID: in.AccountID}}
	if in.ClientID != nil {
		needs.Client = ports.ClientLookupKey{AccountID: in.AccountID, ClientID: *in.ClientID}
	}
	return idempotent.Request{
		Key:     call.Key,
		Now:     now,
		Prepare: func(context.Context) error { return in.validate() },
		Needs:   needs,
		Decide: func(found ports.FoundRows) (ports.RowsToWrite, idempotent.Response, error) {
			d, err := in.decide(found, p, depositID, reference, now)
			if err != nil {
				return ports.RowsToWrite{}, idempotent.Response{}, err
			}
			d.CheckoutToken = token
			response, err := call.Encode(s.view(d, now))
			return ports.RowsToWrite{Insert: &ports.NewDeposit{Deposit: d, CheckoutToken: token}}, response, err
		},
	}
}

// decide builds the deposit of a validated request, or returns the errors of check.
func (in NewDeposit) decide(found ports.FoundRows, p partner.Partner, depositID id.ID, reference string,
	now time.Time) (*deposit.Deposit, error) {
	client, err := in.check(found, now)
	if err != nil {
		return nil, err
	}
	origin := deposit.Origin{
		AccountID: found.Link.AccountID, PartnerID: p.ID, PartnerName: p.Name, ExternalID: found.Link.ExternalID,
		ByPartnerAPI: true,
	}
	return deposit.New(depositID, reference, origin, in.Draft, client, now), nil
}

func (in NewDeposit) validate() error {
	if !tenant.ValidLocale(in.Locale) {
		return fault.ErrInvalidField.WithField("locale", "must look like fr or en-GB")
	}
	return nil
}

// check checks a new deposit against the stored link and client; client is nil if the request names none.
func (in NewDeposit) check(found ports.FoundRows, now time.Time) (client *deposit.ClientDetails, err error) {
	if err := activeLink(found.Link); err != nil {
		return nil, err
	}
	if err := in.Validate(found.Link.MaxAmountCents, now); err != nil {
		return nil, err
	}
	if in.ClientID == nil {
		return nil, nil //nolint:nilnil // a deposit needs no client
	}
	if found.Client == nil {
		return nil, deposit.ErrInvalidClient
	}
	c := found.Client
	return &deposit.ClientDetails{ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName}, nil
}

// activeLink returns account_not_linked for a nil link and account_revoked for a revoked one.
func activeLink(link *ports.LinkedAccount) error {
	if link == nil {
		return connect.ErrAccountNotLinked
	}
	return link.CheckUsable()
}
