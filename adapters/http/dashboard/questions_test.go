package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	acts "partnerdeposits/app/deposits"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
)

const words = "The oven & a <b>window</b>, cassé"

// questioned is a form of a deposit with a question: the status that it needs, its field for words, and what is typed.
type questioned struct {
	ready       func(t *testing.T, s *connecttest.Server, reference string)
	field, text string
}

func active(t *testing.T, s *connecttest.Server, reference string) {
	t.Helper()
	secured(t, s, reference, 48*time.Hour)
}

func pending(*testing.T, *connecttest.Server, string) {}

// unpaid makes a refused claim whose tenant was not mailed for a day.
func unpaid(t *testing.T, s *connecttest.Server, reference string) {
	t.Helper()
	refusedClaim(t, s, reference)
	change(t, s, `UPDATE collections SET asked_at = asked_at - interval '24 hours'`)
}

// questions are the forms with a question, by their intents.
var questions = map[acts.OperatorAct]questioned{
	acts.ActCapture:              {active, "description", words},
	acts.ActRelease:              {active, "comment", words},
	acts.ActCancel:               {pending, "comment", words},
	acts.ActSendLink:             {pending, "email", "grace@example.com"},
	acts.ActAddFiles:             {active, "", ""},
	acts.ActRemind:               {unpaid, "", ""},
	acts.ActMarkSettledElsewhere: {unpaid, "", ""},
	acts.ActWithdrawClaim:        {unpaid, "", ""},
}

// deskBrowser is Chromium with a signed-in operator, whose account has the deposit at path.
type deskBrowser struct {
	*connecttest.Server
	t    *testing.T
	ctx  context.Context
	path string
}

func newDeskBrowser(t *testing.T, ready func(*testing.T, *connecttest.Server, string)) *deskBrowser {
	t.Helper()
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.CreatePartner("demo")
	d := &deskBrowser{Server: s, t: t, ctx: browsertest.New(t)}
	d.do(viewports["desktop"], browsertest.DisableScripts)
	account := signIn(d.ctx, t, s, "a@b.example")
	reference := deposits(t, s, p, account.ID, 1)[0]
	ready(t, s, reference)
	d.path = pathOf(t, s, reference)
	return d
}

func (d *deskBrowser) do(steps ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	require.NoError(d.t, chromedp.Do(d.ctx, steps...))
}

func (d *deskBrowser) says(expression string) string {
	d.t.Helper()
	return ask(d.ctx, d.t, expression)
}

func (d *deskBrowser) heading() string { return d.says("document.querySelector('h1').textContent") }

func (d *deskBrowser) at() string { return d.says("location.pathname") }

// page is the page with the form of an act.
func (d *deskBrowser) page(act acts.OperatorAct) string {
	if act == acts.ActCapture {
		return d.path + "/claim"
	}
	return d.path
}

// fill opens the form of an act and types.
func (d *deskBrowser) fill(act acts.OperatorAct, q questioned) {
	d.t.Helper()
	d.do(chromedp.Navigate(d.URL + d.page(act)))
	d.says("String(document.querySelector('#" + string(act) + "').open = true)") // a text that came back has opened it
	d.do(chromedp.WaitVisible("#" + string(act) + " button"))
	if q.field != "" {
		d.do(chromedp.SetValue("#"+string(act)+"-"+q.field, q.text))
	}
	if act == acts.ActCapture {
		d.do(chromedp.SetValue("#capture-amount", "80"))
	}
	if act == acts.ActAddFiles {
		path := filepath.Join(d.t.TempDir(), "oven.jpg")
		require.NoError(d.t, os.WriteFile(path, photo(d.t, "oven.jpg").content, 0o600))
		d.do(chromedp.SetUploadFiles("#add_files-files", []string{path}))
	}
}

// send presses the button of the form that fill has opened.
func (d *deskBrowser) send(act acts.OperatorAct) {
	d.do(chromedp.Click("#" + string(act) + " button"))
}

// typed is what the field of the form holds, and whether the form is seen.
func (d *deskBrowser) typed(act acts.OperatorAct, q questioned) (text string, open bool) {
	text = d.says("document.querySelector('#" + string(act) + "-" + q.field + "').value")
	return text, d.says("String(document.querySelector('#"+string(act)+" button').checkVisibility())") == "true"
}

