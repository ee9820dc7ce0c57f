package connections

import (
	"context"
	"strings"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
)

// ExplainURLRefusal returns the reason for which a connect URL of the partner is refused.
//
// Returns invalid_field for a text without a query.
func (s *Service) ExplainURLRefusal(ctx context.Context, by partner.Partner, raw string,
	apiKey secret.Text) (connect.URLExplanation, error) {
	now := s.deps.Clock.Now()
	whole, _, _ := strings.Cut(raw, "#")
	page, query, found := strings.Cut(whole, "?")
	if !found {
		return connect.URLExplanation{}, fault.ErrInvalidField.WithField("url", "has no query")
	}
	keys := connect.CandidateSecrets{API: apiKey}
	var err error
	if keys.Connect, err = s.deps.Partners.ConnectSecret(ctx, by.ID); err != nil {
		return connect.URLExplanation{}, err
	}
	if keys.Signing, err = s.deps.Signing.SigningSecrets(ctx, by.ID); err != nil {
		return connect.URLExplanation{}, err
	}
	values := decoded(query)
	params, explained := connect.ExplainURL(by.Slug, values, keys, now)
	if explained.Cause != connect.CauseValid {
		return explained, nil
	}
	revokedAt, err := s.deps.Links.LastRevokedAt(ctx, by.ID, params.ExternalID)
	if err == nil && params.CheckRevocation(revokedAt) != nil {
		return connect.ExplainRevokedLink(), nil
	}
	explained.Words += s.reservations(page, values["return_url"], by)
	return explained, err
}

// reservations returns warnings about a signed connect URL that may not bring an operator back: the page is neither
// registration nor log-in, or its return_url is not allowed.
func (s *Service) reservations(page string, returns []string, by partner.Partner) (words string) {
	if page != s.deps.DashboardURL+site.RegisterPath && page != s.deps.DashboardURL+site.LogInPath {
		words += " But it leads elsewhere: our pages are " + s.deps.DashboardURL +
			site.RegisterPath + " and " + site.LogInPath + "."
	}
	if len(returns) > 0 && returns[0] != "" && s.allowedReturn(returns[0], by) == nil {
		words += " But its return_url is not allowed, so that the operator ends on the dashboard."
	}
	return words
}
