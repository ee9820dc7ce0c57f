package deposits

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Get returns a deposit for its partner.
//
// Returns deposit_not_found, or deposit_access_denied for a deposit of another partner.
func (s *Service) Get(ctx context.Context, partnerID, depositID id.ID) (PartnerView, error) {
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return PartnerView{}, err
	}
	if err := readable(d, partnerID); err != nil {
		return PartnerView{}, err
	}
	d.HideFromFormerPartner()
	views := []PartnerView{s.view(d, s.deps.Clock.Now())}
	err = s.addDebts(ctx, views)
	return views[0], err
}

// addDebts adds the debts to the views of captured deposits.
func (s *Service) addDebts(ctx context.Context, views []PartnerView) error {
	var captured []id.ID
	for _, v := range views {
		if v.Status == deposit.Captured {
			captured = append(captured, v.ID)
		}
	}
	if len(captured) == 0 {
		return nil
	}
	found, err := s.deps.Collections.Debts(ctx, captured)
	for i := range views {
		if d, ok := found[views[i].ID]; ok {
			views[i].Debt = &d
		}
	}
	return err
}

// List returns the deposits that the partner may read, newest first.
func (s *Service) List(ctx context.Context, f depositports.DepositFilter, page ports.Page) (ports.ListPage[PartnerView],
	error) {
	found, err := s.deps.Deposits.Deposits(ctx, f, page)
	if err != nil {
		return ports.ListPage[PartnerView]{}, err
	}
	now := s.deps.Clock.Now()
	out := ports.ListPage[PartnerView]{Items: make([]PartnerView, 0, len(found.Items)), Next: found.Next}
	for _, d := range found.Items {
		d.HideFromFormerPartner()
		out.Items = append(out.Items, s.view(d, now))
	}
	return out, s.addDebts(ctx, out.Items)
}
