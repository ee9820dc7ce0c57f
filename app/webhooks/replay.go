package webhooks

import (
	"context"
	"errors"
	"math"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

type NewReplay struct {
	From, To time.Time
	Status   webhook.DeliveryStatus // The status of the deliveries to send again; "": failed.
}

// StartReplay starts a paced replay of the deliveries of a time range (webhook.Replay), and returns the replay
// with the number of deliveries that match now. Returns webhook_not_found, webhook_disabled,
// webhook.ErrReplayLimit, invalid_date_range or invalid_field.
func (s *Service) StartReplay(ctx context.Context, by partner.Caller, subscriptionID id.ID,
	in NewReplay) (webhook.Replay, error) {
	sub, err := s.deps.Subscriptions.Subscription(ctx, by.Partner.ID, subscriptionID)
	if err != nil {
		return webhook.Replay{}, err
	}
	return s.replay(ctx, by.Actor(), sub, in)
}

// StartReplayByAdmin starts a replay for the admin command, for the subscription of any partner. Staff may start any
// number of replays.
func (s *Service) StartReplayByAdmin(ctx context.Context, subscriptionID id.ID, in NewReplay) (webhook.Replay, error) {
	sub, err := s.deps.Subscriptions.SubscriptionByID(ctx, subscriptionID)
	if err != nil {
		return webhook.Replay{}, err
	}
	return s.replay(ctx, actor.Staff, sub, in)
}

// ReplayProgress returns a replay by its outside id, for the admin command.
//
// Returns replay_not_found.
func (s *Service) ReplayProgress(ctx context.Context, replayID string) (webhook.Replay, error) {
	parsed, ok := id.Replay.Parse(replayID)
	if !ok {
		return webhook.Replay{}, webhook.ErrReplayNotFound
	}
	return s.deps.Replays.Replay(ctx, parsed)
}

func (s *Service) replay(
	ctx context.Context, by actor.Actor, sub webhook.Subscription, in NewReplay,
) (webhook.Replay, error) {
	now := s.deps.Clock.Now()
	replay, err := webhook.NewReplay(s.deps.Entropy.NewID(), sub.ID, in.From, in.To, in.Status, now)
	switch {
	case err != nil:
		return webhook.Replay{}, err
	case !sub.Enabled:
		return webhook.Replay{}, webhook.ErrDisabled
	}
	most := webhook.MaxUnfinishedReplays
	if by == actor.Staff {
		most = math.MaxInt32
	}
	// Check the limit of unfinished replays first, since counting the deliveries takes a while.
	switch n, err := s.deps.Replays.CountUnfinished(ctx, sub.ID); {
	case err != nil:
		return webhook.Replay{}, err
	case n >= most:
		return webhook.Replay{}, webhook.ErrReplayLimit
	}
	if replay.Matched, err = s.deps.Replays.CountMatching(ctx, replay); err != nil {
		return webhook.Replay{}, err
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		held, err := s.deps.Subscriptions.LockRowShared(ctx, sub.PartnerID, sub.ID)
		switch {
		case err != nil:
			return err
		case !held.Enabled:
			return webhook.ErrDisabled
		}
		if err := s.deps.Replays.Insert(ctx, replay, most); err != nil {
			return err
		}
		return s.audit(ctx, by, audit.WebhookReplay, sub.ID, now, map[string]string{
			"replayId": id.Replay.Of(replay.ID), "from": deposit.FormatTimestamp(replay.From),
			"to":     deposit.FormatTimestamp(replay.To),
			"status": string(replay.Status),
		})
	})
	if err != nil {
		return webhook.Replay{}, err
	}
	return replay, nil
}

// retryAfterFailure is how long a replay waits after a failed step, so that other replays go first.
const retryAfterFailure = 30 * time.Second

// AdvanceReplay makes the next step of a due replay; advanced is false when no replay is due. The redeliveries and
// the replay's cursor commit together, so a crash neither loses nor repeats a redelivery. Any number of
// dispatchers may call AdvanceReplay at once.
func (s *Service) AdvanceReplay(ctx context.Context) (advanced bool, err error) {
	now := s.deps.Clock.Now()
	var replay webhook.Replay
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if replay, advanced, err = s.deps.Replays.LockNext(ctx, now); err != nil || !advanced {
			return err
		}
		waiting, err := s.deps.Replays.CountWaitingRedeliveries(ctx, replay.SubscriptionID)
		switch {
		case err != nil:
			return err
		case replay.MustPause(waiting):
			return s.deps.Replays.Update(ctx, replay, replay.Postponed(now))
		}
		return s.step(ctx, replay, now)
	})
	if err == nil || replay.ID.IsZero() {
		return advanced && err == nil, err
	}
	// A failing replay must not delay the other replays.
	later := afterFailure(replay, now)
	postponed := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return s.deps.Replays.Update(ctx, replay, later)
	})
	return false, errors.Join(err, postponed)
}

func afterFailure(r webhook.Replay, now time.Time) webhook.Replay {
	r.NextAt = now.Add(retryAfterFailure)
	return r
}

func (s *Service) step(ctx context.Context, replay webhook.Replay, now time.Time) error {
	found, upTo, err := s.deps.Replays.FindMatching(ctx, replay, replay.StepSize())
	if err != nil {
		return err
	}
	made := 0
	if len(found) > 0 {
		copies := make([]webhookports.Redelivery, len(found))
		for i, original := range found {
			copies[i] = webhookports.Redelivery{Of: original, As: s.deps.Entropy.NewID()}
		}
		redelivered, err := s.deps.Deliveries.InsertRedeliveries(ctx, replay.SubscriptionID, copies)
		if err != nil {
			return err
		}
		if made = len(redelivered); made == 0 {
			// No redelivery was made: the subscription was disabled or deleted, so the next call makes the replay wait
			// or ends it.
			return nil
		}
	}
	after := replay.AdvancedByStep(found, made, now)
	if !upTo.IsZero() {
		after = after.AdvancedToReadLimit(upTo, now)
	}
	return s.deps.Replays.Update(ctx, replay, after)
}

// replaysEvery is shorter than the second between two steps of a replay even with a scheduler's jitter: no step comes
// so late that the replay falls behind its pace (webhook.Replay).
const replaysEvery = 750 * time.Millisecond

// ReplayJob returns the job that advances replays.
func (s *Service) ReplayJob() schedules.Job {
	return schedules.Job{Name: "replays", Every: replaysEvery, Run: s.AdvanceReplay}
}
