package deposits

import (
	"context"
	"time"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

type ReleaseRequest struct {
	DepositID id.ID
	Comment   string
}

// Release closes an active deposit without a claim. A partner with a revoked link is refused: a release gives up
// the operator's cover (api.md §2).
//
// Returns deposit_not_found, deposit_access_denied, account_revoked, deposit_not_releasable, and the errors of
// idempotent.Executor.Run.
func (s *Service) Release(ctx context.Context, by partner.Caller, in ReleaseRequest,
	call idempotent.KeyAndEncoder[PartnerView]) (idempotent.Response, error) {
	return s.endCover(ctx, by, in.DepositID, call, func(ctx context.Context, e *ending) (deposit.Transition, error) {
		act := partnerAct(by, map[string]string{"comment": in.Comment})
		return s.deps.Journal.ApplyTrigger(ctx, e.Deposit, deposit.TriggerReleased, s.deps.Timers, act, e.eventID, e.now)
	})
}

type ending struct {
	*deposit.Deposit
	eventID id.ID
	now     time.Time
	debt    *deposit.Debt // The debt that a capture begins; nil for a release.
}

// endCover ends a deposit's cover on an active link. end makes the transition, in the transaction of the stored
// response.
//
// Returns the errors of lockLinked, of end, and of idempotent.Executor.Run.
func (s *Service) endCover(ctx context.Context, by partner.Caller, depositID id.ID,
	call idempotent.KeyAndEncoder[PartnerView],
	end func(context.Context, *ending) (deposit.Transition, error),
) (idempotent.Response, error) {
	now, eventID := s.deps.Clock.Now(), s.deps.Entropy.NewID()
	var step deposit.Transition
	response, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: call.Key,
		Now: now,
		Effect: func(ctx context.Context) (_ idempotent.Response, err error) {
			d, err := s.lockLinked(ctx, by, depositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			e := &ending{Deposit: d, eventID: eventID, now: now}
			if step, err = end(ctx, e); err != nil {
				return idempotent.Response{}, err
			}
			shown := s.view(d, now)
			shown.Debt = e.debt
			return call.Encode(shown)
		},
	})
	if err == nil && !response.Replayed {
		s.deps.Metrics.CountTransition(step.From, step.To, actor.KindPartner)
	}
	return response, err
}

// lockLinked locks a deposit for a change that needs an active link.
//
// Returns deposit_not_found, deposit_access_denied and account_revoked.
func (s *Service) lockLinked(ctx context.Context, by partner.Caller, depositID id.ID) (*deposit.Deposit, error) {
	d, err := s.lock(ctx, by, depositID)
	if err != nil {
		return nil, err
	}
	link, err := s.deps.Links.LockNewestShared(ctx, by.Partner.ID, d.AccountID)
	if err != nil {
		return nil, err
	}
	return d, activeLink(&link)
}
