package books

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// Statement is a month of an account's claims; Debts is a page of those paid, refunded or disputed.
type Statement struct {
	Month ports.TimeSpan
	// Present reports whether the statement is of the present, unfinished month.
	Present bool
	Due     paymentports.AccountTotals
	Debts   ports.ListPage[paymentports.DebtMovement]
}

// monthOf returns the calendar month of t in UTC.
func monthOf(t time.Time) ports.TimeSpan {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return ports.TimeSpan{From: first, To: first.AddDate(0, 1, 0)}
}

// MonthOf returns the calendar month in UTC of a time; the present one if at is zero.
func (s *Service) MonthOf(at time.Time) ports.TimeSpan {
	if at.IsZero() {
		at = s.deps.Clock.Now()
	}
	return monthOf(at)
}

// MonthlyStatement returns an account's statement for the month of at; the present one if at is zero.
func (s *Service) MonthlyStatement(ctx context.Context, accountID id.ID, at time.Time, page ports.Page) (Statement,
	error) {
	st := Statement{Month: s.MonthOf(at)}
	st.Present = st.Month == s.MonthOf(time.Time{})
	var err error
	if st.Due, err = s.deps.Statements.TotalsOfAccount(ctx, accountID, st.Month); err != nil {
		return st, err
	}
	st.Debts, err = s.ListDebtMovements(ctx, accountID, st.Month, page)
	return st, err
}

// ListDebtMovements lists a statement's debts, the last paid first.
func (s *Service) ListDebtMovements(ctx context.Context, accountID id.ID, month ports.TimeSpan,
	page ports.Page) (ports.ListPage[paymentports.DebtMovement], error) {
	return s.deps.Statements.DebtMovements(ctx, accountID, month, page)
}
