package checkout

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
)

// Submit takes the tenant's details and agreement, has the tenant scored, and returns the provider's payment page,
// the same page for a double click. A deposit that cannot be secured is shown as it is. If the client is erased
// meanwhile, the form is shown again, empty.
//
// Returns deposit.ErrNotFound, the errors of tenant.Person.Validate and agreement.Terms.Accept, or
// service_unavailable; a payment that was begun then stays processing.
func (s *Service) Submit(ctx context.Context, token secret.Text, p tenant.Person,
	given agreement.SubmittedForm) (NextPage, error) {
	if err := p.Validate(); err != nil {
		return NextPage{}, err
	}
	now := s.deps.Clock.Now()
	v, err := s.view(ctx, token, now)
	if err != nil || !v.Open {
		return NextPage{View: v}, err
	}
	words, err := v.Terms.Accept(given)
	if err != nil {
		return NextPage{}, err
	}
	d, err := s.start(ctx, token, now)
	if lifecycle.IsCheckoutOverError(err) {
		return s.show(ctx, token, now)
	}
	if err != nil {
		return NextPage{}, err
	}
	accepted, err := s.accepts(ctx, d, p)
	if err != nil {
		return NextPage{}, err
	}
	if !accepted {
		if err := s.decline(ctx, d, p, now); err != nil && !errors.Is(err, errErasedMeanwhile) {
			return NextPage{}, err
		}
		return s.show(ctx, token, now)
	}
	agreed := agreement.Record{
		ID: s.deps.Entropy.NewID(), DepositID: d.ID, Version: agreement.Version, Locale: given.Locale, Words: words, At: now,
		Origin: given.Origin,
	}
	url, err := s.deps.Payments.OpenFeePage(ctx, d, token, &p, s.withAgreement(agreed, s.withClient(d, p, now)), now)
	if lifecycle.IsCheckoutOverError(err) || errors.Is(err, errErasedMeanwhile) {
		return s.show(ctx, token, now)
	}
	return NextPage{PageURL: url}, err
}

// start records that the checkout of a deposit has begun, or returns deposit.ErrNotSecurable.
func (s *Service) start(ctx context.Context, token secret.Text, now time.Time) (d *deposit.Deposit, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if d, err = s.deps.Deposits.LockRowByToken(ctx, token); err != nil {
			return err
		}
		return s.deps.Journal.RecordCheckoutStep(ctx, d, now)
	})
	return d, err
}

// accepts reports whether scoring accepts the tenant. A tenant whose payment is in flight is not scored again,
// unless the partner has changed the client since.
func (s *Service) accepts(ctx context.Context, d *deposit.Deposit, p tenant.Person) (bool, error) {
	if samePerson(d.Client, p) {
		paying, err := s.deps.Payments.HasFeeInFlight(ctx, d.ID)
		if err != nil {
			return false, err
		}
		changedAt, err := s.deps.Clients.ClientChangedAt(ctx, d.ClientID)
		if err != nil {
			return false, err
		}
		if acceptedBefore(paying, changedAt) {
			return true, nil
		}
	}
	return s.deps.Scoring.Assess(ctx, depositports.Applicant{
		DepositID: d.ID, Amount: d.Amount, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName,
	})
}

// acceptedBefore reports whether a payment is in flight and the partner has not changed the client since. changedAt
// is zero for no change.
func acceptedBefore(paying bool, changedAt time.Time) bool { return paying && changedAt.IsZero() }

// decline cancels a deposit whose tenant scoring refused, unless the payment succeeded first.
func (s *Service) decline(ctx context.Context, begun *deposit.Deposit, p tenant.Person, now time.Time) error {
	setClient := s.withClient(begun, p, now)
	err := s.deps.Payments.EndCheckout(ctx, begun.ID, deposit.TriggerTenantDeclined,
		func(ctx context.Context, d *deposit.Deposit) error {
			if err := setClient(ctx, d); err != nil {
				return err
			}
			d.UpdatedAt = now
			return s.deps.Deposits.StoreCheckoutProgress(ctx, d)
		}, now)
	if lifecycle.IsCheckoutOverError(err) {
		return nil
	}
	return err
}

// errErasedMeanwhile stops a submission whose client was erased meanwhile: the form may hold details from the
// client's record.
var errErasedMeanwhile = errors.New("checkout: the client was erased while the form was on its way")

// withClient returns a function that makes the tenant the deposit's client, or returns errErasedMeanwhile. Changed
// details become a new client, since other deposits may use the old record (api.md §2).
func (s *Service) withClient(begun *deposit.Deposit, p tenant.Person, now time.Time) lifecycle.PrepareDepositFunc {
	return func(ctx context.Context, d *deposit.Deposit) error {
		if hasClient(d, begun) {
			known, err := s.deps.Clients.LockRowShared(ctx, d.AccountID, d.ClientID)
			if errors.Is(err, tenant.ErrNotFound) {
				return errErasedMeanwhile
			}
			if err != nil {
				return err
			}
			d.Client = &deposit.ClientDetails{ID: known.ID, Email: known.Email, FirstName: known.FirstName,
				LastName: known.LastName}
		}
		if samePerson(d.Client, p) {
			return nil
		}
		c := newClient(s.deps.Entropy.NewID(), d, p, now)
		if err := s.deps.Clients.Insert(ctx, c); err != nil {
			return err
		}
		d.ClientID = c.ID
		d.Client = &deposit.ClientDetails{ID: c.ID, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName}
		return nil
	}
}

// hasClient reports whether the form of a checkout may hold details of a client's record, which must then still
// exist.
func hasClient(d, begun *deposit.Deposit) bool {
	return d.Client != nil || (begun.Client != nil && begun.ClientID == d.ClientID)
}

// newClient returns a client with the tenant's new details, which belongs to the deposit's partner.
func newClient(clientID id.ID, d *deposit.Deposit, p tenant.Person, now time.Time) tenant.Client {
	c := tenant.Client{ID: clientID, AccountID: d.AccountID, Person: p, CreatedAt: now}
	if d.ByPartnerAPI {
		c.PartnerID = d.PartnerID
	}
	return c
}

// withAgreement returns a function that runs setClient and stores the tenant's agreement. A payment in flight keeps
// its record of the same words.
func (s *Service) withAgreement(agreed agreement.Record,
	setClient lifecycle.PrepareDepositFunc) lifecycle.PrepareDepositFunc {
	return func(ctx context.Context, d *deposit.Deposit) error {
		if err := setClient(ctx, d); err != nil {
			return err
		}
		inFlight, err := s.deps.Payments.LockFeeInFlight(ctx, d.ID)
		if err != nil {
			return err
		}
		agreed.ClientID = d.ClientID
		return s.deps.Agreements.Store(ctx, agreed, begunAt(inFlight))
	}
}

// begunAt returns the time at which a payment was begun; zero for nil.
func begunAt(inFlight *deposit.Payment) time.Time {
	if inFlight == nil {
		return time.Time{}
	}
	return inFlight.CreatedAt
}

func samePerson(c *deposit.ClientDetails, p tenant.Person) bool {
	return c != nil && mailaddr.Normalized(c.Email) == mailaddr.Normalized(p.Email) && c.FirstName == p.FirstName &&
		c.LastName == p.LastName
}
