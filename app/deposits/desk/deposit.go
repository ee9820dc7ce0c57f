package desk

import (
	"context"
	"io"
	"slices"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// DepositView holds what the operator's page of a deposit shows.
type DepositView struct {
	*deposit.Deposit
	Now time.Time
	// The end of the cover; before activation, the end as if the deposit were activated now.
	CoverEnd time.Time
	// CoversContract reports whether the cover lasts until the end of the rental contract.
	CoversContract bool
	Sendable       bool          // Sendable reports whether the tenant can still secure the deposit.
	Debt           *deposit.Debt // The debt of a captured deposit; nil for none.
	Refunds        []deposit.Refund
	Agreed         agreement.Record // The tenant's last agreement to the terms; zero for none.
	Disputes       []paymentports.StoredDispute
	Files          []evidence.File
	History        []HistoryEntry
}

type HistoryEntryAuthor string

const (
	AuthorOperator HistoryEntryAuthor = "operator"
	AuthorPartner  HistoryEntryAuthor = "partner"
	AuthorTenant   HistoryEntryAuthor = "tenant"
	AuthorClock    HistoryEntryAuthor = "scheduler"
	AuthorService  HistoryEntryAuthor = "system"
)

type HistoryEntryKind string

const (
	EntryDepositCreated HistoryEntryKind = "created"
	EntryLinkSent       HistoryEntryKind = "link_sent"
	EntryFilesAdded     HistoryEntryKind = "filed" // The entry: files were added to the deposit.
	EntryTransition     HistoryEntryKind = "moved"
	// The entry: the collection of the captured amount changed its state.
	EntryCollectionChanged HistoryEntryKind = "collects"
	// The entry: the link to pay a debt was mailed again.
	EntryTenantReminded HistoryEntryKind = "reminded"
)

// HistoryEntry is an entry of a deposit's history.
type HistoryEntry struct {
	At       time.Time
	Happened HistoryEntryKind
	Trigger  deposit.Trigger // The cause (trigger) of a change of the deposit's status.
	// The cause of a change in the collection of a captured amount.
	CollectionTrigger deposit.CollectionTrigger
	Author            HistoryEntryAuthor
	Name              string
	Detail            map[string]string
}

// maxSent limits the audit entries about mails and files that a deposit's history reads.
const maxSent = 100

func (v DepositView) InTimeZone(zone *time.Location) DepositView {
	v.Deposit, v.Debt = v.Deposit.InTimeZone(zone), v.Debt.InTimeZone(zone)
	for _, at := range []*time.Time{&v.Now, &v.CoverEnd, &v.Agreed.At} {
		*at = at.In(zone)
	}
	v.Refunds = mapped(v.Refunds, func(r *deposit.Refund) {
		r.CreatedAt, r.CheckAt, r.SettledAt = r.CreatedAt.In(zone), r.CheckAt.In(zone), r.SettledAt.In(zone)
	})
	v.Disputes = mapped(v.Disputes, func(d *paymentports.StoredDispute) {
		d.EvidenceDueBy, d.CreatedAt = d.EvidenceDueBy.In(zone), d.CreatedAt.In(zone)
	})
	v.Files = mapped(v.Files, func(f *evidence.File) { f.SentAt, f.AddedAt = f.SentAt.In(zone), f.AddedAt.In(zone) })
	v.History = mapped(v.History, func(e *HistoryEntry) { e.At = e.At.In(zone) })
	return v
}

// mapped returns a copy of a list with change applied to each item.
func mapped[T any](list []T, change func(*T)) []T {
	out := slices.Clone(list)
	for i := range out {
		change(&out[i])
	}
	return out
}

// FindDeposit returns the view of an account's deposit, or deposit_not_found.
func (s *Service) FindDeposit(ctx context.Context, of connect.Account, depositID id.ID) (DepositView, error) {
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return DepositView{}, err
	}
	if d.AccountID != of.ID {
		return DepositView{}, deposit.ErrNotFound
	}
	now := s.deps.Clock.Now()
	v := DepositView{Deposit: d, Now: now, CoverEnd: d.ExpiresAt, CoversContract: d.CoversContract(s.deps.Timers, now),
		Sendable: d.CheckLinkSendable(now) == nil}
	if v.CoverEnd.IsZero() {
		v.CoverEnd = s.deps.Timers.CoverEndTime(d.ContractEndAt, now)
	}
	var steps []deposit.CollectionTransition
	if v.Debt, steps, err = s.debt(ctx, d); err != nil {
		return DepositView{}, err
	}
	if v.Refunds, err = s.deps.Refunds.Refunds(ctx, d.ID); err != nil {
		return DepositView{}, err
	}
	agreed, err := s.deps.Agreements.Agreements(ctx, d.ID)
	if err != nil {
		return DepositView{}, err
	}
	if len(agreed) > 0 {
		v.Agreed = agreed[len(agreed)-1]
	}
	if v.Disputes, err = s.deps.Disputes.DisputesOfDeposit(ctx, d.ID); err != nil {
		return DepositView{}, err
	}
	if v.Files, err = s.deps.Files.Files(ctx, d.ID); err != nil {
		return DepositView{}, err
	}
	v.History, err = s.history(ctx, d, steps)
	return v.InTimeZone(of.Zone()), err
}