func (d *deskBrowser) endSession() {
	_, err := d.Pool.Exec(d.t.Context(), "DELETE FROM sessions")
	require.NoError(d.t, err)
}

func (d *deskBrowser) logIn() {
	d.t.Helper()
	d.do(chromedp.WaitVisible("#password"), chromedp.SetValue("#email", "a@b.example"),
		chromedp.SetValue("#password", "correct horse battery"), chromedp.Click("button.main"),
		chromedp.WaitVisible("nav.desk"))
}

const question = "form input[name=confirm]"

func TestBrowser_EveryQuestion_OutlivesBackReloadAndTheSession(t *testing.T) {
	t.Parallel()
	for _, act := range acts.OperatorActs {
		q, known := questions[act]
		require.True(t, known, "how is the form %s filled in?", act)
		t.Run(string(act), func(t *testing.T) {
			d := newDeskBrowser(t, q.ready)

			// An ended session meets the form, and then its question. What was typed comes back; nothing is done by itself.
			if q.field != "" {
				for _, asked := range []bool{false, true} {
					d.fill(act, q)
					if asked {
						d.send(act)
						d.do(chromedp.WaitReady(question))
						d.endSession()
						d.do(chromedp.Reload())
					} else {
						d.endSession()
						d.send(act)
					}
					d.do(chromedp.WaitVisible("#password"))
					require.Contains(t, d.says("document.querySelector('.notice').textContent"), "Your session has ended.")
					d.logIn()
					require.Equal(t, d.page(act), d.at())
					text, open := d.typed(act, q)
					require.Equal(t, q.text, text)
					require.True(t, open)
					require.Zero(t, d.Count("deposit_transitions", "")+d.Count("mails", "link_of IS NOT NULL"))
				}
			}

			d.fill(act, q)
			d.send(act)
			d.do(chromedp.WaitReady(question))
			heading, page := d.heading(), d.at()
			require.True(t, strings.HasPrefix(page, d.path+"/confirm/"), page)
			d.do(chromedp.Reload(), chromedp.WaitReady(question))
			require.Equal(t, heading, d.heading())
			d.do(chromedp.Navigate(d.URL+site.DashboardPath), chromedp.NavigateBack(), chromedp.WaitReady(question))
			require.Equal(t, heading, d.heading(), "back")
			d.do(chromedp.Click("main form button"), chromedp.WaitVisible(".notice"))
			require.Equal(t, d.path, d.at())
			d.do(chromedp.NavigateBack(), chromedp.WaitVisible("#history"))
			require.Equal(t, d.path, d.at(), "back from the act: its question is over")
			require.Zero(t, d.Count("form_drafts", "session IN (SELECT token_hash FROM sessions)"))
		})
	}
}

