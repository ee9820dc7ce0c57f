package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
)

// state is what a deposit is called. Tone is a CSS class: good, bad or none; the text alone tells the state, too.
type state struct{ Text, Tone string }

// stateOf words the status of a deposit. A captured deposit is called by its collection: it is claimed until the tenant
// has paid. debt is nil while that is not known.
func stateOf(d *deposit.Deposit, debt *deposit.Debt, lang ui.Lang) state {
	if d.Status != deposit.Captured || debt == nil {
		return state{statuses[d.Status].In(lang), tones[d.Status]}
	}
	switch debt.State {
	case deposit.CollectionPaid:
		return state{textPaidState.In(lang), "good"}
	case deposit.CollectionRetrying, deposit.AwaitingTenant:
		return state{textCardRefused.In(lang), "bad"}
	case deposit.CollectionFailed:
		switch deposit.CollectionTrigger(debt.Failure) {
		case deposit.SettledElsewhere:
			return state{textSettledState.In(lang), ""}
		case deposit.CollectionWithdrawn:
			return state{textDroppedState.In(lang), ""}
		}
		return state{textNotPaid.In(lang), "bad"}
	case deposit.CollectionScheduled:
	}
	return state{statuses[d.Status].In(lang), ""}
}
