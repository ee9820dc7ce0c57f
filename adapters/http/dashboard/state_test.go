package dashboard_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/connecttest"
)

// chips gives the states of deposits that a page shows, each as its text and its tone.
func chips(page connecttest.Answer) (all [][2]string) {
	for _, n := range page.All("span") {
		if class := strings.Fields(attribute(n, "class")); len(class) > 0 && class[0] == "chip" {
			tone := ""
			if len(class) > 1 && !strings.HasPrefix(class[1], "i-") { // the last class is the icon
				tone = class[1]
			}
			all = append(all, [2]string{n.FirstChild.Data, tone})
		}
	}
	return all
}

// A captured amount is never called paid before the tenant has paid, nor is it called otherwise on another page.
func TestClaim_IsCalledByItsCollectionOnEveryPage(t *testing.T) {
	t.Parallel()
	c := newClaim(t)
	for _, step := range []struct {
		state, failure, en, fr, tone string
		today                        bool
	}{
		{"scheduled", "", "Claimed", "Réclamée", "", true},
		{"retrying", "insufficient_funds", "Card refused", "Carte refusée", "bad", true},
		{"awaiting_tenant", "lost_card", "Card refused", "Carte refusée", "bad", true},
		{"paid", "", "Paid", "Payée", "good", false},
		{"failed", "expired", "Not paid", "Non payée", "bad", false},
		{"failed", "settled_elsewhere", "Paid otherwise", "Payée autrement", "", false},
		{"failed", "withdrawn", "Claim dropped", "Réclamation abandonnée", "", false},
	} {
		change(t, c.Server, `UPDATE collections SET state = $1, failure = $2, ended_at =
			CASE WHEN $1::text IN ('paid', 'failed') THEN timestamptz '2026-11-05 10:00Z' END`, step.state, step.failure)
		for lang, says := range map[string]string{"en": step.en, "fr": step.fr} {
			want := [][2]string{{says, step.tone}}
			require.Equal(t, want, chips(c.b.Get(c.path+"?lang="+lang)), step.state)
			require.Equal(t, want, chips(c.b.Get("/dashboard/deposits?lang="+lang)), step.state)
			if today := c.b.Get("/dashboard?lang=" + lang); step.today {
				require.Equal(t, want, chips(today), step.state)
			}
		}
		page := c.b.Get(c.path + "?lang=en").Text("main")
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
