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

// View holds what the operator's page of a deposit shows, with the history.
type View struct {
	*deposit.Deposit
	Now time.Time
	// The end of the cover of an active deposit; before activation, the end as if the deposit were activated
	// now.
	CoverEnd time.Time
	// true: CoverEnd is not before contractEndAt; false: the cover ends before the contract.
	CoversContract bool
	Sendable       bool          // true: the tenant can still secure the deposit; false: the checkout has ended.
	Debt           *deposit.Debt // The debt of a captured deposit; nil for any other.
	Refunds        []deposit.Refund
	Agreed         agreement.Record // The tenant's last agreement; zero for none.
	Disputes       []paymentports.KeptDispute
	Files          []evidence.File // The files added to the deposit, the oldest first.
	History        []Entry         // The history of the deposit, the oldest entry first.
}

// Author is the kind of person or system that caused an entry in a deposit's history.
type Author string

const (
	ByOperator Author = "operator"
	ByPartner  Author = "partner"
	ByTenant   Author = "tenant"
	ByClock    Author = "scheduler"
	ByService  Author = "system"
)

// Happened is the kind of an entry in a deposit's history.
type Happened string

// The kinds of entries in a deposit's history.
const (
	Created  Happened = "created"
	LinkSent Happened = "link_sent"
	Filed    Happened = "filed" // Filed: files were added to the deposit.
	Moved    Happened = "moved"
	Collects Happened = "collects" // Collects: the collection of the captured amount changed.
	Reminded Happened = "reminded" // Reminded: the link to pay was mailed again.
)

// Entry is an entry of a deposit's history.
type Entry struct {
	At                time.Time
	Happened          Happened
	Trigger           deposit.Trigger           // The trigger of a transition of the deposit.
	CollectionTrigger deposit.CollectionTrigger // The trigger of a transition of the collection.
	Author            Author
	Name              string            // The name of the partner who caused the entry; "" for other authors.
	Detail            map[string]string // The entry's amount, reason, description, comment and files, by name.
}

// maxSent is the largest number of audit entries that the history of a deposit reads.
const maxSent = 100

// In returns a copy of the view of a deposit with all times in a time zone.
func (v View) In(zone *time.Location) View {
	v.Deposit, v.Debt = v.Deposit.In(zone), v.Debt.In(zone)
	for _, at := range []*time.Time{&v.Now, &v.CoverEnd, &v.Agreed.At} {
		*at = at.In(zone)
	}
	v.Refunds = mapped(v.Refunds, func(r *deposit.Refund) {
		r.CreatedAt, r.CheckAt, r.SettledAt = r.CreatedAt.In(zone), r.CheckAt.In(zone), r.SettledAt.In(zone)
	})
	v.Disputes = mapped(v.Disputes, func(d *paymentports.KeptDispute) {
		d.EvidenceDueBy, d.CreatedAt = d.EvidenceDueBy.In(zone), d.CreatedAt.In(zone)
	})
	v.Files = mapped(v.Files, func(f *evidence.File) { f.SentAt, f.AddedAt = f.SentAt.In(zone), f.AddedAt.In(zone) })
	v.History = mapped(v.History, func(e *Entry) { e.At = e.At.In(zone) })
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

// Deposit returns the view of a deposit of an account.
//
// Returns deposit_not_found for a deposit of another account.
func (s *Service) Deposit(ctx context.Context, of connect.Account, depositID id.ID) (View, error) {
	d, err := s.deps.Deposits.Deposit(ctx, depositID)
	if err != nil {
		return View{}, err
	}
	if d.AccountID != of.ID {
		return View{}, deposit.ErrNotFound
	}
	now := s.deps.Clock.Now()
	v := View{Deposit: d, Now: now, CoverEnd: d.ExpiresAt, CoversContract: d.CoversContract(s.deps.Timers, now),
		Sendable: d.Sendable(now) == nil}
	if v.CoverEnd.IsZero() {
		v.CoverEnd = s.deps.Timers.CoverageEnd(d.ContractEndAt, now)
	}
	var steps []deposit.CollectionTransition
	if v.Debt, steps, err = s.debt(ctx, d); err != nil {
		return View{}, err
	}
	if v.Refunds, err = s.deps.Refunds.Refunds(ctx, d.ID); err != nil {
		return View{}, err
	}
	agreed, err := s.deps.Agreements.Agreements(ctx, d.ID)
	if err != nil {
		return View{}, err
	}
	if len(agreed) > 0 {
		v.Agreed = agreed[len(agreed)-1]
	}
	if v.Disputes, err = s.deps.Disputes.DisputesOf(ctx, d.ID); err != nil {
		return View{}, err
	}
	if v.Files, err = s.deps.Files.Files(ctx, d.ID); err != nil {
		return View{}, err
	}
	v.History, err = s.history(ctx, d, steps)
	return v.In(of.Zone()), err
}

// File returns a file of a deposit of an account, with its content, which the caller closes.
//
// Returns deposit_not_found for a deposit of another account, and evidence.ErrNotFound.
func (s *Service) File(ctx context.Context, accountID, depositID, fileID id.ID) (evidence.File, io.ReadCloser, error) {
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

// debt returns the debt of a captured deposit with the transitions of its collection; nil for any other
// deposit.
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
		return nil, nil, nil // The deposit was captured before the service recorded its collections.
	}
	steps, err := s.deps.Collections.CollectionHistory(ctx, debt.PaymentID)
	return &debt, steps, err
}

