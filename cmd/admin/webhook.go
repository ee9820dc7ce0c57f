package main

import (
	"time"

	"partnerdeposits/app/webhooks"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/wire"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

type webhookCommands struct {
	Replay webhookReplay `cmd:"" help:"Send the deliveries of a time span again, at a gentle pace; a running dispatcher does it."`
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
	return c.with(config.Secrets, func(a *wire.Admin, _ config.Config) error {
		replay, err := a.Webhooks.ReplayByAdmin(c.ctx, subscriptionID, webhooks.NewReplay{From: w.From.UTC(), To: w.To.UTC(), Status: webhook.Status(w.Status)})
		if err != nil {
			return err
		}
		return c.answer(fields{{"replayId", id.Replay.Of(replay.ID)}, {"matched", replay.Matched}})
	})
}
