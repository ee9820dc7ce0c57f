package deposits

import (
	"context"
	"slices"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
)

// DeskFilter selects and orders the deposits of an account for the operator's list. Except for AccountID, a field
// with its zero value does not narrow the list.
type DeskFilter struct {
	AccountID id.ID // The account of the listed deposits, which is required.
	Statuses  []deposit.Status
	// Text is what an operator searches for: a reference in any spelling, or its beginning from the third letter
	// behind the D; the beginning of a booking, of the digits at its end, or of an e-mail address, in any case; or
	// beginnings of words of a name, folded: all of them, in any order.
	Text string
	// Stay selects deposits whose rental period overlaps a range of time.
	Stay ports.Span
	// EndsBefore selects active deposits whose cover ends before a time.
	EndsBefore time.Time
	View       View
	Sort       Sort
}

// ByStay reports whether the operator's list is ordered by the beginning of the stay: true if that order is
// requested, or if no order is and the list is narrowed to stays in a range of time; false otherwise.
func (f DeskFilter) ByStay() bool {
	return f.Sort == SortStay || f.Sort == "" && (!f.Stay.From.IsZero() || !f.Stay.To.IsZero())
}

// Place returns the place of a deposit in the order of the operator's list, as a cursor from which the next
// page is read.
func (f DeskFilter) Place(d *deposit.Deposit) ports.Cursor {
	if f.ByStay() {
		return ports.Cursor{At: d.ContractStartAt, ID: d.ID}
	}
	return ports.Cursor{At: d.CreatedAt, ID: d.ID}
}

// Sort is an order of the operator's list of deposits, in which the latest come first.
type Sort string

// The orders of the operator's list of deposits.
const (
	SortCreated Sort = "created"
	SortStay    Sort = "stay" // The order by contractStartAt, the beginning of the stay.
)

// View is the part of an account's deposits that an operator's list shows; "" is ViewAll.
type View string

// The views of the operator's list of deposits.
const (
	ViewAll      View = "all"
	ViewAwaiting View = "awaiting" // The deposits whose tenant has not finished checkout.
	// The deposits whose fee payment was refused, or whose captured amount the tenant has to pay after the card
	// was refused.
	ViewRefused View = "refused"
	ViewSecured View = "secured"
	ViewEnding  View = "ending"  // The secured deposits whose cover ends soon, before EndsBefore.
	ViewClaimed View = "claimed" // The captured deposits whose amount is neither paid nor given up.
)

// Views lists every view of the operator's list of deposits.
var Views = []View{ViewAll, ViewAwaiting, ViewRefused, ViewSecured, ViewEnding, ViewClaimed}

// Statuses lists the statuses that the deposits in a view of the operator's list may have; nil means every
// status.
func (v View) Statuses() []deposit.Status {
	switch v {
	case ViewAwaiting:
		return []deposit.Status{deposit.Pending, deposit.Incomplete}
	case ViewRefused:
		return []deposit.Status{deposit.PaymentIssue, deposit.Captured}
	case ViewSecured, ViewEnding:
		return []deposit.Status{deposit.Active}
	case ViewClaimed:
		return []deposit.Status{deposit.Captured}
	case ViewAll:
	}
	return nil
}

// Work is a reason for which deposits may need the operator's attention, such as a refused payment.
type Work string

// The groups of deposits that may need an operator's attention on the first page. A deposit counts in one
// group, the first that fits, and in WorkActive as well if it is active.
const (
	WorkSoon    Work = "soon"    // The deposits in checkout whose stay begins soon or has just begun.
	WorkRefused Work = "refused" // The deposits whose tenant's payment was refused.
	// The captured deposits whose tenant has to pay, since the card was refused.
	WorkCardRefused Work = "card_refused"
	WorkEnding      Work = "ending"     // The active deposits whose cover ends soon.
	WorkCollecting  Work = "collecting" // The captured deposits whose amount is not collected yet.
	WorkAwaiting    Work = "awaiting"   // The deposits whose tenant has not finished checkout.
	WorkActive      Work = "active"     // All active deposits.
)

// Works lists the groups of deposits on the operator's first page that may need attention, the most urgent
// first.
var Works = []Work{WorkSoon, WorkRefused, WorkCardRefused, WorkEnding, WorkCollecting, WorkAwaiting, WorkActive}

// Statuses lists the statuses that the deposits in a group of the operator's first page may have, in the order
// in which a deposit passes through them.
func (w Work) Statuses() []deposit.Status {
	switch w {
	case WorkRefused:
		return []deposit.Status{deposit.PaymentIssue}
	case WorkEnding, WorkActive:
		return []deposit.Status{deposit.Active}
	case WorkCardRefused, WorkCollecting:
		return []deposit.Status{deposit.Captured}
	case WorkSoon, WorkAwaiting:
	}
	return slices.DeleteFunc(slices.Clone(deposit.Statuses), func(s deposit.Status) bool {
		return !s.InCheckout() || w == WorkAwaiting && s == deposit.PaymentIssue
	})
}

// WorkCount is the number of deposits in a group of the operator's first page, with the sum of their amounts.
// Captured deposits count with the captured amount.
type WorkCount struct {
	Count  int
	Amount money.Cents
	More   bool // true: the group has more deposits than Count states; false: Count is exact.
	Soon   int  // How many of the Count deposits are in checkout with a stay that begins soon.
}

// Desk reads what the operator's pages show of an account's deposits: lists and counts.
type Desk interface {
	// DeskDeposits lists the deposits of an account for the operator, by a filter and in its order. With
	// page.Back, it returns the deposits before the cursor instead of those after it, in the same order.
	DeskDeposits(ctx context.Context, f DeskFilter, page ports.Page) (ports.List[*deposit.Deposit], error)
	// CountViews counts the deposits in each view of an account's list, up to most in a view. ViewEnding counts the
	// covers that end before the time ending.
	CountViews(ctx context.Context, accountID id.ID, ending time.Time, most int) (map[View]int, error)
	// CountWork counts the deposits in each group of the operator's first page but WorkSoon, each up to most:
	// WorkAwaiting and WorkRefused include those that are WorkSoon. WorkEnding has the covers that end before the
	// end of week, WorkSoon the stays that begin in week.
	CountWork(ctx context.Context, accountID id.ID, week ports.Span, most int) (map[Work]WorkCount, error)
	// OpenWork returns up to limit deposits of each requested group of the operator's first page: WorkSoon ordered
	// by the beginning of the stay, WorkEnding by the end of the cover, all others newest first.
	OpenWork(ctx context.Context, accountID id.ID, kinds []Work, week ports.Span,
		limit int) (map[Work][]*deposit.Deposit, error)
	// Refused lists up to limit deposits whose tenant can be mailed after a refused payment: first those whose fee
	// was refused, whenever the stay begins, then those whose captured amount was refused.
	Refused(ctx context.Context, accountID id.ID, limit int) ([]id.ID, error)
	// CountMade counts the deposits of an account that were made in each of the time spans.
	CountMade(ctx context.Context, accountID id.ID, spans []ports.Span) ([]int, error)
}
