package checkout

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ResolveReturnToken returns the checkout token for a return token: the token in the URL to which a payment
// provider sends the tenant back. Any other token is returned unchanged.
//
// Returns deposit.ErrNotFound for a return token that is not the deposit's.
func (s *Service) ResolveReturnToken(ctx context.Context, returnToken secret.Text) (secret.Text, error) {
	depositID, ok := deposit.ParseReturnPageToken(returnToken)
	if !ok {
		return returnToken, nil
	}
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{depositID})
	if err != nil {
		return "", err
	}
	return returned(depositID, tokens, returnToken)
}

// returned returns the deposit's checkout token from tokens if the return token matches. Returns
// deposit.ErrNotFound for a return token of no deposit.
func returned(depositID id.ID, tokens map[id.ID]secret.Text, returnToken secret.Text) (secret.Text, error) {
	checkoutToken, found := tokens[depositID]
	if !found || !deposit.ReturnPageToken(depositID, checkoutToken).Equal(returnToken.Reveal()) {
		return "", deposit.ErrNotFound
	}
	return checkoutToken, nil
}

// HandleReturn handles the tenant's way back from the provider's payment page. Coming back proves nothing, so the
// service queries the provider about the payment. An unpaid fee page is closed, so that the next try is a new
// payment; the page of a debt stays open. known is true when the browser is the tenant's. false: another
// visitor of the address, such as a scanner of links, whose visit closes no page.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be reached; the tenant may
// reload.
func (s *Service) HandleReturn(ctx context.Context, token secret.Text, known bool) (NextPage, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return NextPage{}, err
	}
	if d.Status == deposit.Captured {
		err = s.deps.Debts.ConfirmDebtPayment(ctx, d.ID, now)
	} else {
		err = s.deps.Payments.ConfirmFeePayment(ctx, d.ID, known, now)
	}
	if err != nil {
		return NextPage{}, err
	}
	return s.show(ctx, token, now)
}
