package checkout

import (
	"context"
	"time"

	"partnerdeposits/app/internal/lifecycle"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// Submit takes the tenant's details, has the tenant scored, and gives the provider's page. A double click or a second tab
// gets the page of the same payment. A deposit that can no longer be secured is shown as it is.
//
// Returns deposit.ErrNotFound, the errors of tenant.Person.Validate, or service_unavailable when scoring or the provider
// cannot be reached; a payment that was begun then stays processing, and the tenant may submit again.
func (s *Service) Submit(ctx context.Context, token secret.Text, p tenant.Person) (Next, error) {
	if err := p.Validate(); err != nil {
		return Next{}, err
	}
	now := s.deps.Clock.Now()
	d, err := s.start(ctx, token, now)
	if lifecycle.CheckoutOver(err) {
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
	url, err := s.deps.Payments.OpenFeePage(ctx, d, token, &p, s.withClient(p, now), now)
	if lifecycle.CheckoutOver(err) {
		return s.show(ctx, token, now)
	}
	return Next{PageURL: url}, err
}

// start records the tenant's step.
//
// Returns deposit.ErrNotSecurable when the checkout has ended.
func (s *Service) start(ctx context.Context, token secret.Text, now time.Time) (d *deposit.Deposit, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		if d, err = repos.Deposits.ForUpdateByToken(ctx, token); err != nil {
			return err
		}
		return lifecycle.StartCheckout(ctx, repos, d, now)
	})
	return d, err
}

// accepts asks scoring about p. A person whose payment is in flight was accepted before and is not scored again.
func (s *Service) accepts(ctx context.Context, d *deposit.Deposit, p tenant.Person) (bool, error) {
	if samePerson(d.Client, p) {
		paying, err := s.deps.Payments.FeeInFlight(ctx, d.ID)
		if err != nil || paying {
			return paying, err
		}
	}
	return s.deps.Scoring.Assess(ctx, ports.Applicant{
		DepositID: d.ID, Amount: d.Amount, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName,
	})
}

// decline cancels the deposit of a tenant whom scoring refused, unless a payment succeeded first.
func (s *Service) decline(ctx context.Context, depositID id.ID, p tenant.Person, now time.Time) error {
	setClient := s.withClient(p, now)
	err := s.deps.Payments.EndCheckout(ctx, depositID, deposit.TenantDeclined, func(ctx context.Context, repos ports.Repositories, d *deposit.Deposit) error {
		if err := setClient(ctx, repos, d); err != nil {
			return err
		}
		d.UpdatedAt = now
		return repos.Deposits.SetCheckout(ctx, d)
	}, now)
	if lifecycle.CheckoutOver(err) {
		return nil
	}
	return err
}

// withClient makes p the deposit's client and leaves it to the caller to store the deposit. Other details than the present
// client's become a new client of the account, since other deposits may use the old client record (api.md §2).
func (s *Service) withClient(p tenant.Person, now time.Time) lifecycle.Prepare {
	return func(ctx context.Context, repos ports.Repositories, d *deposit.Deposit) error {
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
}

func samePerson(c *deposit.Client, p tenant.Person) bool {
	return c != nil && mailaddr.Normal(c.Email) == mailaddr.Normal(p.Email) && c.FirstName == p.FirstName && c.LastName == p.LastName
}
