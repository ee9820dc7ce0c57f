package books

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// Statement is a month of an account's claims. Due holds the sums of the whole month, by the rule of
// Reconcile. Debts is a page of the debts that were paid, refunded or disputed in that month.
type Statement struct {
	Month ports.Span
	// true: the statement is of the present month, which has not ended; false: of an earlier month.
	Present bool
	Due     paymentports.AccountDue
	Debts   ports.List[paymentports.MovedDebt]
}

// monthOf returns the calendar month of t in UTC, the time zone of the books.
func monthOf(t time.Time) ports.Span {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return ports.Span{From: first, To: first.AddDate(0, 1, 0)}
}

// Month returns the calendar month in UTC of a time; of the present time if at is zero.
func (s *Service) Month(at time.Time) ports.Span {
	if at.IsZero() {
		at = s.deps.Clock.Now()
	}
	return monthOf(at)
}

// Statement returns the statement of an account for the month of at; for the present month if at is zero.
func (s *Service) Statement(ctx context.Context, accountID id.ID, at time.Time, page ports.Page) (Statement, error) {
	st := Statement{Month: s.Month(at)}
	st.Present = st.Month == s.Month(time.Time{})
	var err error
	if st.Due, err = s.deps.Statements.DueTo(ctx, accountID, st.Month); err != nil {
		return st, err
	}
	st.Debts, err = s.Moved(ctx, accountID, st.Month, page)
	return st, err
}

// Moved lists the debts of a statement, last paid first.
func (s *Service) Moved(ctx context.Context, accountID id.ID, month ports.Span,
	page ports.Page) (ports.List[paymentports.MovedDebt], error) {
	return s.deps.Statements.Moved(ctx, accountID, month, page)
}
