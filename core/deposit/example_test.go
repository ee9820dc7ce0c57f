package deposit_test

import (
	"fmt"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// A deposit is created, secured by the tenant, and captured after damage.
func ExampleDeposit_ApplyTrigger() {
	timers := deposit.DefaultTimerDurations()
	created := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	draft := deposit.Draft{Amount: 50_000, ContractStartAt: created, ContractEndAt: created.AddDate(0, 0, 7)}
	if err := draft.Validate(deposit.DefaultMaxAmount, created); err != nil {
		fmt.Println(err)
		return
	}
	d := deposit.New(id.ID{1}, "D-7K3M-9Q2X", deposit.Origin{}, draft, nil, created)
	fmt.Println(d.Status, "until", deposit.FormatTimestamp(d.CheckoutExpiresAt))

	step, err := d.ApplyTrigger(deposit.TriggerSecured, timers, created.Add(time.Hour))
	fmt.Println(step.From, "→", step.To, step.To.EventName(), err)
	fmt.Println("covered until", deposit.FormatTimestamp(d.ExpiresAt))

	part := money.Cents(12_000) // nil would capture the whole amount
	step, err = d.Capture(&part, 50, timers, created.AddDate(0, 0, 8))
	fmt.Println(step.From, "→", step.To, step.To.EventName(), err)
	fmt.Println("captured", d.CapturedAmount, "because of", d.StatusReason)
	// Output:
	// pending until 2026-07-08T12:00:00.000Z
	// pending → active deposit.activated <nil>
	// covered until 2026-07-22T12:00:00.000Z
	// active → captured deposit.captured <nil>
	// captured 120.00 because of claim
}

// A trigger that the status does not allow is refused with the fault of the trigger.
func ExampleStatus_Next() {
	for _, trigger := range []deposit.Trigger{deposit.TriggerReleased, deposit.TriggerCancelledByPartner} {
		to, err := deposit.Active.Next(trigger)
		if err != nil {
			fmt.Println(trigger, "is refused:", fault.FromError(err).Code)
			continue
		}
		fmt.Println(trigger, "leads to", to)
	}
	// Output:
	// released leads to close
	// by_partner is refused: deposit_not_cancellable
}

// The fee is 3.5 % of the amount, and never less than 5.00 EUR.
func ExampleFee() {
	fmt.Println(deposit.Fee(7_000), deposit.Fee(50_000))
	// Output: 5.00 17.50
}
