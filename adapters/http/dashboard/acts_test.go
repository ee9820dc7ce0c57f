package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/connecttest"
)

// desk is an operator with a deposit.
type desk struct {
	*connecttest.Server
	t         *testing.T
	b         *connecttest.Browser
	partner   partner.Partner
	account   id.ID
	reference string
	path      string
}

func newDesk(t *testing.T, uploads ...*dashboard.UploadLimits) *desk {
	t.Helper()
	t.Parallel()
	return deskOf(t, uploads...)
}

// deskOf is newDesk for a test that has two, and says itself that it runs beside others.
func deskOf(t *testing.T, uploads ...*dashboard.UploadLimits) *desk {
	t.Helper()
	var o connecttest.Options
	for _, u := range uploads {
		o.Uploads = u
	}
	d := &desk{Server: connecttest.New(t, o), t: t}
	d.partner = d.CreatePartner("demo")
	d.b, d.account = linked(t, d.Server, "a@b.example", "demo")
	d.reference = deposits(t, d.Server, d.partner, d.account, 1)[0]
	d.path = pathOf(t, d.Server, d.reference)
	return d
}

// ask sends the form with that intent on the page of the deposit, or of its claim. A claim without fields is one of the
// whole amount.
func (d *desk) ask(intent string, fields map[string]string) connecttest.Answer {
	d.t.Helper()
	path := d.path
	if intent == "capture" {
		path += "/claim"
		if fields == nil {
			fields = map[string]string{"whole": "yes"}
		}
	}
	page := d.b.Get(path)
	require.Equal(d.t, http.StatusOK, page.Status)
	return d.b.Send(page, form(d.t, page, intent), fields)
}

// confirm sends the form of a page that asked once more.
func (d *desk) confirm(asked connecttest.Answer, intent string) connecttest.Answer {
	d.t.Helper()
	require.Equal(d.t, http.StatusOK, asked.Status, asked.Body)
	require.Equal(d.t, intent, asked.InputAttribute("intent", "value"))
	require.Equal(d.t, "yes", asked.InputAttribute("confirm", "value"))
	return d.b.Send(asked, 0, nil)
}

// confirmAtOnce sends the form of a page that asked once more eight times at once. Each answer tells that it is done.
func (d *desk) confirmAtOnce(asked connecttest.Answer, intent string) {
	d.t.Helper()
	values := url.Values{}
	for _, n := range asked.ElementsByTag("input") {
		values.Set(attribute(n, "name"), attribute(n, "value"))
	}
	var wg sync.WaitGroup
	answers := make([]connecttest.Answer, 8)
	for i := range answers {
		wg.Go(func() { answers[i] = d.b.Post(d.path, values) })
	}
	wg.Wait()
	for _, a := range answers {
		require.Equal(d.t, http.StatusSeeOther, a.Status, a.Body)
		require.Equal(d.t, d.path+"?done="+intent, a.Location)
	}
}

func (d *desk) done(answer connecttest.Answer, intent string) connecttest.Answer {
	d.t.Helper()
	require.Equal(d.t, http.StatusSeeOther, answer.Status, answer.Body)
	require.Equal(d.t, d.path+"?done="+intent, answer.Location)
	return d.b.Get(answer.Location)
}

func TestCapture_AsksOnceMoreAndCollects(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	asked := d.ask("capture",
		map[string]string{"amount": "120,50", "reason": "damage", "description": "Broken\r\nwindow <b>"})
	for _, want := range []string{"Claim €120.50?", "€1,250.50", "The other €1,130.00 cannot be claimed afterwards",
		"This cannot be undone", d.reference} {
		require.Contains(t, asked.Body, want)
	}
	require.Equal(t, deposit.Active, depositOf(t, d.Server, d.reference).Status, "nothing happened yet")
	page := d.done(d.confirm(asked, "capture"), "capture")
	for _, want := range []string{"You claimed €120.50.", "Damage", "window &lt;b&gt;",
		"The card has not been charged yet."} {
		require.Contains(t, page.Body, want)
	}
	got := depositOf(t, d.Server, d.reference)
	require.Equal(t, deposit.Captured, got.Status)
	require.EqualValues(t, 12_050, got.CapturedAmount)
	require.Equal(t, 1,
		d.Count("deposit_transitions",
			`actor LIKE 'operator:opr_%' AND trigger = 'claim' AND detail = '{"amount": "120.50", "reason": "damage", "description": "Broken\nwindow <b>"}'`))
	require.Equal(t, 1, d.Count("payments", "kind = 'collection' AND amount_cents = 12050 AND status = 'processing'"))
	require.Equal(t, 1, d.Count("outbox", "name = 'deposit.captured' AND partner_id = $1 AND data LIKE '%partnerContext%'",
		d.partner.ID), "as with the partner's API")
	require.NotContains(t, d.b.Get(d.path).Body, "You claimed", "later")
}

