package sandbox

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/money"
)

type words struct {
	lang, title, banner, explain, pay, cancel, number string
	expiry, expiryHint, cvc, cards, good, bad         string
	mistakes                                          map[mistake]string
	amount                                            func(money.Cents) string
}

var english = words{
	lang:       "en",
	title:      "Pay by card",
	banner:     "Test page: no money moves.",
	explain:    "This page stands in for the payment provider. Use a test card, never a real one.",
	pay:        "Pay %s",
	cancel:     "Cancel and return",
	number:     "Card number",
	expiry:     "Expiry",
	expiryHint: "MM/YY",
	cvc:        "Security code",
	cards:      "Test cards",
	good:       "is accepted",
	bad:        "is declined",
	mistakes: map[mistake]string{
		wrongNumber: "This card number is not valid.",
		wrongExpiry: "Enter the expiry as month / year, such as 12/34.",
		expiredCard: "This card has expired.",
		wrongCVC:    "The security code has 3 or 4 digits.",
	},
	amount: func(c money.Cents) string { return "€" + c.String() },
}

var french = words{
	lang:       "fr",
	title:      "Payer par carte",
	banner:     "Page de test : aucun argent n’est débité.",
	explain:    "Cette page remplace le prestataire de paiement. Utilisez une carte de test, jamais une vraie carte.",
	pay:        "Payer %s",
	cancel:     "Annuler et revenir",
	number:     "Numéro de carte",
	expiry:     "Date d’expiration",
	expiryHint: "MM/AA",
	cvc:        "Code de sécurité",
	cards:      "Cartes de test",
	good:       "est acceptée",
	bad:        "est refusée",
	mistakes: map[mistake]string{
		wrongNumber: "Ce numéro de carte n’est pas valide.",
		wrongExpiry: "Saisissez la date sous la forme mois / année, par exemple 12/34.",
		expiredCard: "Cette carte a expiré.",
		wrongCVC:    "Le code de sécurité compte 3 ou 4 chiffres.",
	},
	amount: func(c money.Cents) string { return strings.ReplaceAll(c.String(), ".", ",") + "\u00a0€" },
}

// wordsOf returns the texts of the payment page in the language of the parameter lang, or else the browser's;
// English is the default.
func wordsOf(c *fiber.Ctx) words {
	lang := c.Query(langParam)
	if lang == "" {
		lang = c.Get(fiber.HeaderAcceptLanguage)
	}
	if strings.HasPrefix(strings.ToLower(lang), french.lang) {
		return french
	}
	return english
}
