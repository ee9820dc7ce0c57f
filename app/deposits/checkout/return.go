package checkout

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ResolveReturnToken returns the checkout token for the return token in the URL to which a provider sends the
// tenant back. Any other token is returned unchanged.
//
// Returns deposit.ErrNotFound for a wrong return token.
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

// returned returns the deposit's checkout token if the return token matches, else deposit.ErrNotFound.
func returned(depositID id.ID, tokens map[id.ID]secret.Text, returnToken secret.Text) (secret.Text, error) {
	checkoutToken, found := tokens[depositID]
	if !found || !deposit.ReturnPageToken(depositID, checkoutToken).Equal(returnToken.Reveal()) {
		return "", deposit.ErrNotFound
	}
	return checkoutToken, nil
}

// HandleReturn queries the provider about the payment of a tenant who comes back from its page. An unpaid fee page
// is closed if known: the browser is the tenant's, not that of a scanner of links.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be reached.
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
