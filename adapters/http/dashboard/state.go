package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
)

// stateOf returns the label for a deposit's status; for a captured one, the state of its collection. debt is nil
// if that is unknown.
func stateOf(d *deposit.Deposit, debt *deposit.Debt, lang ui.Lang) ui.Chip {
	if d.Status != deposit.Captured || debt == nil {
		chip := chips[d.Status]
		chip.Text = statuses[d.Status].In(lang)
		return chip
	}
	switch debt.State {
	case deposit.CollectionPaid:
		return ui.Chip{Text: textPaidState.In(lang), Tone: "good", Icon: "i-paid"}
	case deposit.CollectionRetrying, deposit.CollectionAwaitingTenant:
		return ui.Chip{Text: textCardRefused.In(lang), Tone: "bad", Icon: "i-alert"}
	case deposit.CollectionFailed:
		switch deposit.CollectionTrigger(debt.Failure) {
		case deposit.CollectionTriggerSettledElsewhere:
			return ui.Chip{Text: textSettledState.In(lang), Icon: "i-paid"}
		case deposit.CollectionTriggerWithdrawn:
			return ui.Chip{Text: textDroppedState.In(lang), Icon: "i-cross"}
		}
		return ui.Chip{Text: textNotPaid.In(lang), Tone: "bad", Icon: "i-cross"}
	case deposit.CollectionScheduled:
	}
	chip := chips[d.Status]
	chip.Text = statuses[d.Status].In(lang)
	return chip
}
