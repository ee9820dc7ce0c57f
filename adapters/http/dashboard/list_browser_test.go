package dashboard_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/servicetest"
)

// people gives every deposit a tenant: each sixth has a long name, each seventh none.
func people(t *testing.T, s *connecttest.Server, references []string) {
	t.Helper()
	names := [][2]string{{"Maximiliane-Charlotte", "von Hohenzollern-Sigmaringen"}, {"Grace", "Hopper"},
		{"Ana", "García López"}, {"Li", "Wu"}, {"Élodie", "Lefèvre"}, {"Sinéad", "O’Connor"}}
	for i, reference := range references {
		change(t, s, `UPDATE deposits SET rental_contract = $2, contract_end_at = contract_end_at + $3::int * interval '5 days'
			WHERE reference = $1`, reference, "BK-41"+reference[len(reference)-2:], i%3)
		if i%7 == 6 {
			continue
		}
		clientID, name := servicetest.NewID(), names[i%6]
		change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
			SELECT $1::uuid, account_id, reference || '@example.com', $2, $3, '', 'en', now() FROM deposits
			WHERE reference = $4`,
			clientID, name[0], name[1], reference)
		change(t, s, `UPDATE deposits SET client_id = $1 WHERE reference = $2`, clientID, reference)
	}
}

// rowsAboveTheFold counts the rows of the list that the window holds whole.
const rowsAboveTheFold = `String([...document.querySelectorAll("table.deposits tbody tr")]
	.filter((r) => r.getBoundingClientRect().bottom <= innerHeight).length)`

// The list shows many deposits at once in both languages, each row of it opens its deposit, and its boxes do not.
func TestBrowser_TheListFitsManyRows_WhichAreOneTargetEach(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{})
			p := s.CreatePartner("demo")
			browser := browsertest.New(t, first...)
			require.NoError(t, chromedp.Do(browser, viewports["desktop"], browsertest.DisableScripts))
			account := signIn(browser, t, s, "a@b.example")
			made := deposits(t, s, p, account.ID, 60)
			people(t, s, made)
			for i, reference := range made[40:57] {
				secured(t, s, reference, time.Duration(i)*24*time.Hour+time.Hour)
			}
			refused(t, s, made[57])
			refusedClaim(t, s, made[58])
			captured(t, s, made[59], 8_025)
			lang := browsertest.LanguageByColorScheme[scheme]
			for device, least := range map[string]int{"desktop": 12, "phone": 5} {
				for view, query := range map[string]string{"all": "", "ending": "view=ending&", "refused": "view=refused&"} {
					name := "list-" + view + "-" + lang + "-" + scheme + "-" + device
					require.NoError(t, chromedp.Do(browser, viewports[device],
						chromedp.Navigate(s.URL+"/dashboard/deposits?"+query+"lang="+lang), chromedp.WaitVisible("table.deposits")))
					browsertest.RequireUsablePage(browser, t, name)
					if view == "all" {
						rows, err := strconv.Atoi(ask(browser, t, rowsAboveTheFold))
						require.NoError(t, err)
						require.GreaterOrEqual(t, rows, least, name)
					}
				}
			}
			require.NoError(t, chromedp.Do(browser, viewports["desktop"],
				chromedp.Navigate(s.URL+"/dashboard/deposits?lang="+lang+"&from=2020-01-01&status=pending"),
				chromedp.WaitVisible("#from")))
			browsertest.RequireUsablePage(browser, t, "list-period-"+lang+"-"+scheme+"-desktop")
			for device, viewport := range viewports {
				require.NoError(t, chromedp.Do(browser, viewport,
					chromedp.Navigate(s.URL+"/dashboard/deposits?lang=en"), chromedp.WaitVisible("table.deposits")))
				require.Equal(t, "true ", ask(browser, t, ticksAndStays), device)
				require.NoError(t, chromedp.Do(browser, chromedp.Click("tr:has(input[name=deposit]) input[name=deposit]")))
				require.Equal(t, "1", ask(browser, t, `String(document.querySelectorAll("[name=deposit]:checked").length)`))
				require.Equal(t, "true", ask(browser, t,
					`String(document.querySelector("#ticked button").getBoundingClientRect().bottom <= innerHeight)`), "the acts are seen")
				browsertest.RequireUsablePage(browser, t, "list-ticked-"+scheme+"-"+device)
				opened := ask(browser, t, `document.querySelector("tbody tr .who a").pathname`)
				require.NoError(t, chromedp.Do(browser, chromedp.Click("tbody tr .stay"), chromedp.WaitVisible(".timeline")))
				require.Equal(t, opened, ask(browser, t, "location.pathname"), device)
			}
		})
	}
}

// ticksAndStays tells whether the middle of each box is the box, and which cells are not their row's link.
const ticksAndStays = `(() => {
	const at = (e) => { const b = e.getBoundingClientRect();
		return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2); };
	const rows = [...document.querySelectorAll("table.deposits tbody tr")]
		.filter((r) => r.getBoundingClientRect().bottom <= innerHeight);
	const boxes = rows.flatMap((r) => [...r.querySelectorAll("input")]);
	const cells = rows.flatMap((r) => [...r.querySelectorAll(".stay, .num, .state, .who")]);
	return (boxes.length > 0 && boxes.every((b) => at(b) === b)) + " " +
		cells.filter((c) => at(c) !== c.closest("tr").querySelector("a")).map((c) => c.outerHTML + " is " + at(c).outerHTML);
})()`
