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

// Submit takes the tenant's details and agreement, has the tenant scored, and returns the provider's payment
// page. A double click or a second tab gets the page of the same payment. A deposit that can no longer be secured
// is shown as it is. If the client is erased meanwhile, none of the tenant's details is stored, and the form is
// shown again, empty. The agreement is stored with the payment that it allows.
//
// Returns deposit.ErrNotFound, the errors of tenant.Person.Validate and agreement.Terms.Accept, or
// service_unavailable when scoring or the provider cannot be reached; a payment that was begun then stays
// processing, and the tenant may submit again.
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

// start records that the tenant has begun the checkout of a deposit.
//
// Returns deposit.ErrNotSecurable when the checkout has ended.
func (s *Service) start(ctx context.Context, token secret.Text, now time.Time) (d *deposit.Deposit, err error) {
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if d, err = s.deps.Deposits.LockRowByToken(ctx, token); err != nil {
			return err
		}
		return s.deps.Journal.RecordCheckoutStep(ctx, d, now)
	})
	return d, err
}

// accepts reports whether scoring accepts the tenant with the details p. A tenant whose payment is in flight was
// accepted before and is not scored again, unless the partner has changed the client's details since, as scoring
// has not seen the new ones.
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

// acceptedBefore reports whether scoring has already accepted the deposit's client. true: a payment is in
// flight and the partner has not changed the client since; else false. changedAt is the partner's last change
// of the client, zero for none.
func acceptedBefore(paying bool, changedAt time.Time) bool { return paying && changedAt.IsZero() }

// decline cancels the deposit of a tenant whom scoring refused, unless the tenant's payment succeeded first.
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

// errErasedMeanwhile stops a submission whose client was erased after the submission began: the form may have
// been filled from the client's record, so its details must not be stored.
var errErasedMeanwhile = errors.New("checkout: the client was erased while the form was on its way")

// withClient returns a function that makes the tenant p the deposit's client; the caller stores the deposit.
// Details that differ from the present client's become a new client of the account, since other deposits may
// use the old record (api.md §2). The present client cannot be erased before the transaction ends. begun is
// the deposit as it was when the submission began.
//
// The returned function returns errErasedMeanwhile.
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

// hasClient reports whether a form was begun with the record of a client, which must then still exist: the
// deposit's present client, or the client from whose record the form may have been filled. begun is the deposit
// as it was when the submission began.
func hasClient(d, begun *deposit.Deposit) bool {
	return d.Client != nil || (begun.Client != nil && begun.ClientID == d.ClientID)
}

// newClient returns the record of a tenant who gave new details in the checkout. A record of a deposit that a
// partner created belongs to that partner.
func newClient(clientID id.ID, d *deposit.Deposit, p tenant.Person, now time.Time) tenant.Client {
	c := tenant.Client{ID: clientID, AccountID: d.AccountID, Person: p, CreatedAt: now}
	if d.ByPartnerAPI {
		c.PartnerID = d.PartnerID
	}
	return c
}

// withAgreement returns a function that runs setClient and then stores the record of the tenant's agreement,
// in the transaction of the payment. A payment in flight keeps its record of the same words.
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

// begunAt returns the time at which the payment in flight was begun; zero for none.
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
