package checkout

import (
	"context"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

// View is a deposit as its tenant may see it. Times are in the account's time zone.
type View struct {
	Deposit     *deposit.Deposit
	CompanyName string // of the operator's account
	Operator    string // the company's name with the contact, as connect.Account.Called
	Contact     string // of the operator, for tenants; "": none
	Fee         money.Cents
	Person      tenant.Person // the client's details; empty when the deposit has no client
	Open        bool          // the tenant can still secure the deposit
	Expired     bool          // the deposit was not secured in time, cancelled by the timer or not yet
	// the stay ended before the deposit was secured, and the timer has not cancelled the deposit yet
	StayOver        bool
	PaymentInFlight bool // a hosted page is open, or the result of the payment is unknown

	// Terms are those to which the tenant agrees by paying now. Terms.Until is the end of the cover.
	Terms      agreement.Terms
	CoversStay bool // the cover reaches the end of the stay
	// PaidFee is the fee that was paid, and PaidAt its time; zero for none.
	PaidFee money.Cents
	PaidAt  time.Time
	Debt    *deposit.Debt // of a captured deposit; nil otherwise
	// Reason and Words are those of the capture, which the mail about it tells too; "" for none.
	Reason, Words string
}

// Payable reports whether the tenant can pay the debt of a captured deposit now.
func (v View) Payable() bool {
	return v.Debt != nil && v.Debt.State == deposit.AwaitingTenant && v.Debt.CancelAt.IsZero()
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

// Opened notes that a mailed link was opened. The mails that the sender of this mail has sent to the same address no
// longer count against the sender's limit (api.md §2, "Mails with the link"). mark is the parameter of the link that
// names its mail; an unknown mark changes nothing.
func (s *Service) Opened(ctx context.Context, mark string) error {
	mailed, ok := id.LinkMark.Parse(mark)
	if !ok {
		return nil
	}
	return s.deps.Mails.Opened(ctx, mailed)
}

func (s *Service) view(ctx context.Context, token secret.Text, now time.Time) (View, error) {
	d, err := s.deps.Deposits.DepositByToken(ctx, token)
	if err != nil {
		return View{}, err
	}
	account, _, err := s.deps.Operators.AccountByID(ctx, d.AccountID)
	if err != nil {
		return View{}, err
	}
	v := s.viewOf(d, account, now)
	if d.Outcome() == deposit.OutcomeSecured {
		payments, err := s.deps.Paid.Payments(ctx, d.ID)
		if err != nil {
			return View{}, err
		}
		v.PaidFee, v.PaidAt = paidFee(payments)
		v.PaidAt = v.PaidAt.In(account.Zone())
	}
	if d.Status == deposit.Captured {
		debt, err := s.deps.Debts.Debt(ctx, d.ID)
		if err != nil {
			return View{}, err
		}
		v.Debt = debt.In(account.Zone())
		steps, err := s.deps.Deposits.History(ctx, d.ID)
		if err != nil {
			return View{}, err
		}
		v.Reason, v.Words = deposit.CaptureWords(steps)
	}
	if v.Open {
		if v.PaymentInFlight, err = s.deps.Payments.FeeInFlight(ctx, d.ID); err != nil {
			return View{}, err
		}
	}
	return v, nil
}

// viewOf is the part of the view that the deposit and its account tell.
func (s *Service) viewOf(d *deposit.Deposit, of connect.Account, now time.Time) View {
	open := d.CheckoutOpen(now)
	v := View{
		Deposit: d.In(of.Zone()), CompanyName: of.CompanyName, Operator: of.Called(), Contact: of.Contact,
		Fee: deposit.Fee(d.Amount), Open: open,
		Expired:  d.Status.InCheckout() && !open || d.StatusReason == deposit.CheckoutExpired.Reason(),
		StayOver: d.Status.InCheckout() && d.StayOver(now),
		Terms:    s.terms(d, of, now), CoversStay: d.CoversContract(s.deps.Timers, now),
	}
	if d.Client != nil {
		v.Person = tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
	}
	return v
}

// terms are the terms of a deposit that is paid now.
func (s *Service) terms(d *deposit.Deposit, of connect.Account, now time.Time) agreement.Terms {
	t := agreement.Terms{
		Company: of.CompanyName, Amount: d.Amount, Fee: deposit.Fee(d.Amount),
		Until: s.deps.Timers.CoverageEnd(d.ContractEndAt, now).In(of.Zone()), Imprint: s.deps.Imprint,
	}
	if longest := s.deps.Timers.CoverMax; t.Until.Equal(now.Add(longest)) {
		t.Days = int(longest / (24 * time.Hour))
	}
	return t
}

// paidFee gives the fee that secured a deposit, and the time of the payment; zero for none.
func paidFee(payments []deposit.Payment) (money.Cents, time.Time) {
	for _, p := range payments {
		if p.Kind == deposit.FeePayment && p.Status == deposit.PaymentSucceeded {
			return p.Amount, p.SettledAt
		}
	}
	return 0, time.Time{}
}

// show ends a step that leads to no other page.
func (s *Service) show(ctx context.Context, token secret.Text, now time.Time) (Next, error) {
	v, err := s.view(ctx, token, now)
	return Next{View: v}, err
}