func TestRelease_AsksOnceMoreAndEndsTheCover(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	asked := d.ask("release", map[string]string{"comment": "all fine"})
	require.Contains(t, asked.Body, "You give up the cover of €1,250.50.")
	page := d.done(d.confirm(asked, "release"), "release")
	require.Contains(t, page.Body, "The deposit is released.")
	require.Contains(t, page.Body, "all fine")
	require.Equal(t, 1, d.Count("outbox", "name = 'deposit.expired'"))
	require.Equal(t, 1, d.Count("deposit_transitions", "actor LIKE 'operator:opr_%' AND trigger = 'released'"))
}

func TestCancel_AsksOnceMoreAndEndsTheCheckout(t *testing.T) {
	d := newDesk(t)
	asked := d.ask("cancel", map[string]string{"comment": "double"})
	require.Contains(t, asked.Body, "The link stops working")
	page := d.done(d.confirm(asked, "cancel"), "cancel")
	require.Contains(t, page.Body, "The deposit is cancelled.")
	require.Contains(t, page.Body, "Nothing more can be done")
	require.Equal(t, "by_operator", depositOf(t, d.Server, d.reference).StatusReason)
	require.Equal(t, 1, d.Count("outbox", "name = 'deposit.cancelled'"))
}

func TestSendLink_AsksOnceMoreAndMailsOnce(t *testing.T) {
	d := newDesk(t)
	asked := d.ask("send_link", map[string]string{"email": "grace@example.com"})
	require.Contains(t, asked.Body, "Send the link to grace@example.com?")
	require.Contains(t, asked.Body, "€1,250.50")
	require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
	page := d.done(d.confirm(asked, "send_link"), "send_link")
	require.Contains(t, page.Body, "The link is on its way.")
	require.Contains(t, page.Body, "Link sent by e-mail")
	d.done(d.confirm(asked, "send_link"), "send_link")
	require.Equal(t, 1, d.Count("mails", "recipient = 'grace@example.com' AND link_of IS NOT NULL"), "the same form again")
	require.Equal(t, 1, d.Count("audit_log", "action = 'deposit.send_link' AND actor LIKE 'operator:opr_%'"))
	for range deposit.MaxLinkMailsToAddress - 1 {
		d.done(d.confirm(d.ask("send_link", map[string]string{"email": "grace@example.com"}), "send_link"), "send_link")
	}
	tooMany := d.confirm(d.ask("send_link", map[string]string{"email": "grace@example.com"}), "send_link")
	require.Equal(t, http.StatusTooManyRequests, tooMany.Status)
	require.Equal(t, "rate_limited", tooMany.ErrorCode())
	require.Equal(t, deposit.MaxLinkMailsToAddress, d.Count("mails", "link_of IS NOT NULL"))
}

func TestAct_OnADepositThatChangedMeanwhile_DoesNothing(t *testing.T) {
	d := newDesk(t)
	asked := d.ask("cancel", nil)
	refused(t, d.Server, d.reference) // still cancellable, but not the deposit that the operator saw
	told := d.confirm(asked, "cancel")
	require.Equal(t, http.StatusConflict, told.Status)
	require.Contains(t, told.Body, "It is now: Payment refused.")
	require.Equal(t, deposit.PaymentIssue, depositOf(t, d.Server, d.reference).Status)

	secured(t, d.Server, d.reference, time.Minute)
	late := d.ask("capture", nil)
	d.Clock.Add(2 * time.Minute)
	told = d.confirm(late, "capture")
	require.Equal(t, http.StatusConflict, told.Status)
	require.Contains(t, told.Body, "Nothing was claimed")
	require.Zero(t, d.Count("payments", ""))
	require.Zero(t, d.Count("deposit_transitions", ""))
}

