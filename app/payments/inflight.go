package payments

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// HasFeeInFlight reports whether a deposit's fee payment is unsettled. It takes no lock: check again under the
// deposit's lock.
func (s *Service) HasFeeInFlight(ctx context.Context, depositID id.ID) (bool, error) {
	payment, err := s.feeInFlight(ctx, depositID)
	return payment != nil, err
}

// feeInFlight returns the processing fee payment; nil for none.
func (s *Service) feeInFlight(ctx context.Context, depositID id.ID) (*deposit.Payment, error) {
	return s.feeWithStatus(ctx, depositID, deposit.PaymentProcessing)
}

// feeWithStatus returns the oldest fee payment with this status; nil for none.
func (s *Service) feeWithStatus(ctx context.Context, depositID id.ID,
	status deposit.PaymentStatus) (*deposit.Payment, error) {
	all, err := s.deps.Payments.Payments(ctx, depositID)
	if err != nil {
		return nil, err
	}
	return feeAmong(all, status), nil
}

// feeAmong returns the first fee payment with this status; nil for none.
func feeAmong(all []deposit.Payment, status deposit.PaymentStatus) *deposit.Payment {
	for i := range all {
		if all[i].Kind == deposit.PaymentKindFee && all[i].Status == status {
			return &all[i]
		}
	}
	return nil
}

// stillInFlight locks and returns the stored payment; nil when it has been settled.
func (s *Service) stillInFlight(ctx context.Context, p deposit.Payment) (*deposit.Payment, error) {
	current, err := s.deps.Payments.LockProcessing(ctx, p.DepositID, p.Kind)
	if err != nil || current == nil || current.ID != p.ID {
		return nil, err
	}
	return current, nil
}
