package agreement_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
)

func TestSubject_NamesOperatorAndDates(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 16, 0, 0, 0, time.UTC) }
	s := agreement.PaymentSubject{Company: "Chalet Neuf", From: day(2026, 11, 25), To: day(2026, 12, 2)}
	require.Equal(t, "Fee for the deposit of Chalet Neuf, 25 Nov – 2 Dec 2026", s.InLanguage("en-GB"))
	require.Equal(t, "Fee for the deposit of Chalet Neuf, 25 Nov – 2 Dec 2026", s.InLanguage(""))
	require.Equal(t, "Frais pour la caution de Chalet Neuf, 25 nov. – 2 déc. 2026", s.InLanguage("fr-FR"))
	s.To = day(2027, 1, 1)
	require.Equal(t, "Fee for the deposit of Chalet Neuf, 25 Nov 2026 – 1 Jan 2027", s.InLanguage("en"))
	s.Captured, s.From = true, day(2027, 1, 1)
	require.Equal(t, "Claim of Chalet Neuf on the deposit, 1 Jan 2027", s.InLanguage("en"))
	require.Equal(t, "Réclamation de Chalet Neuf sur la caution, 1er janv. 2027", s.InLanguage("fr"))
}

func TestSubject_LongOrHostileCompany_IsCutAndOnOneLine(t *testing.T) {
	t.Parallel()
	s := agreement.PaymentSubject{Company: strings.Repeat("é\n", 200), From: time.Unix(0, 0), To: time.Unix(0, 0)}
	for _, locale := range []string{"en", "fr"} {
		for _, s.Captured = range []bool{true, false} {
			got := s.InLanguage(locale)
			require.Equal(t, 250, utf8.RuneCountInString(got))
			require.True(t, utf8.ValidString(got))
			require.True(t, strings.HasSuffix(got, " 1970"), "the dates stay")
			require.NotContains(t, got, "\n")
		}
	}
}
