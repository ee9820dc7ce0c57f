package partners

import (
	"context"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
)

// SetRateLimit sets a partner's own limit, in requests per minute; 0 restores the default.
//
// Returns invalid_field or partner_not_found.
func (s *Service) SetRateLimit(ctx context.Context, slug string, perMinute int) error {
	if err := validRateLimit(perMinute); err != nil {
		return err
	}
	detail := map[string]string{"perMinute": number(perMinute)}
	return s.change(ctx, slug, audit.PartnerRateLimit, detail, func(ctx context.Context, p partner.Partner) error {
		return s.deps.Partners.SetRateLimit(ctx, p.ID, perMinute)
	})
}

func validRateLimit(perMinute int) error {
	const most = 1_000_000
	if perMinute < 0 || perMinute > most {
		return fault.ErrInvalidField.WithField("per-minute", "must be 0 (the default) to %d", most)
	}
	return nil
}
