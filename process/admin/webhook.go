package admin

import (
	"errors"
	"fmt"
	"time"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type webhookCommands struct {
	Show     webhookShow    `cmd:"" help:"Show a subscription, the record of its endpoint and its newest deliveries."`
	Progress replayProgress `cmd:"" help:"Show how far a replay is."`
	Probe    webhookProbe   `cmd:"" help:"Try failing endpoints now: open circuits send a probe, and retries do not wait for their time."`
	Replay   webhookReplay  `cmd:"" help:"Send the deliveries of a time span again, at a gentle pace; a running dispatcher does it."`
}

type webhookReplay struct {
	Subscription string    `required:"" id:"" help:"Id of the subscription: pwh_…"`
	From         time.Time `required:"" help:"Deliveries created from this time on, such as 2026-08-01T15:00:00Z …"`
	To           time.Time `required:"" help:"… and before this one."`
	Status       string    `default:"failed" enum:"pending,retrying,succeeded,failed" help:"Only those of this status: ${enum}."`
}

// Run starts a replay of deliveries, and on a terminal prints its progress.
func (w webhookReplay) Run(c *call) error {
	subscriptionID, ok := id.Subscription.Parse(w.Subscription)
	if !ok {
		return webhook.ErrNotFound
	}
	if err := c.confirm("The partner receives the %s deliveries of %s from %s to %s again.", w.Status, w.Subscription,
		c.clock(w.From), c.clock(w.To)); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		replay, err := a.Webhooks.StartReplayByAdmin(c.ctx, subscriptionID,
			webhooks.NewReplay{From: w.From.UTC(), To: w.To.UTC(), Status: webhook.DeliveryStatus(w.Status)})
		if err != nil {
			return err
		}
		if err := c.answer(fields{{"replayId", id.Replay.Of(replay.ID)}, {"matched", replay.Matched}}); err != nil ||
			!c.terminal || c.json {
			return err
		}
		_, err = c.follow(a, replay)
		return err
	})
}

type webhookProbe struct {
	Webhook string `id:"" name:"id" help:"Id of a subscription (pwh_…), …"`
	Partner string `help:"… or the slug of a partner, for all its subscriptions, …"`
	All     bool   `help:"… or the subscriptions of all partners."`
}

// Run makes failing endpoints be tried at once: open circuits get a probe, and retries become due now.
func (w webhookProbe) Run(c *call) error {
	var of webhookports.ProbeFilter
	chosen := 0
	for _, given := range []bool{w.Webhook != "", w.Partner != "", w.All} {
		if given {
			chosen++
		}
	}
	if chosen != 1 {
		return wrongUsage{errors.New("give one of: the id of a subscription, --partner, --all"), c.command}
	}
	if w.Webhook != "" {
		var ok bool
		if of.SubscriptionID, ok = id.Subscription.Parse(w.Webhook); !ok {
			return webhook.ErrNotFound
		}
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		if w.Partner != "" {
			p, err := a.Partners.Get(c.ctx, w.Partner)
			if err != nil {
				return err
			}
			of.PartnerID = p.ID
		}
		probed, err := a.Webhooks.ProbeEndpoints(c.ctx, of)
		if err != nil {
			return err
		}
		return c.answer(fields{{"circuits", probed.Circuits}, {"deliveries", probed.Deliveries}})
	})
}

type replayProgress struct {
	Replay string `required:"" id:"" help:"Id of the replay: rpl_…"`
	Follow bool   `help:"Tell of the progress until the replay ends. Interrupted, the replay itself goes on."`
}

// Run prints the progress of a replay, and with --follow until the end.
func (w replayProgress) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		replay, err := a.Webhooks.ReplayProgress(c.ctx, w.Replay)
		if err == nil && w.Follow {
			replay, err = c.follow(a, replay)
		}
		if err != nil {
			return err
		}
		return c.answer(fields{
			{"replayId", id.Replay.Of(replay.ID)}, {"webhookId", id.Subscription.Of(replay.SubscriptionID)},
			{"matched", replay.Matched},
			{"made", replay.Redelivered}, {"createdAt", at(replay.CreatedAt)}, {"finishedAt", at(replay.FinishedAt)},
		})
	})
}

// follow prints the progress of a replay until the end. Interrupting the command does not stop the replay.
func (c *call) follow(a *wire.AdminCommands, replay webhook.Replay) (webhook.Replay, error) {
	const every = time.Second
	p := c.progress("redeliveries")
	defer p.end()
	tick := time.NewTicker(every)
	defer tick.Stop()
	replayID := id.Replay.Of(replay.ID)
	for {
		p.report(time.Now(), int64(replay.Redelivered), int64(max(replay.Redelivered, replay.Matched)), "")
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
			return replay,
				codedError{codeInterrupted,
					fmt.Errorf(
						"interrupted; the dispatchers go on with the replay, and `admin webhook progress --replay %s --follow` tells of it again",
						replayID)}
		case err != nil:
			return replay, err
		}
		replay = now
	}
}
