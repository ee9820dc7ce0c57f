package dashboard

import (
	"strconv"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
)

// moneyOf returns the lines about a captured amount: its collection and the card's charges.
func moneyOf(v desk.DepositView, lang ui.Lang) []fact {
	captured := fact{Name: textClaimed.In(lang), Value: ui.Euros(lang, v.CapturedAmount)}
	if v.Debt == nil {
		return []fact{captured}
	}
	d := *v.Debt
	if d.State == deposit.CollectionPaid {
		captured.Name = textPaid.In(lang)
	}
	captured.Note = collectionOf(d, lang)
	facts := []fact{captured}
	if d.Attempt > 0 {
		note := textLastAttempt.In(lang, ui.FormatDate(lang, d.AttemptedAt))
		if d.Failure != "" && !d.State.Final() {
			note += " " + failureOf(d.Failure, lang)
		}
		facts = append(facts, fact{textAttempts.In(lang), strconv.Itoa(d.Attempt), note})
	}
	if !d.NextAttemptAt.IsZero() {
		facts = append(facts, fact{textNextAttempt.In(lang), ui.FormatDate(lang, d.NextAttemptAt), ""})
	}
	if d.State == deposit.CollectionPaid {
		facts = append(facts, fact{textPaidOn.In(lang), ui.FormatDate(lang, d.EndedAt), ""})
	}
	return facts
}

func refundsOf(v desk.DepositView, lang ui.Lang) []fact {
	facts := make([]fact, 0, len(v.Refunds))
	for _, r := range v.Refunds {
		facts = append(facts, fact{textRefund.In(lang), ui.Euros(lang, r.Amount), refundStates[r.Status].In(lang)})
	}
	return facts
}

// failureOf returns the text for the code of a refused charge; an unknown code itself, for support.
func failureOf(code string, lang ui.Lang) string {
	if text, known := failures[code]; known {
		return text.In(lang)
	}
	return textRefusedBy.In(lang, code)
}
