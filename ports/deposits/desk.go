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

// DeskFilter narrows the list of an account's deposits; zero fields but AccountID do not narrow.
type DeskFilter struct {
	AccountID id.ID // required
	Statuses  []deposit.Status
	// Text is a reference in any spelling, or its beginning from the third letter behind the D; the beginning of a
	// booking, of the digits at its end, or of an e-mail address, in any case; or beginnings of words of a name, folded:
	// all of them, in any order.
	Text string
	// Stay selects deposits whose rental period overlaps the span.
	Stay ports.Span
	// EndsBefore selects active deposits whose cover ends before it.
	EndsBefore time.Time
	View       View
	Sort       Sort
}

// ByStay reports whether the list is in the order of contractStartAt: one of a period is, unless Sort says otherwise.
func (f DeskFilter) ByStay() bool {
	return f.Sort == SortStay || f.Sort == "" && (!f.Stay.From.IsZero() || !f.Stay.To.IsZero())
}

// Place is where a deposit stands in the order of the list.
func (f DeskFilter) Place(d *deposit.Deposit) ports.Cursor {
	if f.ByStay() {
		return ports.Cursor{At: d.ContractStartAt, ID: d.ID}
	}
	return ports.Cursor{At: d.CreatedAt, ID: d.ID}
}

// Sort is an order of the list, the latest first.
type Sort string

// The orders of the list.
const (
	SortCreated Sort = "created"
	SortStay    Sort = "stay" // by contractStartAt
)

// View is a part of an account's deposits that an operator looks at; "" is ViewAll.
type View string

// The views of the list.
const (
	ViewAll      View = "all"
	ViewAwaiting View = "awaiting" // the tenant has not finished checkout
	ViewRefused  View = "refused"  // the payment was refused, or the claim awaits the tenant
	ViewSecured  View = "secured"
	ViewEnding   View = "ending"  // secured, and the cover ends soon; EndsBefore says when
	ViewClaimed  View = "claimed" // captured, and the amount is neither paid nor given up
)

// Views lists every view.
var Views = []View{ViewAll, ViewAwaiting, ViewRefused, ViewSecured, ViewEnding, ViewClaimed}

// Statuses lists the statuses of the deposits of a view; nil for every status.
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

// Work is a kind of deposits that an operator may have to look after.
type Work string

// The kinds of work on the operator's first page. A deposit is of one kind, the first that fits, and WorkActive beside
// it.
const (
	WorkSoon        Work = "soon"         // in checkout, and the stay begins soon or has just begun
	WorkRefused     Work = "refused"      // the tenant's payment was refused
	WorkCardRefused Work = "card_refused" // captured, and the tenant has to pay, since the card was refused
	WorkEnding      Work = "ending"       // active, and the cover ends soon
	WorkCollecting  Work = "collecting"   // captured, and the amount is not collected yet
	WorkAwaiting    Work = "awaiting"     // the tenant has not finished checkout
	WorkActive      Work = "active"       // every active deposit
)

// Works lists every kind of work, the most urgent first.
var Works = []Work{WorkSoon, WorkRefused, WorkCardRefused, WorkEnding, WorkCollecting, WorkAwaiting, WorkActive}

// Statuses lists the statuses of the deposits of a kind of work, in the order of a deposit's life.
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

// WorkCount is a number of deposits, with the sum of their amounts: the captured ones of captured deposits.
type WorkCount struct {
	Count  int
	Amount money.Cents
	More   bool // there are more than Count
	Soon   int  // how many of Count are WorkSoon
}

// Desk reads what the operator's pages show of an account's deposits.
type Desk interface {
	// DeskDeposits lists the deposits that fit the filter, in its order. With page.Back, it gives the deposits in front of
	// the cursor instead of those behind it, in the same order.
	DeskDeposits(ctx context.Context, f DeskFilter, page ports.Page) (ports.List[*deposit.Deposit], error)
	// CountViews counts the deposits in each view of an account's list, up to most in a view. ViewEnding counts the
	// covers that end before the time ending.
	CountViews(ctx context.Context, accountID id.ID, ending time.Time, most int) (map[View]int, error)
	// CountWork counts the deposits of each kind but WorkSoon, each up to most: WorkAwaiting and WorkRefused with those
	// that are WorkSoon. WorkEnding has the covers that end before the end of week, WorkSoon the stays that begin in it.
	CountWork(ctx context.Context, accountID id.ID, week ports.Span, most int) (map[Work]WorkCount, error)
	// OpenWork gives the first deposits of each kind, up to limit: WorkSoon by the begin of the stay, WorkEnding by the
	// end of the cover, all others newest first.
	OpenWork(ctx context.Context, accountID id.ID, kinds []Work, week ports.Span,
		limit int) (map[Work][]*deposit.Deposit, error)
	// Refused lists deposits whose tenant can be mailed after a refusal, up to limit: those whose payment was refused,
	// soon or not, then WorkCardRefused.
	Refused(ctx context.Context, accountID id.ID, limit int) ([]id.ID, error)
	// CountMade counts the deposits of an account that were made in each span.
	CountMade(ctx context.Context, accountID id.ID, spans []ports.Span) ([]int, error)
}