// OpenFile returns a file of an account's deposit, with its content, which the caller closes.
//
// Returns deposit_not_found for a deposit of another account, and evidence.ErrNotFound.
func (s *Service) OpenFile(ctx context.Context, accountID, depositID, fileID id.ID) (evidence.File, io.ReadCloser,
	error) {
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return evidence.File{}, nil, err
	}
	if d.AccountID != accountID {
		return evidence.File{}, nil, deposit.ErrNotFound
	}
	f, err := s.deps.Files.File(ctx, depositID, fileID)
	if err != nil {
		return f, nil, err
	}
	content, err := s.deps.Contents.Open(ctx, f.ID)
	return f, content, err
}

// debt returns the debt of a captured deposit with its transitions; nil for any other deposit.
func (s *Service) debt(ctx context.Context, d *deposit.Deposit) (*deposit.Debt, []deposit.CollectionTransition, error) {
	if d.Status != deposit.Captured {
		return nil, nil, nil
	}
	found, err := s.deps.Collections.Debts(ctx, []id.ID{d.ID})
	if err != nil {
		return nil, nil, err
	}
	debt, ok := found[d.ID]
	if !ok {
		// The deposit was captured before the service recorded collections.
		return nil, nil, nil
	}
	steps, err := s.deps.Collections.CollectionHistory(ctx, debt.PaymentID)
	return &debt, steps, err
}

func (s *Service) history(ctx context.Context, d *deposit.Deposit,
	collection []deposit.CollectionTransition) ([]HistoryEntry, error) {
	steps, err := s.deps.Deposits.History(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	audited, err := s.deps.Audit.AuditEntries(ctx, ports.AuditFilter{Subject: id.Deposit.Of(d.ID)}, maxSent)
	if err != nil {
		return nil, err
	}
	return entries(d, steps, collection, audited), nil
}

// entries merges the transitions of a deposit and its collection with the audit log into one history, oldest first.
func entries(
	d *deposit.Deposit, steps []deposit.Transition, collection []deposit.CollectionTransition, audited []ports.AuditEntry,
) []HistoryEntry {
	made := HistoryEntry{At: d.CreatedAt, Happened: EntryDepositCreated, Author: AuthorOperator}
	if d.ByPartnerAPI {
		made.Author, made.Name = AuthorPartner, d.PartnerName
	}
	all := []HistoryEntry{made}
	for _, step := range steps {
		all = append(all,
			entry(d, HistoryEntry{At: step.At, Happened: EntryTransition, Trigger: step.Trigger, Detail: step.Detail},
				step.Actor))
	}
	for _, step := range collection {
		e := entry(d, HistoryEntry{At: step.At, Happened: EntryCollectionChanged, CollectionTrigger: step.Trigger,
			Detail: map[string]string{"failure": step.Detail["failure"]}}, step.Actor)
		// The page shows the service as the author of a card charge, and "automatic" for the scheduler.
		if e.Author == AuthorClock {
			e.Author = AuthorService
		}
		all = append(all, e)
	}
	for _, a := range audited {
		switch audit.Action(a.Action) {
		case audit.DepositSendLink:
			all = append(all, entry(d, HistoryEntry{At: a.At, Happened: EntryLinkSent}, a.Actor))
		case audit.DepositRemind:
			all = append(all, entry(d, HistoryEntry{At: a.At, Happened: EntryTenantReminded}, a.Actor))
		case audit.DepositAddFiles:
			all = append(all, entry(d, HistoryEntry{At: a.At, Happened: EntryFilesAdded, Detail: a.Detail}, a.Actor))
		}
	}
	slices.SortStableFunc(all, func(a, b HistoryEntry) int { return a.At.Compare(b.At) })
	return all
}

// entry adds the author to a history entry; a partner's entry has the name of the deposit's own partner.
func entry(d *deposit.Deposit, e HistoryEntry, by actor.Actor) HistoryEntry {
	e.Author = AuthorService
	switch by.Kind {
	case actor.KindPartner:
		e.Author, e.Name = AuthorPartner, d.PartnerName
	case actor.KindOperator:
		e.Author = AuthorOperator
	case actor.KindTenant:
		e.Author = AuthorTenant
	case actor.KindClock:
		e.Author = AuthorClock
	case actor.KindStaff, actor.KindProvider:
	}
	return e
}
