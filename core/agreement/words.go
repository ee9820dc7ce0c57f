package agreement

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/money"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/zone"
)

const noBreak = "\u00a0"

// FullText returns the whole text to which the tenant agrees. It is French for a French locale and English for
// every other.
func (t Terms) FullText(locale string) string {
	rest := t.english()
	if isFrench(locale) {
		rest = t.french()
	}
	return t.ShortText(locale) + " " + strings.Join(rest, " ")
}

// ShortText returns the sentence beside the checkbox of the agreement.
func (t Terms) ShortText(locale string) string {
	if isFrench(locale) {
		claims := "pour réclamation jusqu’au " + date(t.Until, shortMonths, true)
		if t.Days > 0 {
			claims = fmt.Sprintf("si réclamation sous %d"+noBreak+"jours du paiement", t.Days)
		}
		return fmt.Sprintf("J’accepte un débit de %s au plus sur ma carte %s.", euros(t.Amount, true), claims)
	}
	until := date(t.Until, shortMonths, false)
	if t.Days > 0 {
		until = fmt.Sprintf("%d"+noBreak+"days after I pay", t.Days)
	}
	return fmt.Sprintf("I agree that up to %s may be charged to my card for claims until %s.", euros(t.Amount, false), until)
}

func isFrench(locale string) bool {
	language, _, _ := strings.Cut(strings.ToLower(locale), "-")
	return language == "fr"
}

func (t Terms) english() []string {
	company := oneline.Clean(t.Company)
	until := date(t.Until, months, false)
	if t.Days > 0 {
		until = fmt.Sprintf("%d days after I pay, which is %s if I pay today", t.Days, until)
	}
	object := company
	if t.Imprint.SupportEmail != "" {
		object += " or to " + t.Imprint.SupportEmail
	}
	out := []string{
		fmt.Sprintf("I pay a fee of %s now, once, and the card I pay with is kept.", euros(t.Fee, false)),
		fmt.Sprintf(
			"If %s claims money for this rental, such as for damage, the amount is charged to that card without a further step of mine: up to %s in all, for claims made until %s.",
			company, euros(t.Amount, false), until),
		fmt.Sprintf(
			"I get an e-mail about each claim, with the amount and the reason. I can object by writing to %s, and with my bank.",
			object),
	}
	if t.Imprint.TermsURL != "" {
		out = append(out, fmt.Sprintf("The terms at %s apply.", t.Imprint.TermsURL))
	}
	if t.Imprint.PrivacyURL != "" {
		out = append(out, fmt.Sprintf("%s tells how my data is used.", t.Imprint.PrivacyURL))
	}
	return out
}

func (t Terms) french() []string {
	company := oneline.Clean(t.Company)
	until := "au " + date(t.Until, months, true)
	if t.Days > 0 {
		until = fmt.Sprintf("à %d jours après mon paiement, soit le %s si je paie aujourd’hui", t.Days, date(t.Until, months, true))
	}
	object := company
	if t.Imprint.SupportEmail != "" {
		object += " ou à " + t.Imprint.SupportEmail
	}
	out := []string{
		fmt.Sprintf("Je paie maintenant, une seule fois, des frais de %s, et la carte avec laquelle je paie est conservée.",
			euros(t.Fee, true)),
		fmt.Sprintf(
			"Si %s réclame une somme pour cette location, par exemple pour un dommage, le montant est débité de cette carte sans autre démarche de ma part"+noBreak+": "+
				"jusqu’à %s au total, pour les réclamations faites jusqu’%s.", company, euros(t.Amount, true), until),
		fmt.Sprintf(
			"Je reçois un e-mail pour chaque réclamation, avec le montant et le motif. Je peux la contester en écrivant à %s, et auprès de ma banque.",
			object),
	}
	if t.Imprint.TermsURL != "" {
		out = append(out, fmt.Sprintf("Les conditions publiées sur %s s’appliquent.", t.Imprint.TermsURL))
	}
	if t.Imprint.PrivacyURL != "" {
		out = append(out, fmt.Sprintf("La page %s indique l’usage de mes données.", t.Imprint.PrivacyURL))
	}
	return out
}

var months = map[bool][12]string{
	false: {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
		"December"},
	true: {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
		"décembre"},
}

var shortMonths = map[bool][12]string{
	false: {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	true:  {"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
}

// date formats the day of a time in the zone that the time carries: "12 August 2026", or "12 août 2026".
func date(at time.Time, months map[bool][12]string, french bool) string {
	at = zone.InDisplayZone(at)
	day := strconv.Itoa(at.Day())
	if french && at.Day() == 1 {
		day = "1er"
	}
	return day + noBreak + months[french][at.Month()-1] + noBreak + strconv.Itoa(at.Year())
}

// euros formats an amount: "€1,250.00", or "1 250,00 €" in French.
func euros(c money.Cents, french bool) string {
	whole, cents, _ := strings.Cut(c.String(), ".")
	group := ","
	if french {
		group = noBreak
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + group + whole[i:]
	}
	if french {
		return whole + "," + cents + noBreak + "€"
	}
	return "€" + whole + "." + cents
}
