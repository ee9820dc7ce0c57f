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

// DashboardFilter selects and orders the deposits of an account for the operator's list. Except for AccountID, a field
// with its zero value does not narrow the list.
type DashboardFilter struct {
	AccountID id.ID
	Statuses  []deposit.Status
	// Text is what an operator searches for: a reference in any spelling, or its beginning from the third letter
	// behind the D; the beginning of a booking, of the digits at its end, or of an e-mail address, in any case; or
	// beginnings of words of a name, folded: all of them, in any order.
	Text string
	// Stay selects deposits whose rental period overlaps a range of time.
	Stay ports.TimeSpan
	// EndsBefore selects active deposits whose cover ends before a time.
	EndsBefore time.Time
	View       ListView
	Sort       SortOrder
}

// SortedByStay reports whether the operator's list is ordered by the beginning of the stay: by request, or without
// one when the list is narrowed to stays in a range of time.
func (f DashboardFilter) SortedByStay() bool {
	return f.Sort == SortByStay || f.Sort == "" && (!f.Stay.From.IsZero() || !f.Stay.To.IsZero())
}

// CursorForDeposit returns the place of a deposit in the order of the operator's list, as a cursor from which the next
// page is read.
func (f DashboardFilter) CursorForDeposit(d *deposit.Deposit) ports.Cursor {
	if f.SortedByStay() {
		return ports.Cursor{At: d.ContractStartAt, ID: d.ID}
	}
	return ports.Cursor{At: d.CreatedAt, ID: d.ID}
}

// SortOrder is an order of the operator's list of deposits, in which the latest come first.
type SortOrder string

// The orders of the operator's list of deposits.
const (
	SortByCreation SortOrder = "created"
	SortByStay     SortOrder = "stay"
)

// ListView is the part of an account's deposits that an operator's list shows; "" is ViewAll.
type ListView string

// The views of the operator's list of deposits.
const (
	ViewAll            ListView = "all"
	ViewAwaitingTenant ListView = "awaiting"
	// The deposits whose fee payment was refused, or whose captured amount the card was refused for.
	ViewRefused     ListView = "refused"
	ViewSecured     ListView = "secured"
	ViewCoverEnding ListView = "ending"  // The secured deposits whose cover ends soon, before EndsBefore.
	ViewClaimed     ListView = "claimed" // The captured deposits whose amount is neither paid nor given up.
)

// ListViews lists every view of the operator's list of deposits.
var ListViews = []ListView{ViewAll, ViewAwaitingTenant, ViewRefused, ViewSecured, ViewCoverEnding, ViewClaimed}

// Statuses lists the statuses that the deposits in a view of the operator's list may have; nil means every
// status.
func (v ListView) Statuses() []deposit.Status {
	switch v {
	case ViewAwaitingTenant:
		return []deposit.Status{deposit.Pending, deposit.Incomplete}
	case ViewRefused:
		return []deposit.Status{deposit.PaymentIssue, deposit.Captured}
	case ViewSecured, ViewCoverEnding:
		return []deposit.Status{deposit.Active}
	case ViewClaimed:
		return []deposit.Status{deposit.Captured}
	case ViewAll:
	}
	return nil
}

// OverviewGroup is a reason for which deposits may need the operator's attention, such as a refused payment.
type OverviewGroup string

// The groups of deposits that may need an operator's attention on the first page.
const (
	OverviewStayBeginning  OverviewGroup = "soon"
	OverviewPaymentRefused OverviewGroup = "refused"
	OverviewCardRefused    OverviewGroup = "card_refused"
	OverviewCoverEnding    OverviewGroup = "ending"
	OverviewCollecting     OverviewGroup = "collecting"
	OverviewAwaitingTenant OverviewGroup = "awaiting"
	OverviewActive         OverviewGroup = "active"
)

// OverviewGroups lists the groups of deposits on the operator's first page that may need attention, the most urgent
// first.
var OverviewGroups = []OverviewGroup{OverviewStayBeginning, OverviewPaymentRefused, OverviewCardRefused,
	OverviewCoverEnding, OverviewCollecting, OverviewAwaitingTenant, OverviewActive}

// Statuses lists the statuses that the deposits in a group of the operator's first page may have.
func (w OverviewGroup) Statuses() []deposit.Status {
	switch w {
	case OverviewPaymentRefused:
		return []deposit.Status{deposit.PaymentIssue}
	case OverviewCoverEnding, OverviewActive:
		return []deposit.Status{deposit.Active}
	case OverviewCardRefused, OverviewCollecting:
		return []deposit.Status{deposit.Captured}
	case OverviewStayBeginning, OverviewAwaitingTenant:
	}
	return slices.DeleteFunc(slices.Clone(deposit.Statuses), func(s deposit.Status) bool {
		return !s.InCheckout() || w == OverviewAwaitingTenant && s == deposit.PaymentIssue
	})
}

// DepositGroupCount is the number of deposits in a group of the operator's first page, with the sum of their
// amounts (captured amounts, if captured).
type DepositGroupCount struct {
	Count  int
	Amount money.Cents
	More   bool
	Soon   int
}

// DashboardReader reads what the operator's pages show of an account's deposits: lists and counts.
type DashboardReader interface {
	// DashboardDeposits lists the deposits of an account for the operator, by a filter and in its order.
	DashboardDeposits(ctx context.Context, f DashboardFilter, page ports.Page) (ports.ListPage[*deposit.Deposit], error)
	// CountByView counts the deposits in each view of an account's list, up to most in a view. ViewCoverEnding counts the
	// covers that end before the time ending.
	CountByView(ctx context.Context, accountID id.ID, ending time.Time, most int) (map[ListView]int, error)
	// CountByOverviewGroup counts the deposits in each group of the operator's first page but OverviewStayBeginning,
	// each up to most. OverviewCoverEnding has the covers that end before the end of week, OverviewStayBeginning the
	// stays that begin in week.
	CountByOverviewGroup(ctx context.Context, accountID id.ID, week ports.TimeSpan,
		most int) (map[OverviewGroup]DepositGroupCount, error)
	// DepositsByOverviewGroup returns up to limit deposits of each requested group of the operator's first page,
	// newest first, except OverviewStayBeginning (by beginning of the stay) and OverviewCoverEnding (by end of the
	// cover).
	DepositsByOverviewGroup(ctx context.Context, accountID id.ID, kinds []OverviewGroup, week ports.TimeSpan,
		limit int) (map[OverviewGroup][]*deposit.Deposit, error)
	// RefusedDepositIDs lists up to limit deposits whose tenant can be mailed after a refused payment: first those
	// with a refused fee, then those with a refused captured amount.
	RefusedDepositIDs(ctx context.Context, accountID id.ID, limit int) ([]id.ID, error)
	CountCreatedDeposits(ctx context.Context, accountID id.ID, spans []ports.TimeSpan) ([]int, error)
}
