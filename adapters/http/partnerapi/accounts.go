package partnerapi

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// ListAccounts answers with the accounts linked to the calling partner; without a status filter, those with an
// active link.
func (a *api) ListAccounts(ctx context.Context, r ListAccountsRequestObject) (ListAccountsResponseObject, error) {
	f := accountports.PartnerLinkFilter{Status: connect.LinkActive, ExternalID: value(r.Params.ExternalID)}
	switch value(r.Params.Status) {
	case ListAccountsParamsStatusAll:
		f.Status = ""
	case ListAccountsParamsStatusRevoked:
		f.Status = connect.LinkRevoked
	case ListAccountsParamsStatusActive:
	}
	return answerList(ctx, a, accountList, r.Params.Limit, r.Params.Cursor,
		func(page ports.Page) (ports.ListPage[ports.LinkedAccount], error) {
			return a.Partners.ListLinkedAccounts(ctx, requestOf(ctx).caller.Partner.ID, f, page)
		}, accountOf, func(l ports.LinkedAccount) ports.Cursor { return ports.Cursor{At: l.LinkedAt, ID: l.ID} })
}

// GetAccount answers with an account that is or was linked to the calling partner.
func (a *api) GetAccount(ctx context.Context, r GetAccountRequestObject) (GetAccountResponseObject, error) {
	found, err := a.Partners.FindLinkedAccount(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Account, r.AccountID))
	if err != nil {
		return nil, err
	}
	return GetAccount200JSONResponse{Data: accountOf(found)}, nil
}

// DeleteAccount ends the calling partner's link to an account, which stays. A second call changes nothing.
func (a *api) DeleteAccount(ctx context.Context, r DeleteAccountRequestObject) (DeleteAccountResponseObject, error) {
	if _, err := a.Connections.EndLinkByPartner(ctx, requestOf(ctx).caller, parseID(id.Account, r.AccountID)); err != nil {
		return nil, err
	}
	return DeleteAccount204Response{}, nil
}

func accountOf(l ports.LinkedAccount) Account {
	return Account{
		AccountID: id.Account.Of(l.AccountID), ExternalID: l.ExternalID, Status: LinkStatus(l.Status()),
		LinkedAt: TimestampOf(l.LinkedAt), RevokedAt: TimestampOrNil(l.RevokedAt),
		Limits: AccountLimits{MinAmountCents: int64(deposit.MinAmount), MaxAmountCents: int64(l.MaxAmountCents),
			Currency: EUR},
	}
}
