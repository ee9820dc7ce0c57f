package checkout

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// Submit takes who the tenant is, has them scored, and leads to the provider's page. A double click or a second tab is
// led to the same page: one payment. A deposit that can no longer be secured is shown as it is.
//
// Returns deposit.ErrNotFound, what Person.Validate returns, or service_unavailable when scoring or the provider cannot
// be reached; a payment that was begun then stays processing, and the tenant may simply submit again.
func (s *Service) Submit(ctx context.Context, token secret.Text, p tenant.Person) (Next, error) {
	if err := p.Validate(); err != nil {
		return Next{}, err
	}
	now := s.deps.Clock.Now()
	d, err := s.start(ctx, token, now)
	if isOver(err) {
		return s.show(ctx, token, now)
	}
	if err != nil {
		return Next{}, err
	}
	accepted, err := s.accepts(ctx, d, p)
	if err != nil {
		return Next{}, err
	}
	if !accepted {
		if err := s.decline(ctx, d.ID, p, now); err != nil {
			return Next{}, err
		}
		return s.show(ctx, token, now)
	}
	page, err := s.openPage(ctx, d, &p, token, now)
	if isOver(err) {
		return s.show(ctx, token, now)
	}
	return Next{PageURL: page.URL}, err
}

// start notes that the tenant took a step; idleness counts from here.
//
// Returns deposit.ErrNotSecurable where the checkout is over.
func (s *Service) start(ctx context.Context, token secret.Text, now time.Time) (d *deposit.Deposit, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		if d, err = repos.Deposits.ForUpdateByToken(ctx, token); err != nil {
			return err
		}
		return markStarted(ctx, repos, d, now)
	})
	return d, err
}

func markStarted(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, now time.Time) error {
	if !open(d, now) {
		return deposit.ErrNotSecurable
	}
	d.CheckoutStartedAt, d.UpdatedAt = now, now
	return repos.Deposits.SetCheckout(ctx, d)
}

// accepts asks scoring about p, unless p is paying already: who pays was accepted.
func (s *Service) accepts(ctx context.Context, d *deposit.Deposit, p tenant.Person) (bool, error) {
	if samePerson(d.Client, p) {
		paying, err := s.feeUnderWay(ctx, d.ID)
		if err != nil {
			return false, err
		}
		if paying != nil {
			return true, nil
		}
	}
	return s.deps.Scoring.Assess(ctx, ports.Applicant{
		DepositID: d.ID, Amount: d.Amount, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName,
	})
}

// decline cancels the deposit of a tenant whom scoring refused. Where a payment was quicker the deposit is secured.
func (s *Service) decline(ctx context.Context, depositID id.ID, p tenant.Person, now time.Time) error {
	err := s.end(ctx, depositID, deposit.TenantDeclined, now, func(ctx context.Context, repos ports.Repositories, d *deposit.Deposit) error {
		if err := s.associate(ctx, repos, d, p, now); err != nil {
			return err
		}
		d.UpdatedAt = now
		return repos.Deposits.SetCheckout(ctx, d)
	})
	if isOver(err) {
		return nil
	}
	return err
}

// openPage begins a payment, or takes up the one under way, and opens its page. p is nil where nobody gave a name.
//
// Returns deposit.ErrNotSecurable where the checkout is over.
func (s *Service) openPage(ctx context.Context, d *deposit.Deposit, p *tenant.Person, token secret.Text, now time.Time) (ports.HostedPage, error) {
	payment, err := s.intend(ctx, d.ID, p, now)
	if err != nil {
		return ports.HostedPage{}, err
	}
	request := ports.HostedPayment{
		PaymentID: payment.ID, Amount: payment.Amount, Description: d.Reference, Locale: d.Locale, ReturnURL: s.returnURL(token),
	}
	if p != nil {
		request.Email, request.Locale = p.Email, p.Locale
	}
	page, err := s.deps.Provider.Open(ctx, request)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "payment page did not open", "payment", id.Payment.Of(payment.ID), "error", err)
		return page, err
	}
	s.noteRef(ctx, payment, page.Ref)
	return page, nil
}

// intend commits the intention to pay before the provider hears of it, so that no crash can lose a payment.
func (s *Service) intend(ctx context.Context, depositID id.ID, p *tenant.Person, now time.Time) (payment deposit.Payment, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		d, err := repos.Deposits.ForUpdate(ctx, depositID)
		if err != nil {
			return err
		}
		if p != nil {
			if err := s.associate(ctx, repos, d, *p, now); err != nil {
				return err
			}
		}
		if err := markStarted(ctx, repos, d, now); err != nil {
			return err
		}
		payment = deposit.Payment{
			ID: s.deps.Entropy.NewID(), DepositID: d.ID, Kind: deposit.FeePayment, Amount: deposit.Fee(d.Amount),
			Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now.Add(feePace(0)),
		}
		if err := repos.Payments.Insert(ctx, payment); !errors.Is(err, ports.ErrPaymentUnderWay) {
			return err
		}
		underWay, err := repos.Payments.UnderWay(ctx, d.ID, deposit.FeePayment)
		if err != nil {
			return err
		}
		if underWay == nil { // paid, and yet in checkout: the books contradict each other
			return fault.ErrInternal.Because(errors.New("checkout: a fee was paid and the deposit is not secured: " + d.Reference))
		}
		payment = *underWay
		return nil
	})
	return payment, err
}

// noteRef keeps the provider's reference while the payment is under way. It helps who looks into it; nothing hangs on it.
func (s *Service) noteRef(ctx context.Context, p deposit.Payment, ref string) {
	if p.ProviderRef == ref {
		return
	}
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		current, err := repos.Payments.UnderWay(ctx, p.DepositID, p.Kind)
		if err != nil || current == nil || current.ID != p.ID {
			return err
		}
		current.ProviderRef = ref
		return repos.Payments.Update(ctx, *current)
	})
	if err != nil {
		s.deps.Log.WarnContext(ctx, "payment reference not kept", "payment", id.Payment.Of(p.ID), "error", err)
	}
}

// associate makes p the deposit's client. A client with the same details is kept; otherwise p becomes a new client of
// the account (api.md §2), since the old record may belong to other deposits too. The deposit is left for the caller to
// store.
func (s *Service) associate(ctx context.Context, repos ports.Repositories, d *deposit.Deposit, p tenant.Person, now time.Time) error {
	if samePerson(d.Client, p) {
		return nil
	}
	c := tenant.Client{ID: s.deps.Entropy.NewID(), AccountID: d.AccountID, Person: p, CreatedAt: now}
	if err := repos.Clients.Insert(ctx, c); err != nil {
		return err
	}
	d.ClientID = c.ID
	d.Client = &deposit.Client{ID: c.ID, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName}
	return nil
}

func samePerson(c *deposit.Client, p tenant.Person) bool {
	return c != nil && mailaddr.Normal(c.Email) == mailaddr.Normal(p.Email) && c.FirstName == p.FirstName && c.LastName == p.LastName
}
