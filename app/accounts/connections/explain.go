package connections

import (
	"context"
	"strings"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

// Explain tells why a connect URL of the partner is refused. apiKey is that of the request.
//
// Returns invalid_field for a text without a query.
func (s *Service) Explain(ctx context.Context, by partner.Partner, raw string,
	apiKey secret.Text) (connect.Explanation, error) {
	now := s.deps.Clock.Now()
	whole, _, _ := strings.Cut(raw, "#")
	_, query, found := strings.Cut(whole, "?")
	if !found {
		return connect.Explanation{}, fault.ErrInvalidField.WithField("url", "has no query")
	}
	keys := connect.Keys{API: apiKey}
	var err error
	if keys.Connect, err = s.deps.Partners.ConnectSecret(ctx, by.ID); err != nil {
		return connect.Explanation{}, err
	}
	if keys.Signing, err = s.deps.Signing.SigningSecrets(ctx, by.ID); err != nil {
		return connect.Explanation{}, err
	}
	params, explained := connect.Explain(by.Slug, decoded(query), keys, now)
	if explained.Cause != connect.CauseValid {
		return explained, nil
	}
	revokedAt, err := s.deps.Links.LastRevoked(ctx, by.ID, params.ExternalID)
	if err == nil && params.CheckRevocation(revokedAt) != nil {
		return connect.Revoked(), nil
	}
	return explained, err
}
