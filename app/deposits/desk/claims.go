package desk

import (
	"context"
	"slices"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	depositports "partnerdeposits/ports/deposits"
)

type UnpaidDebts struct {
	Count depositports.DepositGroupCount
	First []DepositRow // The newest of the account's unpaid debts.
}

// ListUnpaidDebts counts an account's unpaid debts and returns the newest, up to limit.
func (s *Service) ListUnpaidDebts(ctx context.Context, of connect.Account, limit int) (UnpaidDebts, error) {
	accountID, now := of.ID, s.deps.Clock.Now()
	counts, err := s.countWork(ctx, accountID, now, week(now))
	charged, refused := counts[depositports.OverviewCollecting], counts[depositports.OverviewCardRefused]
	u := UnpaidDebts{Count: depositports.DepositGroupCount{Count: charged.Count + refused.Count,
		Amount: charged.Amount + refused.Amount, More: charged.More || refused.More}}
	if err != nil || u.Count.Count == 0 {
		return u, err
	}
	kinds := []depositports.OverviewGroup{depositports.OverviewCollecting, depositports.OverviewCardRefused}
	found, err := s.deps.Desk.DepositsByOverviewGroup(ctx, accountID, kinds, week(now), limit)
	if err != nil {
		return u, err
	}
	first := slices.Concat(found[depositports.OverviewCollecting], found[depositports.OverviewCardRefused])
	slices.SortFunc(first, func(a, b *deposit.Deposit) int { return b.CreatedAt.Compare(a.CreatedAt) })
	u.First, err = s.rows(ctx, of, first[:min(limit, len(first))])
	return u, err
}
