package checkout

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// View is what a tenant sees of a deposit.
type View struct {
	Deposit         *deposit.Deposit
	CompanyName     string
	Fee             money.Cents
	Person          tenant.Person // as far as known; empty otherwise
	Open            bool          // the tenant can still secure the deposit
	Expired         bool          // not secured in time, whether or not the scheduler has cancelled it yet
	PaymentUnderWay bool          // a hosted page is open, or its outcome is not known yet
}

// Outcome is what a tenant who leaves now is told.
func (v View) Outcome() deposit.Outcome { return v.Deposit.Outcome() }

// Next tells where a step leads: to the provider's page, or to what View shows.
type Next struct {
	PageURL string // the provider's hosted page; "" where View says it all
	View    View
}

// View shows the checkout behind a token. It changes nothing.
//
// Returns deposit.ErrNotFound.
func (s *Service) View(ctx context.Context, token secret.Text) (View, error) {
	return s.view(ctx, token, s.deps.Clock.Now())
}

func (s *Service) view(ctx context.Context, token secret.Text, now time.Time) (View, error) {
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return View{}, err
	}
	account, _, err := s.deps.Accounts.AccountByID(ctx, d.AccountID)
	if err != nil {
		return View{}, err
	}
	v := View{
		Deposit: d, CompanyName: account.CompanyName, Fee: deposit.Fee(d.Amount), Open: open(d, now),
		Expired: d.Status.InCheckout() && !open(d, now) || d.StatusReason == deposit.CheckoutExpired.Reason(),
	}
	if d.Client != nil {
		v.Person = tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
	}
	if v.Open {
		paying, err := s.feeUnderWay(ctx, d.ID)
		if err != nil {
			return View{}, err
		}
		v.PaymentUnderWay = paying != nil
	}
	return v, nil
}

// show is the end of a step that leads to no other page.
func (s *Service) show(ctx context.Context, token secret.Text, now time.Time) (Next, error) {
	v, err := s.view(ctx, token, now)
	return Next{View: v}, err
}
