package webhooks

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// NewReplay is what is to be sent again.
type NewReplay struct {
	From, To time.Time
	Status   webhook.Status // "": failed
}

// Replay has the deliveries of a span of time sent again, at a gentle pace (webhook.Replay). It gives the replay with how
// many deliveries it matches now; AdvanceReplay does the work.
//
// Returns webhook_not_found, webhook_disabled, invalid_date_range or invalid_field.
func (s *Service) Replay(ctx context.Context, by partner.Caller, subscriptionID id.ID, in NewReplay) (webhook.Replay, error) {
	sub, err := s.deps.Subscriptions.Subscription(ctx, by.Partner.ID, subscriptionID)
	if err != nil {
		return webhook.Replay{}, err
	}
	return s.replay(ctx, byPartner(by), sub, in)
}

// ReplayByAdmin is Replay for the admin command, of any partner's subscription.
func (s *Service) ReplayByAdmin(ctx context.Context, subscriptionID id.ID, in NewReplay) (webhook.Replay, error) {
	sub, err := s.deps.Subscriptions.SubscriptionByID(ctx, subscriptionID)
	if err != nil {
		return webhook.Replay{}, err
	}
	return s.replay(ctx, actor{name: "admin"}, sub, in)
}

func (s *Service) replay(ctx context.Context, by actor, sub webhook.Subscription, in NewReplay) (webhook.Replay, error) {
	now := s.deps.Clock.Now()
	replay, err := webhook.NewReplay(s.deps.Entropy.NewID(), sub.ID, in.From, in.To, in.Status, now)
	switch {
	case err != nil:
		return webhook.Replay{}, err
	case !sub.Enabled:
		return webhook.Replay{}, webhook.ErrDisabled
	}
	// Counted before anything is locked: it may take a while, and deliveries need the subscription meanwhile.
	if replay.Matched, err = s.deps.Replays.CountMatching(ctx, replay); err != nil {
		return webhook.Replay{}, err
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		locked, err := repos.Subscriptions.ForUpdate(ctx, sub.PartnerID, sub.ID)
		switch {
		case err != nil:
			return err
		case !locked.Enabled:
			return webhook.ErrDisabled
		}
		if err := repos.Replays.Insert(ctx, replay); err != nil {
			return err
		}
		return s.note(ctx, repos, by, "webhook.replay", sub.ID, now, map[string]string{
			"replayId": id.Replay.Of(replay.ID), "from": deposit.Timestamp(replay.From), "to": deposit.Timestamp(replay.To), "status": string(replay.Status),
		})
	})
	if err != nil {
		return webhook.Replay{}, err
	}
	return replay, nil
}

// heldUp is how long a replay whose step failed lets the others go first.
const heldUp = 30 * time.Second

// AdvanceReplay makes the next step of one replay, if one is due; advanced tells that, and that there may be more to do.
// The redeliveries and the replay's cursor commit together, so that a crash at any instant loses none and makes none
// twice. Any number of dispatchers may call it: each works on another replay.
func (s *Service) AdvanceReplay(ctx context.Context) (advanced bool, err error) {
	now := s.deps.Clock.Now()
	var replay webhook.Replay
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) (err error) {
		if replay, advanced, err = repos.Replays.Next(ctx, now); err != nil || !advanced {
			return err
		}
		return s.step(ctx, repos, replay, now)
	})
	if err == nil || replay.ID.IsZero() {
		return advanced && err == nil, err
	}
	// One that cannot go on does not hold up the others.
	later := replay
	later.NextAt = now.Add(heldUp)
	postponed := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context, repos ports.Repositories) error {
		return repos.Replays.Update(ctx, replay, later)
	})
	return false, errors.Join(err, postponed)
}

func (s *Service) step(ctx context.Context, repos ports.Repositories, replay webhook.Replay, now time.Time) error {
	found, err := repos.Replays.Matching(ctx, replay, replay.Step())
	if err != nil {
		return err
	}
	made := 0
	if len(found) > 0 {
		copies := make([]ports.Copy, len(found))
		for i, original := range found {
			copies[i] = ports.Copy{Of: original, As: s.deps.Entropy.NewID()}
		}
		redelivered, err := repos.Deliveries.Redeliver(ctx, replay.SubscriptionID, copies)
		if err != nil {
			return err
		}
		if made = len(redelivered); made == 0 {
			return nil // disabled or deleted a moment ago: the replay waits or ends when it is looked at again
		}
	}
	return repos.Replays.Update(ctx, replay, replay.After(found, made, now))
}
