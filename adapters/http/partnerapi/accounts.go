package partnerapi

import (
	"context"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// ListAccounts lists the accounts linked to the caller; without a status filter those with an active link.
func (a *api) ListAccounts(ctx context.Context, r ListAccountsRequestObject) (ListAccountsResponseObject, error) {
	page, err := accountList.page(r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	f := accountports.LinkFilter{Status: connect.LinkActive, ExternalID: value(r.Params.ExternalID)}
	switch value(r.Params.Status) {
	case ListAccountsParamsStatusAll:
		f.Status = ""
	case ListAccountsParamsStatusRevoked:
		f.Status = connect.LinkRevoked
	case ListAccountsParamsStatusActive:
	}
	req := requestOf(ctx)
	found, err := a.Partners.Accounts(ctx, req.caller.Partner.ID, f, page)
	if err != nil {
		return nil, err
	}
	body := AccountList{Data: make([]Account, 0, len(found.Items))}
	for _, item := range found.Items {
		body.Data = append(body.Data, accountOf(item))
	}
	var out ListAccounts200JSONResponse
	body.Pagination, out.Headers.Link = a.nextPage(accountList, found.Next, req)
	out.Body = body
	return out, nil
}

// GetAccount returns an account that is or was linked to the caller.
func (a *api) GetAccount(ctx context.Context, r GetAccountRequestObject) (GetAccountResponseObject, error) {
	found, err := a.Partners.Account(ctx, requestOf(ctx).caller.Partner.ID, parseID(id.Account, r.AccountID))
	if err != nil {
		return nil, err
	}
	return GetAccount200JSONResponse{Data: accountOf(found)}, nil
}

// DeleteAccount ends the caller's link to an account; the account itself stays. A second call changes nothing.
func (a *api) DeleteAccount(ctx context.Context, r DeleteAccountRequestObject) (DeleteAccountResponseObject, error) {
	if _, err := a.Connections.RevokeByPartner(ctx, requestOf(ctx).caller, parseID(id.Account, r.AccountID)); err != nil {
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
