package deposits

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Get gives a deposit as it is now.
//
// Returns deposit_not_found, or deposit_access_denied for a deposit of another partner.
func (s *Service) Get(ctx context.Context, partnerID, depositID id.ID) (View, error) {
	d, err := s.d.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return View{}, err
	}
	if err := readable(d, partnerID); err != nil {
		return View{}, err
	}
	tokens, err := s.tokens(ctx, d)
	if err != nil {
		return View{}, err
	}
	return s.view(d, tokens[d.ID], s.d.Clock.Now()), nil
}

// List gives what the partner of the filter may read, newest first.
func (s *Service) List(ctx context.Context, f ports.DepositFilter, page ports.Page) (ports.List[View], error) {
	found, err := s.d.Deposits.Deposits(ctx, f, page)
	if err != nil {
		return ports.List[View]{}, err
	}
	tokens, err := s.tokens(ctx, found.Items...)
	if err != nil {
		return ports.List[View]{}, err
	}
	now := s.d.Clock.Now()
	out := ports.List[View]{Items: make([]View, 0, len(found.Items)), Next: found.Next}
	for _, d := range found.Items {
		out.Items = append(out.Items, s.view(d, tokens[d.ID], now))
	}
	return out, nil
}

// tokens reads the tokens of those deposits whose checkout URL is shown.
func (s *Service) tokens(ctx context.Context, ds ...*deposit.Deposit) (map[id.ID]secret.Text, error) {
	var shown []id.ID
	for _, d := range ds {
		if d.URLGeneration {
			shown = append(shown, d.ID)
		}
	}
	if len(shown) == 0 {
		return nil, nil //nolint:nilnil // an empty map reads like nil
	}
	return s.d.Deposits.CheckoutTokens(ctx, shown)
}
