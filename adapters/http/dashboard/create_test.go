package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/zone"
	"partnerdeposits/lab/connecttest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func newFields(change map[string]string) map[string]string {
	fields := map[string]string{"amount": "300,00", "startsOn": "2031-07-01", "endsOn": "2031-07-08",
		"rentalContract": "B-1", "firstName": "Grace", "lastName": "Hopper", "email": "grace@example.com"}
	for k, v := range change {
		fields[k] = v
	}
	return fields
}

func TestCreate_MakesADepositAndMailsItsLink(t *testing.T) {
	d := newDesk(t)
	page := d.b.Get("/dashboard/deposits/new")
	sent := d.b.Send(page, 0, newFields(nil))
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.Regexp(t, `^/dashboard/deposits/dep_[0-9a-z]{26}\?done=created$`, sent.Location)
	made := d.b.Get(sent.Location)
	for _, want := range []string{"The deposit is made, and its link is on its way", "€300.00", "Grace Hopper",
		"grace@example.com", "1\u00a0Jul\u00a02031 – 8\u00a0Jul\u00a02031", "B-1", "You"} {
		require.Contains(t, made.Body, want)
	}
	require.Equal(t, 1,
		d.Count("deposits",
			"NOT by_partner_api AND partner_id = $1 AND account_id = $2 AND amount_cents = 30000 AND contract_end_at = '2031-07-08 23:59:59+00'",
			d.partner.ID, d.account))
	require.Equal(t, 1, d.Count("mails", "recipient = 'grace@example.com' AND link_of IS NOT NULL"))
	require.Equal(t, 1, d.Count("audit_log", "action = 'deposit.create' AND actor LIKE 'operator:opr_%'"))
	require.Zero(t, d.Count("outbox", "name <> 'rental_operator.linked'"), "the creation has no event")

	// The same form again, a double click included: the same deposit.
	require.Equal(t, sent.Location, d.b.Send(page, 0, newFields(nil)).Location)
	changed := d.b.Send(page, 0, newFields(map[string]string{"amount": "400"}))
	require.Equal(t, http.StatusConflict, changed.Status)
	require.Contains(t, changed.Body, "This form has made a deposit already")
	require.Equal(t, 2, d.Count("deposits", ""))
}

func TestCreate_AtOnce_MakesOneDeposit(t *testing.T) {
	d := newDesk(t)
	page := d.b.Get("/dashboard/deposits/new")
	values := url.Values{}
	for _, n := range page.ElementsByTag("input") {
		values.Set(attribute(n, "name"), attribute(n, "value"))
	}
	for k, v := range newFields(nil) {
		values.Set(k, v)
	}
	var wg sync.WaitGroup
	answers := make([]connecttest.Answer, 8)
	for i := range answers {
		wg.Go(func() { answers[i] = d.b.Post("/dashboard/deposits/new", values) })
	}
	wg.Wait()
	for _, a := range answers {
		require.Equal(t, http.StatusSeeOther, a.Status, a.Body)
	}
	require.Equal(t, 1, d.Count("deposits", "NOT by_partner_api"))
	require.Equal(t, 1, d.Count("mails", "link_of IS NOT NULL"))
	require.Equal(t, 1, d.Count("clients", ""))
}

func TestCreate_WithoutATenant_ShowsTheLinkToCopy(t *testing.T) {
	d := newDesk(t)
	sent := d.b.Submit("/dashboard/deposits/new",
		newFields(map[string]string{"firstName": "", "lastName": "", "email": "", "rentalContract": ""}))
	made := d.b.Get(sent.Location)
	require.Contains(t, made.Body, "Give the tenant the link below.")
	link := made.InputAttribute("link", "value")
	require.True(t, strings.HasPrefix(link, d.DashboardURL+"/checkout/"), link)
	require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
	require.Zero(t, d.Count("clients", ""))
	found, err := d.Postgres.Deposits.Deposits(t.Context(), depositports.DepositFilter{AccountID: d.account},
		ports.Page{Limit: 1})
	require.NoError(t, err)
	tokens, err := d.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{found.Items[0].ID})
	require.NoError(t, err)
	require.Equal(t, d.DashboardURL+"/checkout/"+tokens[found.Items[0].ID].Reveal(), link)
}

