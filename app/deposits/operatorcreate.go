package deposits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// OperatorDeposit is an operator's request to create a deposit.
type OperatorDeposit struct {
	deposit.Draft
	// The tenant of the deposit; with Email "" no mail is sent, and a name is refused.
	Tenant tenant.Person
	Form   [16]byte // The form's key: a second sending has no second effect.
}

func (by OperatorCaller) DepositCeiling() money.Cents {
	return cmp.Or(by.Account.MaxAmountCents, deposit.DefaultMaxAmount)
}

// named reports whether the request names the tenant; only then does the deposit get a client.
func (in OperatorDeposit) named() bool { return in.Tenant.FirstName != "" || in.Tenant.LastName != "" }

func (in OperatorDeposit) validate(ceiling money.Cents, now time.Time) error {
	if err := in.Validate(ceiling, now); err != nil {
		return err
	}
	if in.named() {
		return in.Tenant.Validate()
	}
	if in.Tenant.Email != "" {
		return tenant.MailContact{Email: in.Tenant.Email, Locale: in.Tenant.Locale}.Validate("")
	}
	return nil
}

// CreateByOperator makes a pending deposit, and mails the checkout link if the request has an address. The partner
// that is linked now may read the deposit (api.md §2).
//
// Returns connect.ErrEmailUnverified, rate_limited, the errors of deposit.Draft.Validate and
// tenant.Person.Validate, and those of idempotent.Executor.Run.
func (s *Service) CreateByOperator(ctx context.Context, by OperatorCaller,
	in OperatorDeposit) (depositID id.ID, err error) {
	if err := s.mayCreate(by, in); err != nil {
		return id.ID{}, err
	}
	now := s.deps.Clock.Now()
	response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, in.Form,
			[]string{"create", in.Amount.String(), deposit.FormatTimestamp(in.ContractStartAt),
				deposit.FormatTimestamp(in.ContractEndAt),
				in.RentalContract, in.Tenant.Email, in.Tenant.FirstName, in.Tenant.LastName}),
		Now:     now,
		Prepare: func(context.Context) error { return in.validate(by.DepositCeiling(), now) },
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			origin, err := s.originOf(ctx, by)
			if err != nil {
				return idempotent.Response{}, err
			}
			client, err := s.newClient(ctx, by, in, now)
			if err != nil {
				return idempotent.Response{}, err
			}
			token := secret.FromRandom("", s.deps.Entropy.Bytes(checkoutTokenBytes))
			d, err := s.insert(ctx, origin, in.Draft, client, token, now)
			if err != nil {
				return idempotent.Response{}, err
			}
			amount := map[string]string{"amount": d.Amount.String()}
			if err := s.deps.Audit.Append(ctx, s.audit(by, now, audit.DepositCreate, d.ID, amount)); err != nil {
				return idempotent.Response{}, err
			}
			if in.Tenant.Email == "" {
				return formResponse(d.ID), nil
			}
			return formResponse(d.ID), s.mailLink(ctx, by, d, s.checkoutURL(token), tenant.MailContact{Email: in.Tenant.Email},
				now)
		},
	})
	if err != nil {
		return id.ID{}, err
	}
	if !response.Replayed {
		s.deps.Metrics.CountCreated(depositports.AuthorOperator)
	}
	depositID, ok := id.Deposit.Parse(string(response.Body))
	if !ok {
		return id.ID{}, fmt.Errorf("deposits: the stored response of a form names no deposit")
	}
	return depositID, nil
}

// mayCreate returns connect.ErrEmailUnverified for a request to mail the link by an operator with an unverified
// address.
func (s *Service) mayCreate(by OperatorCaller, in OperatorDeposit) error {
	if in.Tenant.Email == "" {
		return nil
	}
	return s.verified(by, ActSendLink)
}

func (s *Service) originOf(ctx context.Context, by OperatorCaller) (deposit.Origin, error) {
	link, err := s.deps.Links.LockActiveLink(ctx, by.Account.ID)
	return originOnDesk(by.Account.ID, link), err
}

// originOnDesk returns the origin of an operator's deposit: the account and the linked partner; link is nil for
// none.
func originOnDesk(accountID id.ID, link *connect.Link) deposit.Origin {
	origin := deposit.Origin{AccountID: accountID}
	if link != nil {
		origin.PartnerID, origin.ExternalID = link.PartnerID, link.ExternalID
	}
	return origin
}

// newClient stores the tenant whom the request names as a client; nil for none.
func (s *Service) newClient(ctx context.Context, by OperatorCaller, in OperatorDeposit,
	now time.Time) (*deposit.ClientDetails, error) {
	if !in.named() {
		return nil, nil //nolint:nilnil // a deposit needs no client
	}
	c := tenant.Client{ID: s.deps.Entropy.NewID(), AccountID: by.Account.ID, Person: in.Tenant, CreatedAt: now}
	if err := s.deps.Clients.Insert(ctx, c); err != nil {
		return nil, err
	}
	return &deposit.ClientDetails{ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName}, nil
}

// insert stores a new deposit under a free random reference.
func (s *Service) insert(ctx context.Context, from deposit.Origin, draft deposit.Draft, client *deposit.ClientDetails,
	token secret.Text, now time.Time) (*deposit.Deposit, error) {
	depositID := s.deps.Entropy.NewID()
	for range referenceTries {
		d := deposit.New(depositID, deposit.NewReference(s.deps.Entropy.Bytes(deposit.ReferenceBytes)), from, draft, client,
			now)
		err := s.deps.Deposits.Insert(ctx, d, token)
		if !errors.Is(err, ports.ErrReferenceTaken) {
			return d, err
		}
	}
	return nil, fmt.Errorf("deposits: %d references in a row were taken", referenceTries)
}
