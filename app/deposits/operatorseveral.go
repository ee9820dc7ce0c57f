package deposits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

// BulkAct is an act of an operator on several deposits at once.
type BulkAct string

const (
	ActSendLinks BulkAct = "send_links"
	// ActRemindTenants mails the tenants of refused payments.
	ActRemindTenants BulkAct = "remind_all"
)

// BulkActs lists every act of an operator on several deposits at once.
var BulkActs = []BulkAct{ActSendLinks, ActRemindTenants}

// possible checks whether the act is possible on the deposit; debt is nil unless captured.
//
// Returns deposit_not_sendable, or the errors of a reminder to pay.
func (a BulkAct) possible(d *deposit.Deposit, debt *deposit.Debt, now time.Time) error {
	if a == ActRemindTenants && d.Status != deposit.PaymentIssue {
		return ActRemind.CheckPossible(d, debt, now)
	}
	return d.CheckLinkSendable(now)
}

// MailSkipReason is the reason for which an act on several deposits mails no tenant.
type MailSkipReason string

const (
	MailSkippedNoAddress MailSkipReason = "no_address" // The deposit has no e-mail address of a tenant.
	// The tenant was reminded within the last 24 hours.
	MailSkippedRemindedRecently MailSkipReason = "reminded"
	// The tenant has nothing to secure or to pay.
	MailSkippedNothingAwaited MailSkipReason = "over"
	// The limit of mails to the tenant's address is reached.
	MailSkippedAddressLimit MailSkipReason = "address_limit"
	// The limit of mails of the account is reached.
	MailSkippedAccountLimit MailSkipReason = "account_limit"
)

// whyLeftOut returns the reason for which a tenant gets no mail; "" for an error that is no refusal.
func whyLeftOut(err error) MailSkipReason {
	switch {
	case errors.Is(err, deposit.ErrNobodyToRemind):
		return MailSkippedNoAddress
	case errors.Is(err, deposit.ErrRemindedRecently):
		return MailSkippedRemindedRecently
	case errors.Is(err, fault.ErrRateLimited):
		return MailSkippedAddressLimit
	case fault.KindOf(err) == fault.Conflict:
		return MailSkippedNothingAwaited
	}
	return ""
}

// SelectedDeposit is one deposit of an act on several; Debt is nil unless it is captured.
type SelectedDeposit struct {
	*deposit.Deposit
	Debt *deposit.Debt
	Left MailSkipReason // The reason for which the tenant gets no mail; "" when the tenant is mailed.
}

// BulkOutcome is the result of an act for one of several deposits.
type BulkOutcome struct {
	Deposit string         `json:"deposit"`
	Left    MailSkipReason `json:"left,omitempty"`
}

// ErrNobodyMailed is the error of an act on several deposits for which no tenant can be mailed.
var ErrNobodyMailed = errors.New("deposits: nobody is mailed")

// FindByIDs returns deposits of the account in the order of the ids, or deposit_not_found.
func (s *Service) FindByIDs(ctx context.Context, by OperatorCaller, ids []id.ID) ([]SelectedDeposit, error) {
	return s.ticked(ctx, ids, func(depositID id.ID) (*deposit.Deposit, error) {
		d, err := s.deps.Deposits.Deposit(ctx, depositID)
		if err != nil {
			return nil, err
		}
		return d, owned(d, by.Account.ID)
	})
}

func (s *Service) ticked(ctx context.Context, ids []id.ID, read func(id.ID) (*deposit.Deposit,
	error)) ([]SelectedDeposit,
	error) {
	list := make([]SelectedDeposit, len(ids))
	for i, depositID := range ids {
		d, err := read(depositID)
		if err != nil {
			return nil, err
		}
		list[i].Deposit = d
	}
	debts, err := s.deps.Collections.Debts(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, depositID := range ids {
		if debt, known := debts[depositID]; known {
			list[i].Debt = &debt
		}
	}
	return list, nil
}

// PlanTenantMails decides which tenants an act would mail now, and sets the reason for the others. A planned mail
// counts towards the limits of those after it in list.
func (s *Service) PlanTenantMails(ctx context.Context, by OperatorCaller, act BulkAct, list []SelectedDeposit) error {
	now := s.deps.Clock.Now()
	// The query for the mails already sent needs a transaction.
	_, err := s.deps.Idempotent.Run(ctx, idempotent.Request{Now: now,
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			return idempotent.Response{}, s.plan(ctx, by, act, list, now)
		}})
	return err
}

func (s *Service) plan(ctx context.Context, by OperatorCaller, act BulkAct, list []SelectedDeposit,
	now time.Time) error {
	var addresses []string
	for _, d := range list {
		if d.Client != nil {
			addresses = append(addresses, d.Client.Email)
		}
	}
	sent, err := s.deps.Mails.SentTo(ctx, by.Account.ID, addresses, now.Add(-deposit.LinkMailWindow))
	if err != nil {
		return err
	}
	for i := range list {
		err := s.mayMailTicked(ctx, act, list[i], sent, now)
		if list[i].Left = whyLeftOut(err); err != nil && list[i].Left == "" {
			return err
		}
	}
	return nil
}

