package checkout

import (
	"context"
	"time"

	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// View is a deposit as its tenant may see it.
type View struct {
	Deposit         *deposit.Deposit
	CompanyName     string // of the operator's account
	Fee             money.Cents
	Person          tenant.Person // the client's details; empty when the deposit has no client
	Open            bool          // the tenant can still secure the deposit
	Expired         bool          // the deposit was not secured in time, cancelled by the timer or not yet
	PaymentInFlight bool          // a hosted page is open, or the result of the payment is unknown
}

// Outcome is the outcome that a tenant who leaves now sees.
func (v View) Outcome() deposit.Outcome { return v.Deposit.Outcome() }

// Next is the page that follows a step of the tenant: the provider's page, or View.
type Next struct {
	PageURL string // the provider's hosted page; "" when View is to be shown
	View    View
}

// View shows the checkout that belongs to a token and changes nothing.
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
	open := lifecycle.CheckoutOpen(d, now)
	v := View{
		Deposit: d, CompanyName: account.CompanyName, Fee: deposit.Fee(d.Amount), Open: open,
		Expired: d.Status.InCheckout() && !open || d.StatusReason == deposit.CheckoutExpired.Reason(),
	}
	if d.Client != nil {
		v.Person = tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
	}
	if open {
		if v.PaymentInFlight, err = s.deps.Payments.FeeInFlight(ctx, d.ID); err != nil {
			return View{}, err
		}
	}
	return v, nil
}

// show ends a step that leads to no other page.
func (s *Service) show(ctx context.Context, token secret.Text, now time.Time) (Next, error) {
	v, err := s.view(ctx, token, now)
	return Next{View: v}, err
}
