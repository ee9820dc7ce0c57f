package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	acts "partnerdeposits/app/deposits"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

// severalDesk is a desk with deposits, each of a tenant of its own: t0@x.example, t1@x.example and so on.
type severalDesk struct {
	*desk
	made []string
}

func newSeveral(t *testing.T, n int, o connecttest.Options) severalDesk {
	t.Helper()
	t.Parallel()
	d := severalDesk{desk: &desk{Server: connecttest.New(t, o), t: t}}
	d.partner = d.CreatePartner("demo")
	d.b, d.account = linked(t, d.Server, "a@b.example", "demo")
	d.made = deposits(t, d.Server, d.partner, d.account, n)
	for i, reference := range d.made {
		known(t, d.Server, reference, fmt.Sprintf("t%d@x.example", i))
	}
	return d
}

// known makes the tenant of the deposit known.
func known(t *testing.T, s *connecttest.Server, reference, email string) {
	t.Helper()
	clientID := servicetest.NewID()
	change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
		SELECT $1, account_id, $3, 'Ada', 'of ' || $3::text, '', 'en', now() FROM deposits WHERE reference = $2`,
		clientID, reference, email)
	change(t, s, `UPDATE deposits SET client_id = $1, locale = 'en' WHERE reference = $2`, clientID, reference)
}

// claimedFrom makes the deposit a refused claim of the tenant, who was last mailed so long ago.
func (d severalDesk) claimedFrom(reference, email string, ago time.Duration) {
	d.t.Helper()
	refusedClaim(d.t, d.Server, reference)
	change(d.t, d.Server, `UPDATE clients SET email = $2 WHERE id =
		(SELECT client_id FROM deposits WHERE reference = $1)`, reference, email)
	change(d.t, d.Server, `UPDATE collections SET asked_at = $2 WHERE deposit_id =
		(SELECT id FROM deposits WHERE reference = $1)`, reference, d.Clock.Now().Add(-ago))
}

func (d severalDesk) fields(act acts.BulkAct, references ...string) url.Values {
	d.t.Helper()
	values := url.Values{"csrf_token": {d.b.Get(site.DepositsPath).InputAttribute("csrf_token", "value")},
		"intent": {string(act)}}
	for _, reference := range references {
		values.Add("deposit", id.Deposit.Of(depositOf(d.t, d.Server, reference).ID))
	}
	return values
}

func (d severalDesk) ask(act acts.BulkAct, references ...string) connecttest.Answer {
	d.t.Helper()
	return d.b.Post(site.DepositsPath, d.fields(act, references...))
}

// confirmation is the form of a question.
func confirmation(asked connecttest.Answer) url.Values {
	values := url.Values{}
	for _, n := range asked.ElementsByTag("input") {
		if name := attribute(n, "name"); name == "deposit" {
			values.Add(name, attribute(n, "value"))
		} else {
			values.Set(name, attribute(n, "value"))
		}
	}
	return values
}

// mailed gives how many links each tenant was mailed, without x.example.
func (d severalDesk) mailed() map[string]int {
	d.t.Helper()
	counts := map[string]int{}
	rows, err := d.Pool.Query(d.t.Context(), `SELECT recipient FROM mails WHERE link_of IS NOT NULL`)
	require.NoError(d.t, err)
	defer rows.Close()
	for rows.Next() {
		var to string
		require.NoError(d.t, rows.Scan(&to))
		counts[strings.TrimSuffix(to, "@x.example")]++
	}
	require.NoError(d.t, rows.Err())
	return counts
}

func (d severalDesk) audited(action string) int {
	return d.Count("audit_log", "action = $1 AND actor LIKE 'operator:opr_%'", action)
}

func TestSendLinks_OfAMixture_MailsWhoCanStillPayAndNamesTheOthers(t *testing.T) {
	d := newSeveral(t, 6, connecttest.Options{})
	refused(t, d.Server, d.made[1])
	change(t, d.Server, `UPDATE deposits SET status = 'incomplete', status_reason = 'checkout_idle',
		version = version + 1 WHERE reference = $1`, d.made[2])
	secured(t, d.Server, d.made[3], time.Hour)
	change(t, d.Server, `UPDATE deposits SET client_id = NULL WHERE reference = $1`, d.made[4])

	asked := d.ask(acts.ActSendLinks, append(d.made[:5:5], d.made[0])...)
	require.Equal(t, http.StatusOK, asked.Status, asked.Body)
	text := asked.ElementText("main")
	for _, want := range []string{"Send the link to 3 tenants?", d.made[0], "t1@x.example", "Ada of t2@x.example",
		"€1,250.50", "The tenant cannot secure it any more. The deposit is: Secured", d.made[3],
		"No e-mail address of the tenant is known.", d.made[4]} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, d.made[5], "it was not ticked")
	require.Len(t, confirmation(asked)["deposit"], 3, "once each")
	require.Empty(t, d.mailed(), "nothing happened yet")

	sent := d.b.PostWithoutFollowing(site.DepositsPath, confirmation(asked))
	require.Equal(t, http.StatusSeeOther, sent.Status, sent.Body)
	require.Regexp(t, "^/dashboard/deposits/confirm/[0-9a-f]{32}$", sent.Location)
	for range 2 {
		told := d.b.Get(sent.Location)
		require.Equal(t, http.StatusOK, told.Status)
		require.Contains(t, told.ElementText("main"), "3 links are on their way.")
		require.Contains(t, told.ElementText("main"), d.made[2])
		require.Empty(t, told.InputAttribute("confirm", "value"))
	}
	require.Equal(t, map[string]int{"t0": 1, "t1": 1, "t2": 1}, d.mailed())
	require.Equal(t, 3, d.audited("deposit.send_link"))
	require.Contains(t, d.b.Get(pathOf(t, d.Server, d.made[2])).ElementText("ol"), "Link sent by e-mail")
	again := d.b.Post(site.DepositsPath, confirmation(asked))
	require.Contains(t, again.ElementText("main"), "3 links are on their way.")
	require.Equal(t, map[string]int{"t0": 1, "t1": 1, "t2": 1}, d.mailed(), "the same form again")

	one := d.ask(acts.ActSendLinks, d.made[5])
	require.Contains(t, one.ElementText("h1"), "Send the link to 1 tenant?")
	require.Contains(t, d.b.Post(site.DepositsPath, confirmation(one)).ElementText("h1"), "1 link is on its way.")
}

func TestRemindAll_OfAMixture_MailsWhoWasRefused(t *testing.T) {
	d := newSeveral(t, 5, connecttest.Options{})
	refused(t, d.Server, d.made[0])
	d.claimedFrom(d.made[1], "t1@x.example", 25*time.Hour)
	d.claimedFrom(d.made[2], "t2@x.example", time.Hour)
	change(t, d.Server, `UPDATE collections SET state = 'retrying' WHERE deposit_id =
		(SELECT id FROM deposits WHERE reference = $1)`, d.made[2])
	d.claimedFrom(d.made[3], "t3@x.example", time.Hour)

	asked := d.ask(acts.ActRemindTenants, d.made...)
	text := asked.ElementText("main")
	for _, want := range []string{"Remind 2 tenants?", "€120.50", "We mailed the tenant on ",
		"We charge the card again by ourselves first.",
		"No refused payment waits for the tenant. The deposit is: Awaiting the tenant."} {
		require.Contains(t, text, want)
	}
	french := d.b.Get(d.b.PostWithoutFollowing(site.DepositsPath, d.fields(acts.ActRemindTenants,
		d.made...)).Location + "?lang=fr")
	for _, want := range []string{"Relancer 2 locataires\u00a0?", "Le locataire a reçu un e-mail le ",
		"Aucun paiement refusé n’attend le locataire. La caution est\u00a0: ", "Envoyer maintenant"} {
		require.Contains(t, french.ElementText("main"), want)
	}
	told := d.b.Post(site.DepositsPath, confirmation(asked))
	require.Contains(t, told.ElementText("h1"), "2 liens sont en route.")
	require.Equal(t, map[string]int{"t0": 1, "t1": 1}, d.mailed())
	require.Equal(t, []int{1, 1}, []int{d.audited("deposit.send_link"), d.audited("deposit.remind")})
	require.Equal(t, 1, d.Count("collections", "asked_at = $1", d.Clock.Now().Truncate(time.Microsecond)))
	require.Contains(t, d.b.Get(pathOf(t, d.Server, d.made[1])+"?lang=en").ElementText("ol"), "Link to pay mailed again")

	nobody := d.ask(acts.ActRemindTenants, d.made[1:]...)
	require.Equal(t, http.StatusConflict, nobody.Status)
	require.Contains(t, nobody.ElementText("main"), "None of these tenants can be reminded")
	require.Empty(t, nobody.InputAttribute("confirm", "value"), "there is nothing to confirm")
}

func TestSeveral_DepositsThatChangedMeanwhile_AreLeftOutAndNamed(t *testing.T) {
	d := newSeveral(t, 3, connecttest.Options{})
	asked, other := d.ask(acts.ActSendLinks, d.made...), d.ask(acts.ActSendLinks, d.made[1:]...)
	secured(t, d.Server, d.made[1], time.Hour)
	told := d.b.Post(site.DepositsPath, confirmation(asked)).ElementText("main")
	require.Contains(t, told, "2 links are on their way.")
	require.Contains(t, told, "Left out")
	require.Contains(t, told, "The deposit is: Secured")
	require.Equal(t, map[string]int{"t0": 1, "t2": 1}, d.mailed())

	secured(t, d.Server, d.made[2], time.Hour)
	nobody := d.b.Post(site.DepositsPath, confirmation(other))
	require.Equal(t, http.StatusConflict, nobody.Status)
	require.Contains(t, nobody.ElementText("main"), "The link can be sent to none of these tenants")
	require.Equal(t, map[string]int{"t0": 1, "t2": 1}, d.mailed())
	change(t, d.Server, `UPDATE deposits SET status = 'pending', activated_at = NULL, expires_at = NULL
		WHERE reference = $1`, d.made[2])
	require.Contains(t, d.b.Post(site.DepositsPath, confirmation(other)).ElementText("h1"), "1 link is on its way.",
		"a form that mailed nobody may be sent again")
}

func TestSeveral_TwoTabsOfAQuestionWithOtherDeposits_MailOnce(t *testing.T) {
	d := newSeveral(t, 3, connecttest.Options{})
	page := d.b.PostWithoutFollowing(site.DepositsPath, d.fields(acts.ActSendLinks, d.made...)).Location
	first := d.b.Get(page)
	secured(t, d.Server, d.made[1], time.Hour)
	second := d.b.Get(page)
	require.Len(t, confirmation(second)["deposit"], 2)
	for _, tab := range []connecttest.Answer{second, first} {
		require.Contains(t, d.b.Post(site.DepositsPath, confirmation(tab)).ElementText("h1"), "2 links are on their way.")
	}
	require.Equal(t, map[string]int{"t0": 1, "t2": 1}, d.mailed())
}

func TestSeveral_SentManyTimesAtOnce_MailsEachTenantOnce(t *testing.T) {
	d := newSeveral(t, 12, connecttest.Options{})
	for _, reference := range d.made[6:] {
		refused(t, d.Server, reference)
	}
	d.claimedFrom(d.made[0], "t0@x.example", 25*time.Hour)
	values := []url.Values{confirmation(d.ask(acts.ActSendLinks, d.made[1:]...)),
		confirmation(d.ask(acts.ActRemindTenants, d.made[0])), confirmation(d.ask(acts.ActRemindTenants, d.made[0]))}
	answers := make([]connecttest.Answer, 12)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = d.b.Post(site.DepositsPath, values[i%len(values)]) })
	}
	wg.Wait()
	for i, a := range answers {
		switch {
		case i%3 == 0:
			require.Equal(t, http.StatusOK, a.Status, a.Body)
			require.Contains(t, a.ElementText("h1"), "11 links are on their way.")
		case a.Status == http.StatusConflict: // the other form was quicker
			require.Contains(t, a.ElementText("main"), "None of these tenants can be reminded")
		default:
			require.Contains(t, a.ElementText("h1"), "1 link is on its way.")
		}
	}
	want := map[string]int{}
	for i := range d.made {
		want[fmt.Sprintf("t%d", i)] = 1
	}
	require.Equal(t, want, d.mailed())
}

func TestSeveral_UnknownIdsAndThoseOfAnotherAccount_AreA404ForAll(t *testing.T) {
	d := newSeveral(t, 2, connecttest.Options{})
	_, account := linked(t, d.Server, "c@d.example", "demo")
	strange := deposits(t, d.Server, d.partner, account, 1)[0]
	known(t, d.Server, strange, "strange@x.example")
	for _, bad := range []string{id.Deposit.Of(depositOf(t, d.Server, strange).ID), id.Deposit.Of(servicetest.NewID()),
		"x", "dep_", ""} {
		values := d.fields(acts.ActSendLinks, d.made...)
		values.Add("deposit", bad)
		for _, confirm := range []string{"", "yes"} {
			values.Set("confirm", confirm)
			refused := d.b.Post(site.DepositsPath, values)
			require.Equal(t, http.StatusNotFound, refused.Status, "%q", bad)
			require.Equal(t, "deposit_not_found", refused.ErrorCode())
			require.NotContains(t, refused.Body, strange)
		}
	}
	require.Empty(t, d.mailed())
	require.Zero(t, d.Count("form_drafts", ""))
}

func TestSeveral_NoneTickedOrMoreThan50_IsA422WithAWayBack(t *testing.T) {
	d := newSeveral(t, 51, connecttest.Options{})
	for says, ticked := range map[string][]string{"No deposit is ticked.": nil,
		"At most 50 deposits can be ticked at once.": d.made} {
		for _, act := range acts.BulkActs {
			answer := d.ask(act, ticked...)
			require.Equal(t, http.StatusUnprocessableEntity, answer.Status)
			require.Contains(t, answer.ElementText("main"), says)
			require.Contains(t, answer.Body, `href="/dashboard/deposits"`)
		}
	}
	require.Contains(t, d.ask(acts.ActSendLinks, d.made[1:]...).ElementText("h1"), "Send the link to 50 tenants?")
	require.Equal(t, site.DepositsPath, d.ask("x", d.made[0]).Location, "an unknown intent")
	require.Empty(t, d.mailed())
}

func TestSeveral_AnAddressGetsTenLinksOfTheAccountADay(t *testing.T) {
	d := newSeveral(t, 12, connecttest.Options{})
	_, err := d.Pool.Exec(t.Context(), `UPDATE clients SET email = 'T@x.example'`)
	require.NoError(t, err)
	asked := d.ask(acts.ActSendLinks, d.made...)
	require.Contains(t, asked.ElementText("h1"), "Send the link to 10 tenants?")
	require.Contains(t, asked.ElementText("main"), "This address has already got as many links as are allowed in 24 hours.")
	require.Contains(t, d.b.Post(site.DepositsPath, confirmation(asked)).ElementText("h1"), "10 links are on their way.")
	require.Equal(t, map[string]int{"T": 10}, d.mailed())
	require.Equal(t, http.StatusConflict, d.ask(acts.ActSendLinks, d.made...).Status)
}

func TestSeveral_ThatMeetsTheLimitOfTheAccount_TellsHowManyWereMailed(t *testing.T) {
	d := newSeveral(t, 50, connecttest.Options{Counted: true})
	for _, n := range []int{50, 49} {
		told := d.b.Post(site.DepositsPath, confirmation(d.ask(acts.ActSendLinks, d.made[:n]...)))
		require.Contains(t, told.ElementText("h1"), fmt.Sprintf("%d links are on their way.", n))
	}
	asked, late := d.ask(acts.ActSendLinks, d.made[:3]...), d.ask(acts.ActSendLinks, d.made[4:6]...)
	for range 2 {
		told := d.b.Post(site.DepositsPath, confirmation(asked))
		require.Contains(t, told.ElementText("h1"), "1 link is on its way.")
		require.Contains(t, told.ElementText("main"), "No more links could be sent: you can send 100 an hour.")
		require.Equal(t, 2, strings.Count(told.ElementText("main"), "You have sent 100 links within an hour."))
		require.Equal(t, 100, d.Count("mails", "link_of IS NOT NULL"))
	}
	refused := d.b.Post(site.DepositsPath, confirmation(late))
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Equal(t, 100, d.Count("mails", "link_of IS NOT NULL"))
}

// What was ticked comes back as the question after the log-in. Nothing is mailed by itself.
func TestSeveral_ThatMeetsAnEndedSession_ComesBackAsItsQuestion(t *testing.T) {
	d := newSeveral(t, 2, connecttest.Options{})
	ended := func() {
		_, err := d.Pool.Exec(t.Context(), "DELETE FROM sessions")
		require.NoError(t, err)
	}
	logIn := func(location string) connecttest.Answer {
		require.True(t, strings.HasPrefix(location, "/login?next="), location)
		return d.b.Submit(location, map[string]string{"email": "a@b.example", "password": "correct horse battery"})
	}
	values := d.fields(acts.ActSendLinks, d.made...)
	ended()
	back := logIn(d.b.PostWithoutFollowing(site.DepositsPath, values).Location)
	require.Contains(t, back.ElementText("h1"), "Send the link to 2 tenants?", "the list was sent")
	require.Contains(t, back.ElementText("main"), "Your session had ended, and nothing was sent.")

	asked := d.b.PostWithoutFollowing(site.DepositsPath, d.fields(acts.ActSendLinks, d.made...)).Location
	ended()
	back = logIn(d.b.Get(asked).Location)
	require.Contains(t, back.ElementText("h1"), "Send the link to 2 tenants?", "the question was reloaded")
	ended()
	back = logIn(d.b.PostWithoutFollowing(site.DepositsPath, confirmation(back)).Location)
	require.Contains(t, back.ElementText("h1"), "Send the link to 2 tenants?", "the question was confirmed")
	require.Empty(t, d.mailed())
	told := d.b.PostWithoutFollowing(site.DepositsPath, confirmation(back)).Location
	require.Contains(t, d.b.Get(told).ElementText("h1"), "2 links are on their way.")
	require.Equal(t, map[string]int{"t0": 1, "t1": 1}, d.mailed())
	ended()
	require.Equal(t, site.DepositsPath, logIn(d.b.Get(told).Location).Location, "the form has had its effect")
	require.Equal(t, map[string]int{"t0": 1, "t1": 1}, d.mailed())
}