// mayMailTicked checks whether the tenant of a deposit may be mailed; sent counts the allowed mails.
//
// Returns the errors of possible, deposit.ErrNobodyToRemind, and rate_limited after too many mails to the address.
func (s *Service) mayMailTicked(ctx context.Context, act BulkAct, d SelectedDeposit, sent deposit.LinkMailsByMailbox,
	now time.Time) error {
	if err := act.possible(d.Deposit, d.Debt, now); err != nil {
		return err
	}
	if d.Client == nil {
		return deposit.ErrNobodyToRemind
	}
	email := d.Client.Email
	// A reminder of a debt is also limited to one a day for each deposit.
	if d.Debt == nil {
		ofDeposit, err := s.deps.Mails.CheckoutLinkMails(ctx, d.ID, now.Add(-deposit.LinkMailWindow), deposit.MaxLinkMails)
		if err != nil {
			return err
		}
		if err := deposit.CheckLinkMails(ofDeposit, []string{email}, emailField, now); err != nil {
			return err
		}
	}
	return sent.CountMail(email, emailField(0), now)
}

// BulkForm is the form of an act on several deposits; a second sending has no second effect.
type BulkForm struct {
	Act BulkAct
	IDs []id.ID // The ids of the deposits that the operator selected, each once.
	Key [16]byte
}

// MailTenants mails the tenants of several deposits in a single transaction, and returns the outcome for each. count
// counts a mail against the account's limit; when it refuses one, all further deposits are left out.
//
// Returns connect.ErrEmailUnverified, deposit_not_found, ErrNobodyMailed, the refusal of count for the first mail,
// and the errors of idempotent.Executor.Run.
func (s *Service) MailTenants(ctx context.Context, by OperatorCaller, form BulkForm,
	count func() error) (outcome []BulkOutcome, err error) {
	if err := s.verified(by, ActSendLink); err != nil {
		return nil, err
	}
	what := []string{string(form.Act)}
	for _, depositID := range form.IDs {
		what = append(what, id.Deposit.Of(depositID))
	}
	now := s.deps.Clock.Now()
	response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, form.Key, what), Now: now,
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			list, err := s.lockSeveral(ctx, by, form, now)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := s.mailAll(ctx, by, list, count, now); err != nil {
				return idempotent.Response{}, err
			}
			body, err := json.Marshal(outcomeOf(list))
			return idempotent.Response{Body: body}, err
		},
	})
	if err != nil {
		return nil, err
	}
	return outcome, json.Unmarshal(response.Body, &outcome)
}

// lockSeveral locks a form's deposits and their tenants' mailboxes, and decides whom the act mails.
func (s *Service) lockSeveral(ctx context.Context, by OperatorCaller, form BulkForm, now time.Time) ([]SelectedDeposit,
	error) {
	locked := map[id.ID]*deposit.Deposit{}
	// The order of the ids keeps two forms from waiting for one another.
	for _, depositID := range slices.SortedFunc(slices.Values(form.IDs), compareIDs) {
		d, err := s.lockOwned(ctx, by, depositID)
		if err != nil {
			return nil, err
		}
		locked[depositID] = d
	}
	list, err := s.ticked(ctx, form.IDs, func(depositID id.ID) (*deposit.Deposit, error) {
		return locked[depositID], nil
	})
	if err != nil {
		return nil, err
	}
	return list, s.plan(ctx, by, form.Act, list, now)
}

func compareIDs(a, b id.ID) int { return bytes.Compare(a[:], b[:]) }

// mailAll mails the tenants of the locked deposits that are not left out.
func (s *Service) mailAll(ctx context.Context, by OperatorCaller, list []SelectedDeposit, count func() error,
	now time.Time) error {
	var ids []id.ID
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	tokens, err := s.deps.Deposits.CheckoutTokens(ctx, ids)
	if err != nil {
		return err
	}
	mailed := 0
	var limit error
	for i := range list {
		d := &list[i]
		if d.Left != "" {
			continue
		}
		if limit == nil {
			limit = count()
		}
		if limit != nil {
			d.Left = MailSkippedAccountLimit
			continue
		}
		token, ok := tokens[d.ID]
		if !ok {
			return fmt.Errorf("deposits: %s has no checkout token", id.Deposit.Of(d.ID))
		}
		if d.Left, err = s.mailTicked(ctx, by, *d, s.checkoutURL(token), now); err != nil {
			return err
		}
		if d.Left == "" {
			mailed++
		}
	}
	switch {
	case mailed > 0:
		return nil
	case limit != nil:
		return limit
	default:
		return ErrNobodyMailed
	}
}

// mailTicked mails the tenant of a deposit, unless the debt has ended since the page was read.
func (s *Service) mailTicked(ctx context.Context, by OperatorCaller, d SelectedDeposit, url string,
	now time.Time) (MailSkipReason,
	error) {
	if d.Debt == nil {
		return "", s.mailLink(ctx, by, d.Deposit, url, tenant.MailContact{Email: d.Client.Email}, now)
	}
	if err := s.deps.Payments.RecordReminder(ctx, d.ID, now); err != nil {
		if left := whyLeftOut(err); left != "" {
			return left, nil
		}
		return "", err
	}
	agreed, err := s.deps.Agreements.Agreements(ctx, d.ID)
	if err != nil {
		return "", err
	}
	return "", s.mailReminder(ctx, by, d.Deposit, reminder{url, agreement.LatestLocale(agreed)}, now)
}

func outcomeOf(list []SelectedDeposit) []BulkOutcome {
	all := make([]BulkOutcome, len(list))
	for i, d := range list {
		all[i] = BulkOutcome{Deposit: id.Deposit.Of(d.ID), Left: d.Left}
	}
	return all
}
