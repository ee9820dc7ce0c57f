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

// View holds what the tenant sees of a deposit in the checkout, with times in the account's time zone.
type View struct {
	Deposit     *deposit.Deposit
	CompanyName string
	Operator    string // The company with its contact, by which pages refer tenants to the operator.
	Contact     string // The operator's contact for tenants; "" for none.
	Fee         money.Cents
	Person      tenant.Person // The details of the deposit's client; empty for none.
	Open        bool          // Open reports whether the tenant can still secure the deposit.
	// Expired reports whether the deposit was not secured in time, even before the timer cancels it.
	Expired bool
	// StayOver reports whether the stay ended before the deposit was secured and the timer has not cancelled it yet.
	StayOver bool
	// PaymentInFlight reports whether a payment page is open or the result of a payment is unknown.
	PaymentInFlight bool

	// The terms to which the tenant agrees by paying now.
	Terms      agreement.Terms
	CoversStay bool // CoversStay reports whether the cover lasts until the end of the stay.
	// The fee that was paid and the time of its payment; zero for none.
	PaidFee money.Cents
	PaidAt  time.Time
	Debt    *deposit.Debt // The debt of a captured deposit; nil for none.
	// The reason and the description of the capture; "" for none.
	Reason, Words string
}

func (v View) DebtPayable() bool {
	return v.Debt != nil && v.Debt.State == deposit.CollectionAwaitingTenant && v.Debt.CancelAt.IsZero()
}

// ReturnOutcome returns the outcome that the partner receives with a tenant who leaves the checkout now.
func (v View) ReturnOutcome() deposit.CheckoutOutcome { return v.Deposit.CheckoutOutcome() }

// NextPage is the page that follows a tenant's step in the checkout.
type NextPage struct {
	PageURL string // The URL of the provider's page; "" when a page of this service follows.
	View    View
}

// CheckoutView returns the checkout of a token, or deposit.ErrNotFound.
func (s *Service) CheckoutView(ctx context.Context, token secret.Text) (View, error) {
	return s.view(ctx, token, s.deps.Clock.Now())
}

// RecordLinkOpened records that a mailed link was opened; the mails to its address no longer count against the
// sender's limit (api.md §2, "Mails with the link"). An unknown mark changes nothing.
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
		debt, err := s.deps.Debts.FindDebt(ctx, d.ID)
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

// viewOf returns the part of the checkout's view that follows from the deposit and account alone.
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

// terms returns the terms to which the tenant agrees by paying now.
func (s *Service) terms(d *deposit.Deposit, of connect.Account, now time.Time) agreement.Terms {
	t := agreement.Terms{
		Company: of.CompanyName, Amount: d.Amount, Fee: deposit.Fee(d.Amount),
		Until: s.deps.Timers.CoverEndTime(d.ContractEndAt, now).In(of.Zone()), Imprint: s.deps.Imprint,
	}
	if longest := s.deps.Timers.CoverMax; t.Until.Equal(now.Add(longest)) {
		t.Days = int(longest / (24 * time.Hour))
	}
	return t
}

// paidFee returns the fee that secured a deposit and the time of its payment; zero for none.
func paidFee(payments []deposit.Payment) (money.Cents, time.Time) {
	for _, p := range payments {
		if p.Kind == deposit.PaymentKindFee && p.Status == deposit.PaymentSucceeded {
			return p.Amount, p.SettledAt
		}
	}
	return 0, time.Time{}
}

// show returns the view after a step of the checkout that leads to no page of the provider.
func (s *Service) show(ctx context.Context, token secret.Text, now time.Time) (NextPage, error) {
	v, err := s.view(ctx, token, now)
	return NextPage{View: v}, err
}