func TestCreate_WithMistakes_MakesNothing(t *testing.T) {
	d := newDesk(t)
	for field, values := range map[string][]string{
		"amount": {"", "69.99", "2500.01", "1,000.00", "x"}, "startsOn": {"", "1.7.2031", "2031-02-30"},
		"endsOn":         {"", "2031-06-30", "x"},
		"rentalContract": {strings.Repeat("x", 256), "a\x00", "a\u202eb"},
		"firstName":      {"", strings.Repeat("x", 101), "a\u2028b"}, "lastName": {" "}, "email": {"", "x", "a@b"},
	} {
		for _, value := range values {
			sent := d.b.Submit("/dashboard/deposits/new", newFields(map[string]string{field: value}))
			require.Equal(t, http.StatusUnprocessableEntity, sent.Status, "%s %q", field, value)
			require.Equal(t, "true", sent.InputAttribute(field, "aria-invalid"), "%s %q", field, value)
			require.Contains(t, sent.Body, `href="#`+field+`"`)
		}
	}
	every := d.b.Submit("/dashboard/deposits/new", map[string]string{"firstName": "Grace"})
	require.Len(t, every.ElementsByTag("li"), 5, "every mistake at once")
	require.Equal(t, 1, d.Count("deposits", ""))
	require.Zero(t, d.Count("clients", ""))
	require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
}

func TestCreate_OfAStayLongerThanTheCover_AsksOnce(t *testing.T) {
	d := newDesk(t)
	made := d.Count("deposits", "")
	asked := d.b.Submit("/dashboard/deposits/new", newFields(map[string]string{"endsOn": "2031-09-01"}))
	require.Equal(t, http.StatusOK, asked.Status)
	require.Contains(t, asked.Body, "until 30\u00a0August\u00a02031")
	require.Equal(t, "2031-09-01", asked.InputAttribute("endsOn", "value"))
	require.Equal(t, made, d.Count("deposits", ""), "nothing is made before")
	sent := d.b.Send(asked, 0, nil)
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.Equal(t, made+1, d.Count("deposits", ""))
	require.Equal(t, http.StatusSeeOther,
		d.b.Submit("/dashboard/deposits/new", newFields(map[string]string{"endsOn": "2031-08-29"})).Status, "60 days")
}

func TestCreate_StayThatIsOver_IsRefusedAtItsField(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"UTC": "the stay is over", "Pacific/Kiritimati": "the stay is over",
		"America/New_York": "le séjour est terminé"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.setZone(name)
			made := d.Count("deposits", "")
			path := "/dashboard/deposits/new?lang=" + map[bool]string{true: "fr", false: "en"}[strings.HasPrefix(words, "le")]
			ending := func(days int) map[string]string {
				last := d.Clock.Now().In(zone.ByName(name)).AddDate(0, 0, days).Format(time.DateOnly)
				return newFields(map[string]string{"startsOn": "2020-07-01", "endsOn": last})
			}
			for _, days := range []int{-1, -2, -400} {
				sent := d.b.Submit(path, ending(days))
				require.Equal(t, http.StatusUnprocessableEntity, sent.Status, days)
				require.Equal(t, "true", sent.InputAttribute("endsOn", "aria-invalid"), days)
				require.Equal(t, 1, strings.Count(sent.Body, `aria-invalid="true"`), "a first day may have passed")
				require.Contains(t, sent.ElementText("main"), words)
			}
			both := ending(-1)
			both["amount"], both["email"] = "x", "x"
			sent := d.b.Submit(path, both)
			require.Equal(t, http.StatusUnprocessableEntity, sent.Status)
			require.Contains(t, sent.ElementText("main"), words, "every mistake at once")
			require.Equal(t, made, d.Count("deposits", ""))
			require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
			require.Zero(t, d.Count("clients", ""))

			page, today := d.b.Get(path), ending(0)
			sent = d.b.Send(page, 0, today)
			require.Equal(t, http.StatusSeeOther, sent.Status, "today is the last day")
			for end := zone.NextDay(d.Clock.Now().In(zone.ByName(name))); d.Clock.Now().Before(end); d.b.Get("/dashboard") {
				d.Clock.Set(end.Add(-max(0, end.Sub(d.Clock.Now())-11*time.Hour))) // the session lasts
			}
			require.Equal(t, sent.Location, d.b.Send(page, 0, today).Location, "the form has made its deposit already")
			require.Equal(t, made+1, d.Count("deposits", ""))
			require.Equal(t, 1, d.Count("mails", "link_of IS NOT NULL"))
			again := d.b.Send(d.b.Get(path), 0, today)
			require.Equal(t, http.StatusUnprocessableEntity, again.Status, "another form is too late")
			d.path, _, _ = strings.Cut(sent.Location, "?")
			require.NotContains(t, d.b.Get(d.path).Body, "send_link", "and its link is not offered any more")
		})
	}
}
