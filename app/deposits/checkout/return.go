package checkout

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// CheckoutToken gives the checkout token of a return token, which a payment provider got. Any other token is given
// back.
//
// Returns deposit.ErrNotFound for a return token that is not the deposit's.
func (s *Service) CheckoutToken(ctx context.Context, returnToken secret.Text) (secret.Text, error) {
	depositID, ok := deposit.ReturnTokenOwner(returnToken)
	if !ok {
		return returnToken, nil
	}
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, []id.ID{depositID})
	if err != nil {
		return "", err
	}
	return returned(depositID, tokens, returnToken)
}

// returned gives the deposit's checkout token of tokens. Returns deposit.ErrNotFound for a return token that is not the
// deposit's.
func returned(depositID id.ID, tokens map[id.ID]secret.Text, returnToken secret.Text) (secret.Text, error) {
	checkoutToken, found := tokens[depositID]
	if !found || !deposit.ReturnToken(depositID, checkoutToken).Equal(returnToken.Reveal()) {
		return "", deposit.ErrNotFound
	}
	return checkoutToken, nil
}

// Return handles the tenant's way back from the provider's page. Coming back proves nothing, so the provider is asked.
// An unpaid page is closed, so that the next try is a new payment; the page of a debt stays open. known tells that the
// browser is the tenant's: anybody else who knows the address, such as a scanner of links, closes no page.
//
// Returns deposit.ErrNotFound, or service_unavailable when the provider cannot be reached; the tenant may reload.
func (s *Service) Return(ctx context.Context, token secret.Text, known bool) (Next, error) {
	now := s.deps.Clock.Now()
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return Next{}, err
	}
	if d.Status == deposit.Captured {
		err = s.deps.Debts.ConfirmDebt(ctx, d.ID, now)
	} else {
		err = s.deps.Payments.ConfirmFee(ctx, d.ID, known, now)
	}
	if err != nil {
		return Next{}, err
	}
	return s.show(ctx, token, now)
}
