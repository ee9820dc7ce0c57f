package mails

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/money"
	"partnerdeposits/core/zone"
)

// language is a language of mails, with formats and fixed texts.
type language struct {
	tag           string
	french        bool
	months        [12]string
	group, point  string
	before, after string // The euro sign with its space, before or after an amount.
	colon         string

	brand, greeting, fallback, warning string
}

const noBreak = "\u00a0"

var (
	english = &language{
		tag: "en", group: ",", point: ".", before: "€", colon: ":",
		months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
			"November", "December"},
		brand: "Rental deposits", greeting: "Hello,", fallback: "If the button does not work, open this address:",
		warning: "The link is for you alone: please do not pass this mail on.",
	}
	french = &language{
		tag: "fr", french: true, group: noBreak, point: ",", after: noBreak + "€", colon: noBreak + ":",
		months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
			"novembre", "décembre"},
		brand: "Cautions locatives", greeting: "Bonjour,",
		fallback: "Si le bouton ne fonctionne pas, ouvrez cette adresse" + noBreak + ":",
		warning:  "Le lien vous est personnel" + noBreak + ": ne transférez pas cet e-mail.",
	}
)

// languagesOf returns the languages of a mail to a reader with this locale: both for "", which is unknown.
func languagesOf(locale string) []*language {
	switch name, _, _ := strings.Cut(strings.ToLower(locale), "-"); name {
	case "":
		return []*language{english, french}
	case "fr":
		return []*language{french}
	default:
		return []*language{english}
	}
}

// LanguageOf returns the BCP 47 tag of a mail to a reader with this locale; "" for several languages.
func LanguageOf(locale string) string {
	if all := languagesOf(locale); len(all) == 1 {
		return all[0].tag
	}
	return ""
}

var frenchSpaces = strings.NewReplacer(" ?", noBreak+"?", " !", noBreak+"!", " :", noBreak+":", " ;", noBreak+";", "« ",
	"«"+noBreak, " »", noBreak+"»")

// say returns the English or French text with args, formatted as by fmt.Sprintf.
func (l *language) say(en, fr string, args ...any) string {
	text := en
	if l.french {
		text = frenchSpaces.Replace(fr)
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// euros formats an amount as €1,250.00, or 1 250,00 € in French.
func (l *language) euros(c money.Cents) string {
	whole := strconv.FormatInt(int64(c/100), 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + l.group + whole[i:]
	}
	return l.before + whole + l.point + strconv.FormatInt(int64(c%100)+100, 10)[1:] + l.after
}

// date formats the day of a time in its own zone: 8 August 2026.
func (l *language) date(t time.Time) string {
	t = zone.InDisplayZone(t)
	day := strconv.Itoa(t.Day())
	if l.french && t.Day() == 1 {
		day = "1er"
	}
	return day + noBreak + l.months[t.Month()-1] + noBreak + strconv.Itoa(t.Year())
}

// minute formats a time with its own zone: 8 August 2026, 10:00 UTC.
func (l *language) minute(t time.Time) string {
	return l.date(t) + ", " + strings.Replace(zone.FormatTime(t), " ", noBreak, 1)
}

// imprint returns the lines about support, terms and privacy notice below a mail; a missing one is left out.
func (l *language) imprint(i agreement.Imprint) []string {
	var out []string
	if i.SupportEmail != "" {
		out = append(out,
			l.say("Questions, or do you object? Write to %s.", "Une question ou un désaccord ? Écrivez à %s.", i.SupportEmail))
	}
	if i.TermsURL != "" {
		out = append(out, l.say("Terms: %s", "Conditions : %s", i.TermsURL))
	}
	if i.PrivacyURL != "" {
		out = append(out, l.say("Privacy: %s", "Données personnelles : %s", i.PrivacyURL))
	}
	return out
}
