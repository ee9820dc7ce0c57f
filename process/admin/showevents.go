package admin

import (
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type webhookShow struct {
	Webhook string `required:"" id:"" name:"id" help:"Id of the subscription: pwh_…"`
}

// Run prints a webhook subscription, even a deleted one, with its newest deliveries.
func (w webhookShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Support.FindWebhook(c.ctx, w.Webhook)
		if err != nil {
			return err
		}
		events := make([]string, len(found.Events))
		for i, name := range found.Events {
			events[i] = string(name)
		}
		return c.answer(fields{
			{"webhookId", id.Subscription.Of(found.ID)}, {"partner", found.Partner.Slug}, {"url", withoutQuery(found.URL)},
			{"events", events}, {"standardWebhooks", found.Standard},
			{"enabled", found.Enabled}, {"disabledReason", textOrNone(found.DisabledReason)}, {"createdAt", at(found.CreatedAt)},
			{"deletedAt", at(found.DeletedAt)},
			{"failures", found.Failures}, {"failingSince", at(found.FailingSince)}, {"heldUntil", at(found.HeldUntil)},
			{"slow", found.Slow},
			{"deliveries", describedDeliveries(found.Deliveries)},
		})
	})
}

func describedDeliveries(all []webhook.Delivery) []fields {
	rows := []fields{}
	for _, d := range all {
		var last any
		if n := len(d.AttemptLog); n > 0 {
			last = resultOf(d.AttemptLog[n-1])
		}
		rows = append(rows, fields{
			{"deliveryId", id.Delivery.Of(d.ID)}, {"webhookId", id.Subscription.Of(d.SubscriptionID)},
			{"event", string(d.Event)},
			{"status", string(webhook.DeliveryStatusOf(d.State, d.Attempts))}, {"attemptCount", d.Attempts},
			{"lastResult", last},
			{"createdAt", at(d.CreatedAt)}, {"deliveredAt", at(d.DeliveredAt)}, {"nextAttemptAt", at(d.DueAt)},
		})
	}
	return rows
}

func resultOf(a webhook.Attempt) string { return string(a.Result) }

type deliveryCommands struct {
	Show deliveryShow `cmd:"" help:"Show a delivery with its attempts."`
}

type deliveryShow struct {
	Delivery string `required:"" id:"" name:"id" help:"Id of the delivery: dlv_…"`
}

func (s deliveryShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		d, err := a.Support.FindDelivery(c.ctx, s.Delivery)
		if err != nil {
			return err
		}
		attempts := []fields{}
		for _, each := range d.AttemptLog {
			var status any
			if each.ResponseStatus > 0 {
				status = each.ResponseStatus
			}
			attempts = append(attempts, fields{
				{"number", each.Number}, {"startedAt", at(each.StartedAt)}, {"durationMs", each.Duration.Milliseconds()},
				{"result", resultOf(each)},
				{"responseStatus", status}, {"responseSnippet", each.Snippet}, {"detail", each.Detail},
			})
		}
		return c.answer(fields{
			{"deliveryId", id.Delivery.Of(d.ID)}, {"webhookId", id.Subscription.Of(d.SubscriptionID)},
			{"partner", d.Partner.Slug},
			{"url", withoutQuery(d.Subscription.URL)}, {"eventId", id.Event.Of(d.EventID)}, {"event", string(d.Event)},
			{"depositId", id.Deposit.FormatOrNil(d.DepositID)}, {"test", d.Test},
			{"status", string(webhook.DeliveryStatusOf(d.State, d.Attempts))},
			{"failureReason", textOrNone(string(d.FailureReason))}, {"attemptCount", d.Attempts}, {"createdAt", at(d.CreatedAt)},
			{"deliveredAt", at(d.DeliveredAt)}, {"nextAttemptAt", at(d.DueAt)},
			{"redeliveryOf", id.Delivery.FormatOrNil(d.RedeliveryOf)},
			{"bodySha256", d.BodySHA256}, {"attempts", attempts},
		})
	})
}

type eventCommands struct {
	Show eventShow `cmd:"" help:"Show an event with its deliveries."`
}

type eventShow struct {
	Event string `required:"" id:"" name:"id" help:"Id of the event: evt_…"`
}

func (s eventShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		e, err := a.Support.FindEvent(c.ctx, s.Event)
		if err != nil {
			return err
		}
		var reason any
		if e.Place == webhookports.StageSetAside {
			reason = e.Reason
		}
		return c.answer(fields{
			{"eventId", id.Event.Of(e.ID)}, {"event", string(e.Name)}, {"partner", e.Partner.Slug},
			{"depositId", id.Deposit.FormatOrNil(e.DepositID)},
			{"createdAt", at(e.CreatedAt)}, {"place", string(e.Place)}, {"reason", reason},
			{"deliveries", describedDeliveries(e.Deliveries)},
		})
	})
}