func TestAct_ThatTheStatusRulesOut_IsRefusedBeforeAndAfterTheQuestion(t *testing.T) {
	d := newDesk(t)
	token := d.b.Get(d.path).InputAttribute("csrf_token", "value")
	for _, c := range []struct{ intent, says string }{{"capture", "Nothing was claimed"},
		{"release", "Nothing was released"}} {
		for _, confirm := range []string{"", "yes"} {
			told := d.b.Post(d.path,
				url.Values{"csrf_token": {token}, "intent": {c.intent}, "amount": {"100"}, "confirm": {confirm}})
			require.Equal(t, http.StatusConflict, told.Status, c.intent)
			require.Contains(t, told.Body, c.says)
		}
	}
	secured(t, d.Server, d.reference, time.Hour)
	const noClaim = "Nothing was done: nothing is claimed of this deposit."
	for _, c := range []struct{ intent, says string }{{"cancel", "Nothing was cancelled"},
		{"send_link", "No e-mail was sent"}, {"settled_elsewhere", noClaim}, {"withdraw_claim", noClaim},
		{"remind", noClaim}} {
		for _, confirm := range []string{"", "yes"} {
			told := d.b.Post(d.path,
				url.Values{"csrf_token": {token}, "intent": {c.intent}, "email": {"a@b.example"}, "confirm": {confirm}})
			require.Equal(t, http.StatusConflict, told.Status, c.intent)
			require.Contains(t, told.Body, c.says)
		}
	}
	require.Equal(t, http.StatusSeeOther,
		d.b.Post(d.path, url.Values{"csrf_token": {token}, "intent": {"destroy"}, "confirm": {"yes"}}).Status)
	require.Zero(t, d.Count("deposit_transitions", ""))
	require.Zero(t, d.Count("mails", "link_of IS NOT NULL"))
}

func TestAct_WithMistakes_NamesThemAndKeepsTheWords(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, time.Hour)
	for _, amount := range []string{"0", "0.00", "-1", "1250.51", "1,250.50", "1 250", "1.234", "1e2", "€5", "5.", ".5",
		"abc", strings.Repeat("9", 30), "１００"} {
		sent := d.ask("capture", map[string]string{"amount": amount, "description": "a window"})
		require.Equal(t, http.StatusUnprocessableEntity, sent.Status, amount)
		require.Equal(t, "#capture-amount", sent.LinkURLByPrefix("#capture"), amount)
		require.Equal(t, "invalid_field", sent.ErrorCode())
		require.Contains(t, sent.Body, "a window", "what was typed stays")
	}
	for _, amount := range []string{"5", "5.5", "5,50", "1250.50", "0.50", " 7 "} {
		require.Equal(t, http.StatusOK, d.ask("capture", map[string]string{"amount": amount}).Status, amount)
	}
	for lang, says := range map[string]string{"en": "from €0.50 to €1,250.50", "fr": "de 0,50\u00a0€ à 1"} {
		d.b.Get(d.path + "?lang=" + lang)
		sent := d.ask("capture", map[string]string{"amount": "0.49"})
		require.Equal(t, http.StatusUnprocessableEntity, sent.Status)
		require.Contains(t, sent.Body, says)
	}
	d.b.Get(d.path + "?lang=en")
	for field, value := range map[string]string{"reason": "revenge", "description": strings.Repeat("é", 2001)} {
		sent := d.ask("capture", map[string]string{"amount": "5", field: value})
		require.Equal(t, http.StatusUnprocessableEntity, sent.Status, field)
		require.Equal(t, "#capture-"+field, sent.LinkURLByPrefix("#capture"))
	}
	for _, words := range []string{"a\x00b", "\xff"} {
		require.Equal(t, http.StatusUnprocessableEntity, d.ask("release", map[string]string{"comment": words}).Status)
	}
	require.Zero(t, d.Count("deposit_transitions", ""))
}

// A partner hears of a deposit that was made here while it is linked, without partnerContext, and no longer.
func TestActs_OnADepositMadeHere_NotifyTheLinkedPartnerOnly(t *testing.T) {
	d := newDesk(t)
	make := func() {
		d.path, _, _ = strings.Cut(d.b.Submit("/dashboard/deposits/new", newFields(nil)).Location, "?")
	}
	events := func() int { return d.Count("outbox", "name <> 'rental_operator.linked'") }
	make()
	d.done(d.confirm(d.ask("cancel", nil), "cancel"), "cancel")
	require.Equal(t, 1, d.Count("outbox",
		"name = 'deposit.cancelled' AND partner_id = $1 AND data NOT LIKE '%partnerContext%'", d.partner.ID))
	make()
	d.b.UnlinkPartner()
	d.done(d.confirm(d.ask("cancel", nil), "cancel"), "cancel")
	require.Equal(t, 1, events(), "after the link ended")
	require.Equal(t, 1, d.Count("deposit_transitions", "event_id IS NULL"))
	make()
	d.done(d.confirm(d.ask("cancel", nil), "cancel"), "cancel")
	require.Equal(t, 1, events(), "without a link")
	require.Equal(t, 1, d.Count("deposits", "partner_id IS NULL"))

	// A deposit that the partner made still tells its creator.
	d.path = pathOf(t, d.Server, d.reference)
	d.done(d.confirm(d.ask("cancel", nil), "cancel"), "cancel")
	require.Equal(t, 2, events())
}
