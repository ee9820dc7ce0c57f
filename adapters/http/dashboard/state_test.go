package dashboard_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/connecttest"
)

// chips gives the states of deposits that a page shows, each as its text and its tone.
func chips(page connecttest.Answer) (all [][2]string) {
	for _, n := range page.ElementsByTag("span") {
		if class := strings.Fields(attribute(n, "class")); len(class) > 0 && class[0] == "chip" {
			tone := slices.DeleteFunc(class[1:], func(c string) bool { return strings.HasPrefix(c, "i-") })
			all = append(all, [2]string{n.FirstChild.Data, strings.Join(tone, " ")})
		}
	}
	return all
}

// A captured amount is never called paid before the tenant has paid, nor is it called otherwise on another page.
func TestClaim_IsCalledByItsCollectionOnEveryPage(t *testing.T) {
	c := newClaim(t)
	claimed, refused := [2]string{"Claimed, not paid yet", "Réclamé, pas encore payé"},
		[2]string{"Claimed, card refused", "Réclamé, carte refusée"}
	for _, step := range []struct {
		state, failure, en, fr, tone string
		today                        [2]string // the heading above the deposit
	}{
		{"scheduled", "", "Claimed", "Réclamée", "", claimed},
		{"retrying", "insufficient_funds", "Card refused", "Carte refusée", "bad", claimed},
		{"awaiting_tenant", "lost_card", "Card refused", "Carte refusée", "bad", refused},
		{"paid", "", "Paid", "Payée", "good", [2]string{}},
		{"failed", "expired", "Not paid", "Non payée", "bad", [2]string{}},
		{"failed", "settled_elsewhere", "Paid otherwise", "Payée autrement", "", [2]string{}},
		{"failed", "withdrawn", "Claim dropped", "Réclamation abandonnée", "", [2]string{}},
	} {
		change(t, c.Server, `UPDATE collections SET state = $1, failure = $2, ended_at =
			CASE WHEN $1::text IN ('paid', 'failed') THEN timestamptz '2026-11-05 10:00Z' END`, step.state, step.failure)
		for lang, says := range map[string]string{"en": step.en, "fr": step.fr} {
			want := [][2]string{{says, step.tone}}
			require.Equal(t, want, chips(c.b.Get(c.path+"?lang="+lang)), step.state)
			require.Equal(t, want, chips(c.b.Get("/dashboard/deposits?lang="+lang)), step.state)
			heading := step.today[slices.Index([]string{"en", "fr"}, lang)]
			if today := groupsOf(c.b.Get("/dashboard?lang=" + lang)); heading != "" {
				require.Len(t, today, 1, step.state)
				require.Equal(t, heading+" 1", today[0].title, step.state)
				require.Equal(t, []string{c.reference}, today[0].all)
			}
		}
		page := c.b.Get(c.path + "?lang=en").ElementText("main")
		if step.state == "paid" {
			require.Contains(t, page, "Paid")
		} else {
			require.NotContains(t, page, "Paid €")
			require.Contains(t, page, "Claimed")
		}
		rows, err := csv.NewReader(strings.NewReader(c.b.Get("/dashboard/deposits.csv").Body)).ReadAll()
		require.NoError(t, err)
		paid := []string{step.state, "0.00", ""}
		if step.state == "paid" {
			paid = []string{"paid", "120.50", "2026-11-05T10:00:00.000Z"}
		}
		require.Equal(t, paid, rows[1][10:], step.state)
	}
	require.Equal(t, deposit.Captured, depositOf(t, c.Server, c.reference).Status)
}
