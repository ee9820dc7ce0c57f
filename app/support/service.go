// Package support finds records for support staff, by the identifiers that a partner, an operator or a tenant may
// mention. No result contains a secret, a checkout token or a body.
package support

import (
	"context"
	"errors"
	"strings"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

type Deps struct {
	Deposits      depositports.DepositStore
	Clients       partnerports.ClientStore
	Events        webhookports.EventStore
	Deliveries    webhookports.DeliveryStore
	Subscriptions webhookports.SubscriptionStore
	Audit         ports.AuditLog
	Payments      paymentports.PaymentStore
	Operators     accountports.OperatorStore
	Links         accountports.PartnerLinkStore
	Partners      partnerports.PartnerStore
	Agreements    depositports.AgreementStore
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

const (
	MaxListedClients      = 20
	MaxListedDeposits     = 20
	MaxListedDeliveries   = 50
	MaxListedAuditEntries = 100
)

const ExportPageSize = 1000

// DepositRecord is a deposit with its history for support staff.
type DepositRecord struct {
	*deposit.Deposit
	Partner    partner.Partner // The partner of the deposit; zero if there is none.
	History    []deposit.Transition
	Payments   []deposit.Payment
	Agreements []agreement.Record
	Deliveries []webhook.Delivery // The newest webhook deliveries about the deposit, at most MaxListedDeliveries.
}

// FindDeposit finds a deposit by its id or its reference, also in small letters and without dashes.
//
// Returns deposit_not_found.
func (s *Service) FindDeposit(ctx context.Context, name string) (d DepositRecord, err error) {
	if depositID, ok := id.Deposit.Parse(name); ok {
		d.Deposit, err = s.deps.Deposits.Deposit(ctx, depositID)
	} else {
		reference, _ := deposit.ParseReference(name)
		d.Deposit, err = s.deps.Deposits.DepositByReference(ctx, reference)
	}
	if err != nil {
		return DepositRecord{}, err
	}
	if d.Partner, err = s.partner(ctx, d.PartnerID); err != nil {
		return DepositRecord{}, err
	}
	if d.History, err = s.deps.Deposits.History(ctx, d.ID); err != nil {
		return DepositRecord{}, err
	}
	if d.Payments, err = s.deps.Payments.Payments(ctx, d.ID); err != nil {
		return DepositRecord{}, err
	}
	if d.Agreements, err = s.deps.Agreements.Agreements(ctx, d.ID); err != nil {
		return DepositRecord{}, err
	}
	d.Deliveries, err = s.deps.Deliveries.DeliveriesOfDeposit(ctx, d.ID, MaxListedDeliveries)
	return d, err
}

func (s *Service) partner(ctx context.Context, partnerID id.ID) (partner.Partner, error) {
	if partnerID.IsZero() {
		return partner.Partner{}, nil
	}
	return s.deps.Partners.PartnerByID(ctx, partnerID)
}

// FindAccountID finds an account by its id, or its operator's id or address, or, with a partner's slug, the
// partner's own id of the operator.
//
// Returns account_not_found or partner_not_found.
func (s *Service) FindAccountID(ctx context.Context, name, partnerSlug string) (id.ID, error) {
	if accountID, ok := id.Account.Parse(name); ok {
		return accountID, nil
	}
	if operatorID, ok := id.Operator.Parse(name); ok {
		return s.deps.Operators.AccountIDOfOperator(ctx, operatorID)
	}
	if partnerSlug != "" {
		return s.accountOfExternalID(ctx, name, partnerSlug)
	}
	_, account, err := s.deps.Operators.OperatorByEmail(ctx, strings.TrimSpace(name))
	// The error means that no operator has the e-mail address.
	if errors.Is(err, connect.ErrBadCredentials) {
		err = connect.ErrAccountNotFound
	}
	return account.ID, err
}

func (s *Service) accountOfExternalID(ctx context.Context, externalID, slug string) (id.ID, error) {
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return id.ID{}, err
	}
	links, err := s.deps.Links.LinkedAccounts(ctx, p.ID, accountports.PartnerLinkFilter{ExternalID: externalID},
		ports.Page{Limit: 1})
	if err == nil && len(links.Items) == 0 {
		err = connect.ErrAccountNotFound
	}
	if err != nil {
		return id.ID{}, err
	}
	return links.Items[0].AccountID, nil
}

// ClientRecord is a tenant's record with the newest deposits.
type ClientRecord struct {
	tenant.Client
	CompanyName string
	// The partner that created the tenant's record; zero for a record from the checkout or the operators' pages.
	Partner  partner.Partner
	Deposits []*deposit.Deposit
}

// FindClients finds a client by id, or the newest MaxListedClients with an e-mail address; an erased one by id
// alone.
//
// Returns client_not_found.
func (s *Service) FindClients(ctx context.Context, name string) ([]ClientRecord, error) {
	var records []tenant.Client
	if clientID, ok := id.Client.Parse(name); ok {
		one, err := s.deps.Clients.ClientByID(ctx, clientID)
		if err != nil {
			return nil, err
		}
		records = []tenant.Client{one}
	} else {
		found, err := s.deps.Clients.ClientsByEmail(ctx, strings.TrimSpace(name), MaxListedClients)
		if err != nil {
			return nil, err
		}
		records = found
	}
	if len(records) == 0 {
		return nil, tenant.ErrNotFound
	}
	all := make([]ClientRecord, len(records))
	for i, record := range records {
		account, _, err := s.deps.Operators.AccountByID(ctx, record.AccountID)
		if err != nil {
			return nil, err
		}
		all[i] = ClientRecord{Client: record, CompanyName: account.CompanyName}
		if all[i].Partner, err = s.partner(ctx, record.PartnerID); err != nil {
			return nil, err
		}
		list, err := s.deps.Deposits.Deposits(ctx, depositports.DepositFilter{ClientID: record.ID},
			ports.Page{Limit: MaxListedDeposits})
		if err != nil {
			return nil, err
		}
		all[i].Deposits = list.Items
	}
	return all, nil
}
