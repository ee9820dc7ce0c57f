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

// View holds what the tenant sees of a deposit in the checkout. Times are in the account's time zone.
type View struct {
	Deposit     *deposit.Deposit
	CompanyName string // The company name of the operator's account.
	Operator    string // The name by which pages refer tenants to the operator: the company with its contact.
	Contact     string // The operator's contact for tenants; "" for none.
	Fee         money.Cents
	Person      tenant.Person // The details of the deposit's client; empty when the deposit has no client.
	Open        bool          // true: the tenant can still secure the deposit; false: the checkout has ended.
	// true: the deposit was not secured in time, whether or not the timer has cancelled it yet; false: otherwise.
	Expired bool
	// true: the stay ended before the deposit was secured, and the timer has not cancelled the deposit yet; false:
	// otherwise.
	StayOver bool
	// true: a hosted payment page is open, or the result of the payment is unknown; false: no payment is in flight.
	PaymentInFlight bool

	// The terms to which the tenant agrees by paying now. Their Until is the end of the cover.
	Terms      agreement.Terms
	CoversStay bool // true: the cover lasts until the end of the stay; false: it ends earlier.
	// PaidFee is the fee that was paid, and PaidAt the time of that payment; zero for none.
	PaidFee money.Cents
	PaidAt  time.Time
	Debt    *deposit.Debt // The debt of a captured deposit; nil for a deposit without one.
	// Reason and Words are the reason and the description of the capture, which the mail about the capture
	// contains too; "" for none.
	Reason, Words string
}

// DebtPayable reports whether the tenant can pay the debt of a captured deposit now; false also for a deposit
// without a debt.
func (v View) DebtPayable() bool {
	return v.Debt != nil && v.Debt.State == deposit.CollectionAwaitingTenant && v.Debt.CancelAt.IsZero()
}

// ReturnOutcome returns the outcome of the checkout that the partner receives with a tenant who leaves the
// checkout now.
func (v View) ReturnOutcome() deposit.CheckoutOutcome { return v.Deposit.CheckoutOutcome() }

// NextPage is the page that follows a tenant's step in the checkout: the payment provider's page, or a page of
// this service.
type NextPage struct {
	PageURL string // The URL of the provider's hosted page; "" when a page of this service is to be shown.
	View    View
}

// View returns the checkout that belongs to a token and changes nothing.
//
// Returns deposit.ErrNotFound.
func (s *Service) View(ctx context.Context, token secret.Text) (View, error) {
	return s.view(ctx, token, s.deps.Clock.Now())
}

// RecordLinkOpened records that the link of a mail was opened. The mails that the sender of this mail has sent to the
// same address no longer count against the sender's limit (api.md §2, "Mails with the link"). mark is the
// parameter of the link that identifies its mail; an unknown mark changes nothing.
func (s *Service) RecordLinkOpened(ctx context.Context, mark string) error {
	mailed, ok := id.LinkMailMark.Parse(mark)
	if !ok {
		return nil
	}
	return s.deps.Mails.MarkLinkOpened(ctx, mailed)
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
	if d.CheckoutOutcome() == deposit.OutcomeSecured {
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
		v.Debt = debt.InTimeZone(account.Zone())
		steps, err := s.deps.Deposits.History(ctx, d.ID)
		if err != nil {
			return View{}, err
		}
		v.Reason, v.Words = deposit.CaptureDetails(steps)
	}
	if v.Open {
		if v.PaymentInFlight, err = s.deps.Payments.HasFeeInFlight(ctx, d.ID); err != nil {
			return View{}, err
		}
	}
	return v, nil
}

// viewOf returns the part of the checkout's view that follows from the deposit and its account alone.
func (s *Service) viewOf(d *deposit.Deposit, of connect.Account, now time.Time) View {
	open := d.CheckoutOpen(now)
	v := View{
		Deposit: d.InTimeZone(of.Zone()), CompanyName: of.CompanyName, Operator: of.NameWithContact(), Contact: of.Contact,
		Fee: deposit.Fee(d.Amount), Open: open,
		Expired:  d.Status.InCheckout() && !open || d.StatusReason == deposit.TriggerCheckoutExpired.StatusReason(),
		StayOver: d.Status.InCheckout() && d.RentalEnded(now),
		Terms:    s.terms(d, of, now), CoversStay: d.CoversContract(s.deps.Timers, now),
	}
	if d.Client != nil {
		v.Person = tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
	}
	return v
}

// terms returns the terms to which the tenant of a deposit agrees by paying now.
func (s *Service) terms(d *deposit.Deposit, of connect.Account, now time.Time) agreement.Terms {
	t := agreement.Terms{
		Company: of.CompanyName, Amount: d.Amount, Fee: deposit.Fee(d.Amount),
		Until: s.deps.Timers.CoverEnd(d.ContractEndAt, now).In(of.Zone()), Imprint: s.deps.Imprint,
	}
	if longest := s.deps.Timers.CoverMax; t.Until.Equal(now.Add(longest)) {
		t.Days = int(longest / (24 * time.Hour))
	}
	return t
}

// paidFee returns the fee that secured a deposit, and the time of that payment; zero for none.
func paidFee(payments []deposit.Payment) (money.Cents, time.Time) {
	for _, p := range payments {
		if p.Kind == deposit.PaymentKindFee && p.Status == deposit.PaymentSucceeded {
			return p.Amount, p.SettledAt
		}
	}
	return 0, time.Time{}
}

// show returns the view of the checkout after a step that leads to no page of the provider.
func (s *Service) show(ctx context.Context, token secret.Text, now time.Time) (NextPage, error) {
	v, err := s.view(ctx, token, now)
	return NextPage{View: v}, err
}
