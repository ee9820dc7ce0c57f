package admin

import (
	"errors"
	"fmt"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type outboxCommands struct {
	List  outboxList  `cmd:"" help:"List the events that could not be filed, oldest first."`
	Retry outboxRetry `cmd:"" help:"Put an event back on the outbox; a running dispatcher files and delivers the event."`
	Drop  outboxDrop  `cmd:"" help:"Delete an event, which no subscription then receives."`
}

type outboxList struct{}

// Run prints the events that the dispatcher set aside because the database refused to store them for the partner.
func (outboxList) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		events, err := a.Webhooks.ListSetAsideEvents(c.ctx)
		if err != nil {
			return err
		}
		var rows []fields
		for _, e := range events {
			rows = append(rows, setAside(e))
		}
		return c.list("events", rows)
	})
}

type outboxRetry struct {
	ID string `required:"" id:"" help:"Id of the event: evt_…"`
}

// Run moves an event that was set aside back to the outbox.
func (o outboxRetry) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		return c.ended(o.ID)(a.Webhooks.RetrySetAsideEvent(c.ctx, o.ID))
	})
}

type outboxDrop struct {
	ID string `required:"" id:"" help:"Id of the event: evt_…"`
}

// Run deletes an event that was set aside, so that no subscription receives it.
func (o outboxDrop) Run(c *call) error {
	if err := c.confirm("No subscription will ever receive the event %s.", o.ID); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		return c.ended(o.ID)(a.Webhooks.DropSetAsideEvent(c.ctx, o.ID))
	})
}

// ended returns a function that prints the set-aside event that a command has put back or deleted.
func (c *call) ended(eventID string) func(webhookports.SetAsideEventRecord, error) error {
	return func(e webhookports.SetAsideEventRecord, err error) error {
		if errors.Is(err, webhookports.ErrEventNotSetAside) {
			return codedError{"event_not_set_aside",
				fmt.Errorf("no event %s is set aside; `admin outbox list` shows those that are", eventID)}
		}
		if err != nil {
			return err
		}
		return c.answer(setAside(e))
	}
}

func setAside(e webhookports.SetAsideEventRecord) fields {
	var depositID any
	if !e.DepositID.IsZero() {
		depositID = id.Deposit.Of(e.DepositID)
	}
	return fields{
		{"id", id.Event.Of(e.ID)}, {"event", e.Name}, {"partnerId", id.Partner.Of(e.PartnerID)}, {"depositId", depositID},
		{"createdAt", at(e.CreatedAt)}, {"setAsideAt", at(e.At)}, {"reason", e.Reason},
	}
}
