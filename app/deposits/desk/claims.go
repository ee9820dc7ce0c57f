package desk

import (
	"context"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

// Unpaid are the claims of an account that the tenant has not paid yet.
type Unpaid struct {
	Count depositports.WorkCount // of all, with their sum
	First []Row                  // the newest
}

// Unpaid reads the claims that are not paid, of which it gives up to limit.
func (s *Service) Unpaid(ctx context.Context, accountID id.ID, limit int) (Unpaid, error) {
	now := s.deps.Clock.Now()
	ending := now.Add(deposit.EndingSoon)
	counts, err := s.countWork(ctx, accountID, now, ending)
	u := Unpaid{Count: counts[depositports.WorkCollecting]}
	if err != nil || u.Count.Count == 0 {
		return u, err
	}
	first, err := s.deps.Desk.OpenWork(ctx, accountID, []depositports.Work{depositports.WorkCollecting}, ending, limit)
	if err != nil {
		return u, err
	}
	u.First, err = s.rows(ctx, first[depositports.WorkCollecting])
	return u, err
}
