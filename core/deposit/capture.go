package deposit

import (
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/money"
)

// Capture changes the status of the deposit to captured, for amount, or for the whole amount if it is nil. least is
// the smallest amount that the payment provider can charge.
//
// Returns invalid_field for 0 or less, ErrTooSmallToCharge, ErrCaptureExceedsAmount or ErrNotCapturable.
func (d *Deposit) Capture(amount *money.Cents, least money.Cents, timers TimerDurations, now time.Time) (Transition,
	error) {
	claimed := d.Amount
	if amount != nil {
		claimed = *amount
	}
	if claimed <= 0 {
		return Transition{}, fault.ErrInvalidField.WithField("amount", "must be more than 0")
	}
	if claimed < least {
		return Transition{}, ErrTooSmallToCharge.WithMessage(
			"amount: %sis below the minimum of %s EUR that can be charged to a card", euros(claimed), least)
	}
	if claimed > d.Amount {
		return Transition{},
			ErrCaptureExceedsAmount.WithMessage("amount: %sexceeds the deposit's amount of %s EUR", euros(claimed), d.Amount)
	}
	step, err := d.ApplyTrigger(TriggerCaptureRequested, timers, now)
	if err != nil {
		return step, err
	}
	d.CapturedAmount = claimed
	return step, nil
}

// CaptureDetails returns the reason and the description of a capture from the deposit's history; "" and "" without
// a capture.
func CaptureDetails(steps []Transition) (reason, words string) {
	for _, step := range steps {
		if step.Trigger == TriggerCaptureRequested {
			reason, words = step.Detail["reason"], step.Detail["description"]
		}
	}
	return reason, words
}