func TestBrowser_ANewDepositWithMistakes_KeepsItsTextOverBackReloadAndTheSession(t *testing.T) {
	d := newDeskBrowser(t, pending)
	name := func() string { return d.says("document.querySelector('#lastName').value") }
	fill := chromedp.Steps(chromedp.Navigate(d.URL+site.NewDepositPath), chromedp.SetValue("#amount", "6"),
		chromedp.SetValue("#startsOn", "2031-07-01"), chromedp.SetValue("#endsOn", "2031-07-08"),
		chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", words))
	d.do(fill, chromedp.Click("button.main"), chromedp.WaitVisible("#amount:focus"))
	page := d.at()
	require.True(t, strings.HasPrefix(page, site.NewDepositPath+"/"), page)
	d.do(chromedp.Reload(), chromedp.WaitVisible("#amount:focus"))
	require.Equal(t, words, name())
	d.do(chromedp.Navigate(d.URL+site.DashboardPath), chromedp.NavigateBack(), chromedp.WaitVisible("#amount"))
	require.Equal(t, words, name())
	d.endSession()
	d.do(chromedp.Reload())
	d.logIn()
	require.Equal(t, site.NewDepositPath, d.at())
	require.Equal(t, words, name(), "after the log-in")
	d.do(chromedp.SetValue("#amount", "300"), chromedp.SetValue("#email", "grace@example.com"))
	d.endSession()
	d.do(chromedp.Click("button.main"))
	d.logIn()
	require.Equal(t, words, name(), "after another")
	d.do(chromedp.Click("button.main"), chromedp.WaitVisible("#history"))
	require.Equal(t, 1, d.Count("clients", ""))
	d.do(chromedp.NavigateBack(), chromedp.WaitVisible("#amount"))
	require.Empty(t, name(), "the form has had its effect")
}

func TestQuestion_AnswersAGetWithThePageAndItsStatus(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	token := d.b.Get(d.path).InputAttribute("csrf_token", "value")
	sent := d.b.PostWithoutFollowing(d.path, url.Values{"csrf_token": {token}, "intent": {"capture"}, "amount": {"x"},
		"description": {"a window"}})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Regexp(t, "^"+d.path+"/confirm/[0-9a-f]{32}$", sent.Location)
	for range 2 {
		page := d.b.Get(sent.Location)
		require.Equal(t, http.StatusUnprocessableEntity, page.Status)
		require.Contains(t, page.Body, "a window")
	}
	require.Contains(t, d.b.Get(sent.Location+"?lang=fr").Body, "a window", "in the other language")
	d.b.Get("/dashboard?lang=en")

	asked := d.b.PostWithoutFollowing(d.path, url.Values{"csrf_token": {token}, "intent": {"capture"}, "amount": {"100"},
		"description": {"a secret window"}})
	require.Equal(t, http.StatusOK, d.b.Get(asked.Location).Status)
	require.Zero(t, d.Count("form_drafts", "position('secret' in encode(content, 'escape')) > 0"), "encrypted at rest")

	// The question of a deposit that has changed meanwhile says so.
	d.done(d.confirm(d.ask("capture", map[string]string{"amount": "50"}), "capture"), "capture")
	late := d.b.Get(asked.Location)
	require.Equal(t, http.StatusConflict, late.Status)
	require.Contains(t, late.Body, "Nothing was")
}

func TestQuestion_IsBoundToSessionAndAccount_ForAnHour(t *testing.T) {
	d := newDesk(t)
	ask := func() string {
		page := d.b.Get(d.path)
		return d.b.PostWithoutFollowing(d.path, url.Values{"csrf_token": {page.InputAttribute("csrf_token", "value")},
			"intent":  {"cancel"},
			"comment": {words}}).Location
	}
	asked := ask()
	require.Equal(t, http.StatusOK, d.b.Get(asked).Status)
	elsewhere := d.NewBrowser(t)
	elsewhere.Submit("/login", map[string]string{"email": "a@b.example", "password": "correct horse battery"})
	require.Equal(t, d.path, elsewhere.Get(asked).Location, "another session of the operator")
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	require.Equal(t, http.StatusNotFound, stranger.Get(asked).Status)
	for _, form := range []string{strings.Repeat("0", 32), "x", strings.Repeat("0", 31), "%2e%2e"} {
		require.Equal(t, d.path, d.b.Get(d.path+"/confirm/"+form).Location, form)
		require.Equal(t, site.NewDepositPath, d.b.Get(site.NewDepositPath+"/"+form).Location, form)
		require.Equal(t, site.DepositsPath, d.b.Get(site.DepositsPath+"/confirm/"+form).Location, form)
	}
	d.Clock.Add(time.Hour)
	require.Equal(t, http.StatusOK, d.b.Get(asked).Status)
	d.Clock.Add(time.Second)
	require.Equal(t, d.path, d.b.Get(asked).Location, "an hour later")

	var all []string
	for range 25 {
		d.Clock.Add(time.Second)
		all = append(all, ask())
	}
	require.Equal(t, 20, d.Count("form_drafts", ""), "of an account")
	require.Equal(t, d.path, d.b.Get(all[4]).Location, "the oldest are gone")
	require.Equal(t, http.StatusOK, d.b.Get(all[5]).Status)
	d.Clock.Add(time.Hour + 11*time.Minute)
	job := d.Services.Deposits.FormDraftCleaningJob()
	more, err := job.Run(t.Context())
	require.NoError(t, err)
	require.False(t, more)
	require.Zero(t, d.Count("form_drafts", ""))
}
