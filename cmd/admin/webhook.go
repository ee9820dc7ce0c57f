package main

import (
	"fmt"
	"time"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/cmd/config"
	"partnerdeposits/cmd/wire"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

type webhookCommands struct {
	Show     webhookShow     `cmd:"" help:"Show a subscription, the record of its endpoint and its newest deliveries."`
	Progress webhookProgress `cmd:"" help:"Show how far a replay is."`
	Replay   webhookReplay   `cmd:"" help:"Send the deliveries of a time span again, at a gentle pace; a running dispatcher does it."`
}

type webhookReplay struct {
	Subscription string    `required:"" help:"Id of the subscription: pwh_…"`
	From         time.Time `required:"" help:"Deliveries created from this time on, such as 2026-08-01T15:00:00Z …"`
	To           time.Time `required:"" help:"… and before this one."`
	Status       string    `default:"failed" enum:"pending,retrying,succeeded,failed" help:"Only those of this status: ${enum}."`
}

// Run starts the replay.
func (w webhookReplay) Run(c *call) error {
	subscriptionID, ok := id.Subscription.Parse(w.Subscription)
	if !ok {
		return webhook.ErrNotFound
	}
	if err := c.confirm("The partner receives the %s deliveries of %s from %s to %s again.", w.Status, w.Subscription, c.clock(w.From), c.clock(w.To)); err != nil {
		return err
	}
	return c.with(config.Secrets, func(a *wire.Admin, _ config.Config) error {
		replay, err := a.Webhooks.ReplayByAdmin(c.ctx, subscriptionID, webhooks.NewReplay{From: w.From.UTC(), To: w.To.UTC(), Status: webhook.Status(w.Status)})
		if err != nil {
			return err
		}
		if err := c.answer(fields{{"replayId", id.Replay.Of(replay.ID)}, {"matched", replay.Matched}}); err != nil || !c.terminal || c.json {
			return err
		}
		_, err = c.follow(a, replay)
		return err
	})
}

type webhookProgress struct {
	Replay string `required:"" help:"Id of the replay: rpl_…"`
	Follow bool   `help:"Tell of the progress until the replay ends. Interrupted, the replay itself goes on."`
}

// Run shows the replay.
func (w webhookProgress) Run(c *call) error {
	return c.with(config.Secrets, func(a *wire.Admin, _ config.Config) error {
		replay, err := a.Webhooks.ReplayProgress(c.ctx, w.Replay)
		if err == nil && w.Follow {
			replay, err = c.follow(a, replay)
		}
		if err != nil {
			return err
		}
		return c.answer(fields{
			{"replayId", id.Replay.Of(replay.ID)}, {"webhookId", id.Subscription.Of(replay.SubscriptionID)}, {"matched", replay.Matched},
			{"made", replay.Made}, {"createdAt", at(replay.CreatedAt)}, {"finishedAt", at(replay.FinishedAt)},
		})
	})
}

// follow tells of a replay until it ends. A dispatcher makes the redeliveries, so an interrupted command stops nothing.
func (c *call) follow(a *wire.Admin, replay webhook.Replay) (webhook.Replay, error) {
	const every = time.Second
	p := c.progress("redeliveries")
	defer p.end()
	tick := time.NewTicker(every)
	defer tick.Stop()
	replayID := id.Replay.Of(replay.ID)
	for {
		p.report(time.Now(), int64(replay.Made), int64(max(replay.Made, replay.Matched)), "")
		if !replay.FinishedAt.IsZero() {
			return replay, nil
		}
		select {
		case <-c.ctx.Done():
		case <-tick.C:
		}
		now, err := a.Webhooks.ReplayProgress(c.ctx, replayID)
		switch {
		case c.ctx.Err() != nil:
			return replay, coded{codeInterrupted, fmt.Errorf("interrupted; the dispatchers go on with the replay, and `admin webhook progress --replay %s --follow` tells of it again", replayID)}
		case err != nil:
			return replay, err
		}
		replay = now
	}
}
