package agreement_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/money"
)

func terms() agreement.Terms {
	return agreement.Terms{
		Company: "Les Gîtes d’Ada", Amount: 125_000, Fee: 4_375, Until: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC),
		Imprint: agreement.Imprint{TermsURL: "https://example.com/terms", PrivacyURL: "https://example.com/privacy",
			SupportEmail: "help@example.com"},
	}
}

func plain(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// The words are evidence: a change needs a new Version.
func TestWords_OfThisVersion_AreThese(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2026-11-27", agreement.Version)
	require.Equal(t, "I agree that up to €1,250.00 may be charged to my card for claims until 1 Aug 2026. "+
		"I pay a fee of €43.75 now, once, and the card I pay with is kept. "+
		"If Les Gîtes d’Ada claims money for this rental, such as for damage, the amount is charged to that card without a further step of mine: up to €1,250.00 in all, "+
		"for claims made until 1 August 2026. I get an e-mail about each claim, with the amount and the reason. "+
		"I can object by writing to Les Gîtes d’Ada or to help@example.com, and with my bank. "+
		"The terms at https://example.com/terms apply. https://example.com/privacy tells how my data is used.",
		plain(terms().FullText("en-GB")))
	require.Equal(t,
		"J’accepte un débit de 1 250,00 € au plus sur ma carte pour réclamation jusqu’au 1er août 2026. "+
			"Je paie maintenant, une seule fois, des frais de 43,75 €, et la carte avec laquelle je paie est conservée. "+
			"Si Les Gîtes d’Ada réclame une somme pour cette location, par exemple pour un dommage, le montant est débité de cette carte sans autre démarche de ma part : "+
			"jusqu’à 1 250,00 € au total, pour les réclamations faites jusqu’au 1er août 2026. "+
			"Je reçois un e-mail pour chaque réclamation, avec le montant et le motif. Je peux la contester en écrivant à Les Gîtes d’Ada ou à help@example.com, et auprès de ma banque. "+
			"Les conditions publiées sur https://example.com/terms s’appliquent. La page https://example.com/privacy indique l’usage de mes données.",
		plain(terms().FullText("fr")))
}

func TestWords_CoverThatDependsOnThePayment_SayHowLong(t *testing.T) {
	t.Parallel()
	limited := terms()
	limited.Days, limited.Imprint = 60, agreement.Imprint{}
	require.Contains(t, plain(limited.FullText("")), "until 60 days after I pay, which is 1 August 2026 if I pay today.")
	require.Contains(t, plain(limited.FullText("fr-FR")),
		"jusqu’à 60 jours après mon paiement, soit le 1er août 2026 si je paie aujourd’hui.")
	require.Contains(t, limited.FullText("de"), "by writing to Les Gîtes d’Ada, and with my bank.")
	require.NotContains(t, limited.FullText("en"), "terms at")
	require.NotContains(t, limited.FullText("fr"), "conditions")
}

func TestShort_GroupsTheDigitsOfAnAmount(t *testing.T) {
	t.Parallel()
	for amount, want := range map[money.Cents][2]string{
		7_000: {"€70.00", "70,00 €"}, 70_005: {"€700.05", "700,05 €"}, 10_000_000: {"€100,000.00", "100 000,00 €"},
		123_456_789: {"€1,234,567.89", "1 234 567,89 €"},
	} {
		claimed := terms()
		claimed.Amount = amount
		require.Contains(t, plain(claimed.ShortText("en")), "up to "+want[0]+" may")
		require.Contains(t, plain(claimed.ShortText("fr")), "débit de "+want[1]+" au plus")
	}
}

func TestLocaleOf_IsTheLanguageOfTheLastAgreement(t *testing.T) {
	t.Parallel()
	require.Empty(t, agreement.LatestLocale(nil))
	require.Equal(t, "fr", agreement.LatestLocale([]agreement.Record{{Locale: "en"}, {Locale: "fr"}}))
}

// A tenant reads the sentence beside the checkbox first, so it must be part of what is kept.
func TestShort_BeginsTheWords(t *testing.T) {
	t.Parallel()
	limited := terms()
	limited.Days = 60
	for locale, until := range map[string]string{
		"en": "for claims until 60 days after I pay.", "fr": "si réclamation sous 60 jours du paiement.",
	} {
		require.True(t, strings.HasPrefix(terms().FullText(locale), terms().ShortText(locale)+" "))
		require.True(t, strings.HasPrefix(limited.FullText(locale), limited.ShortText(locale)+" "))
		require.True(t, strings.HasSuffix(plain(limited.ShortText(locale)), until), limited.ShortText(locale))
	}
}

func TestWords_HostileCompany_StayInOneLine(t *testing.T) {
	t.Parallel()
	hostile := terms()
	hostile.Company = "A\u202e\nB"
	for _, locale := range []string{"en", "fr"} {
		require.NotContains(t, hostile.FullText(locale), "\n")
		require.NotContains(t, hostile.FullText(locale), "\u202e")
	}
}

func TestAccept_GivesTheWordsThatWereShown(t *testing.T) {
	t.Parallel()
	words := terms().FullText("fr")
	got, err := terms().Accept(agreement.SubmittedForm{Agreed: true, Locale: "fr",
		PageWords: agreement.Fingerprint(words)})
	require.NoError(t, err)
	require.Equal(t, words, got)
	got, err = terms().Accept(agreement.SubmittedForm{Agreed: true, Locale: "fr"})
	require.NoError(t, err, "a form without a fingerprint")
	require.Equal(t, words, got)
}

func TestAccept_WithoutConsentOrOfOtherWords_IsRefused(t *testing.T) {
	t.Parallel()
	shown := agreement.Fingerprint(terms().FullText("en"))
	_, err := terms().Accept(agreement.SubmittedForm{PageWords: shown, Locale: "en"})
	require.ErrorIs(t, err, agreement.ErrMissing)
	later := terms()
	later.Until = later.Until.AddDate(0, 0, 1)
	_, err = later.Accept(agreement.SubmittedForm{Agreed: true, PageWords: shown, Locale: "en"})
	require.ErrorIs(t, err, agreement.ErrChanged)
	_, err = terms().Accept(agreement.SubmittedForm{Agreed: true, PageWords: shown, Locale: "fr"})
	require.ErrorIs(t, err, agreement.ErrChanged, "the words in another language are other words")
}

// A page that was rendered before the words changed carries the fingerprint of the older version.
func TestAccept_OfThePreviousVersion_IsAskedAgain(t *testing.T) {
	t.Parallel()
	older := "I agree: I pay a fee of €43.75 now, once, and the card I pay with is kept."
	_, err := terms().Accept(agreement.SubmittedForm{Agreed: true, Locale: "en", PageWords: agreement.Fingerprint(older)})
	require.ErrorIs(t, err, agreement.ErrChanged)
}

func TestCleanUserAgent_HostileText_IsShortAndPrintable(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Mozilla/5.0 é", agreement.CleanUserAgent("Mozilla/5.0\x00\n \xffé"))
	long := agreement.CleanUserAgent(strings.Repeat("é", agreement.MaxUserAgentLength))
	require.Len(t, long, agreement.MaxUserAgentLength)
}