func (s *Service) history(ctx context.Context, d *deposit.Deposit,
	collection []deposit.CollectionTransition) ([]Entry, error) {
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

// entries merges the transitions of a deposit and its collection with the audit log into one history, oldest
// first. From the audit log come the mailed links, the reminders and the added files.
func entries(
	d *deposit.Deposit, steps []deposit.Transition, collection []deposit.CollectionTransition, audited []ports.AuditEntry,
) []Entry {
	made := Entry{At: d.CreatedAt, Happened: Created, Author: ByOperator}
	if d.ByPartnerAPI {
		made.Author, made.Name = ByPartner, d.PartnerName
	}
	all := []Entry{made}
	for _, step := range steps {
		all = append(all,
			entry(d, Entry{At: step.At, Happened: Moved, Trigger: step.Trigger, Detail: step.Detail}, step.Actor))
	}
	for _, step := range collection {
		e := entry(d, Entry{At: step.At, Happened: Collects, CollectionTrigger: step.Trigger,
			Detail: map[string]string{"failure": step.Detail["failure"]}}, step.Actor)
		// On the page, the service charges a card; the scheduler's transitions of the deposit are shown as
		// automatic.
		if e.Author == ByClock {
			e.Author = ByService
		}
		all = append(all, e)
	}
	for _, a := range audited {
		switch audit.Verb(a.Action) {
		case audit.DepositSendLink:
			all = append(all, entry(d, Entry{At: a.At, Happened: LinkSent}, a.Actor))
		case audit.DepositRemind:
			all = append(all, entry(d, Entry{At: a.At, Happened: Reminded}, a.Actor))
		case audit.DepositAddFiles:
			all = append(all, entry(d, Entry{At: a.At, Happened: Filed, Detail: a.Detail}, a.Actor))
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.At.Compare(b.At) })
	return all
}

// entry adds the author to the history entry e. Only the deposit's own partner acts on it, so a partner's
// entry has that partner's name.
func entry(d *deposit.Deposit, e Entry, by actor.Actor) Entry {
	e.Author = ByService
	switch by.Kind {
	case actor.KindPartner:
		e.Author, e.Name = ByPartner, d.PartnerName
	case actor.KindOperator:
		e.Author = ByOperator
	case actor.KindTenant:
		e.Author = ByTenant
	case actor.KindClock:
		e.Author = ByClock
	case actor.KindStaff, actor.KindProvider:
	}
	return e
}
