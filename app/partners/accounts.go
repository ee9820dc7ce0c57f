package partners

import (
	"context"

	"partnerdeposits/core/id"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// ListLinkedAccounts lists the accounts that were ever linked to a partner, the latest link first.
func (s *Service) ListLinkedAccounts(ctx context.Context, partnerID id.ID, f accountports.PartnerLinkFilter,
	page ports.Page) (ports.ListPage[ports.LinkedAccount], error) {
	return s.deps.Links.LinkedAccounts(ctx, partnerID, f, page)
}

// FindLinkedAccount returns an account that was ever linked to a partner, or account_not_found.
func (s *Service) FindLinkedAccount(ctx context.Context, partnerID, accountID id.ID) (ports.LinkedAccount, error) {
	return s.deps.Links.LinkedAccount(ctx, partnerID, accountID)
}
