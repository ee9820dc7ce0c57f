package dashboard_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

// claimDesk is a desk with a refused claim of 120.50 euros.
type claimDesk struct {
	*desk
	provider *checkouttest.Provider
}

func newClaim(t *testing.T) claimDesk {
	t.Helper()
	t.Parallel()
	c := claimDesk{provider: &checkouttest.Provider{}}
	c.desk = &desk{t: t, Server: connecttest.New(t, connecttest.Options{Parts: func(p *servicetest.Deps) {
		c.provider.PaymentProvider = p.Provider
		p.Provider = c.provider
	}})}
	c.partner = c.CreatePartner("demo")
	c.b, c.account = linked(t, c.Server, "a@b.example", "demo")
	c.reference = deposits(t, c.Server, c.partner, c.account, 1)[0]
	c.path = pathOf(t, c.Server, c.reference)
	refusedClaim(t, c.Server, c.reference)
	return c
}

// refusedClaim makes the deposit one of Grace's that was captured, and whose card was refused.
func refusedClaim(t *testing.T, s *connecttest.Server, reference string) {
	t.Helper()
	clientID := servicetest.NewID()
	change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
		SELECT $1, account_id, 'grace@example.com', 'Grace', 'Hopper', '', 'en', now() FROM deposits WHERE reference = $2`,
		clientID, reference)
	change(t, s, `UPDATE deposits SET client_id = $1, locale = 'en' WHERE reference = $2`, clientID, reference)
	captured(t, s, reference, 12_050)
	d := depositOf(t, s, reference)
	s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Payments.Insert(ctx, deposit.Payment{
			ID: servicetest.NewID(), DepositID: d.ID, Kind: deposit.PaymentKindCollection, Amount: d.CapturedAmount,
			Status: deposit.PaymentProcessing, CreatedAt: s.Clock.Now(), CheckAt: s.Clock.Now(),
		})
	})
	_, err := s.Payments.CheckDuePayments(t.Context()) // the deposit has no card, so its tenant has to pay
	require.NoError(t, err)
	require.Equal(t, 1, s.Count("collections", "deposit_id = $1 AND state = 'awaiting_tenant'", d.ID))
}

func (c claimDesk) debt() deposit.Debt {
	c.t.Helper()
	d, err := c.Payments.FindDebt(c.t.Context(), depositOf(c.t, c.Server, c.reference).ID)
	require.NoError(c.t, err)
	return *d
}

// mailedYesterday moves the tenant's last mail back, since a session ends before a day is over.
func (c claimDesk) mailedYesterday() {
	c.t.Helper()
	change(c.t, c.Server, `UPDATE collections SET asked_at = asked_at - interval '24 hours'`)
}

func (c claimDesk) conflict(told connecttest.Answer, says string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusConflict, told.Status, told.Body)
	require.Contains(c.t, told.ElementText("main"), says)
}

func TestClaim_Refused_ShowsTheLinkAndTheActs(t *testing.T) {
	c := newClaim(t)
	page := c.b.Get(c.path)
	require.Equal(t, c.DashboardURL+"/checkout/token-"+c.reference, page.InputAttribute("claim", "value"))
	require.Contains(t, page.Body, `readonly`)
	require.Contains(t, page.ElementText("main"), "Whoever has it can pay the claim. We mailed it to the tenant on")
	require.Negative(t, page.FormIndexByIntent("remind"), "the mail of the refusal is younger than a day")
	for _, intent := range []string{"settled_elsewhere", "withdraw_claim", "add_files"} {
		require.GreaterOrEqual(t, page.FormIndexByIntent(intent), 0, intent)
	}
	c.mailedYesterday()
	page = c.b.Get(c.path)
	require.GreaterOrEqual(t, page.FormIndexByIntent("remind"), 0)
	require.NotContains(t, page.Body, "We mailed it")
	french := c.b.Get(c.path + "?lang=fr").ElementText("main")
	for _, want := range []string{"Lien pour payer la réclamation", "Renvoyer le lien au locataire par e-mail",
		"Le locataire vous a payé autrement", "Renoncer à la réclamation"} {
		require.Contains(t, french, want)
	}
	change(t, c.Server, `UPDATE collections SET state = 'retrying' WHERE deposit_id = $1`, c.debt().DepositID)
	page = c.b.Get(c.path + "?lang=en")
	require.Empty(t, page.InputAttribute("claim", "value"), "the card is charged")
	require.Negative(t, page.FormIndexByIntent("remind"))
	require.GreaterOrEqual(t, page.FormIndexByIntent("withdraw_claim"), 0)
}

func TestRemind_AsksOnceMoreAndMailsOnce(t *testing.T) {
	c := newClaim(t)
	c.mailedYesterday()
	asked := c.ask("remind", nil)
	require.Contains(t, asked.ElementText("main"), "Mail the tenant the link again?")
	require.Contains(t, asked.ElementText("main"), "We mail grace@example.com the link to pay €120.50.")
	second := c.ask("remind", nil)
	require.Zero(t, c.Count("mails", "link_of IS NOT NULL"))
	page := c.done(c.confirm(asked, "remind"), "remind")
	require.Contains(t, page.ElementText("main"), "The link is on its way.")
	require.Contains(t, page.ElementText("ol"), "Link to pay mailed again")
	require.Contains(t, page.ElementText("ol"), "You")
	require.Contains(t, c.b.Get(c.path+"?lang=fr").ElementText("ol"), "Lien de paiement renvoyé par e-mail")
	c.b.Get(c.path + "?lang=en")
	c.done(c.confirm(asked, "remind"), "remind")
	c.conflict(c.confirm(second, "remind"), "No e-mail was sent: the last one went out on")
	require.Equal(t, 1, c.Count("mails", "recipient = 'grace@example.com' AND link_of IS NOT NULL"))
	require.Equal(t, 1, c.Count("audit_log", "action = 'deposit.remind' AND actor LIKE 'operator:opr_%'"))
	require.NotContains(t, c.b.Get(c.path).Body, "The link is on its way.")
	rule := (*c.Limiter.Rules.Load())[0]
	require.Equal(t, []string{"desk-mails", "desk:mails:" + id.Account.Of(c.account)}, []string{rule.Name, rule.Key})
}

func TestRemind_OfATenantWhoWasErased_IsRefused(t *testing.T) {
	c := newClaim(t)
	c.mailedYesterday()
	asked := c.ask("remind", nil)
	_, err := c.Clients.EraseByAdmin(t.Context(), depositOf(t, c.Server, c.reference).ClientID)
	require.NoError(t, err)
	c.conflict(c.confirm(asked, "remind"), "No e-mail was sent: the tenant’s record was erased.")
	page := c.b.Get(c.path)
	require.Negative(t, page.FormIndexByIntent("remind"))
	require.NotEmpty(t, page.InputAttribute("claim", "value"), "the link can still be copied")
	require.NotContains(t, c.ask("withdraw_claim", nil).Body, "We tell the tenant")
}

func TestEndClaim_AsksOnceMoreAndEndsTheCollection(t *testing.T) {
	t.Parallel()
	for intent, want := range map[string]struct{ question, says, step, state, failure, verb, french string }{
		"settled_elsewhere": {"Has the tenant paid you €120.50 otherwise?",
			"The claim of €120.50 ends as paid to you directly.",
			"Claim ended: the tenant paid otherwise", "You ended the claim: the tenant paid you otherwise.",
			"settled_elsewhere", "collection.settled_elsewhere", "Réclamation close\u00a0: le locataire a payé autrement"},
		"withdraw_claim": {"Drop the claim of €120.50?", "You give up the claim of €120.50.", "Claim dropped",
			"You dropped the claim.", "withdrawn", "collection.withdraw", "Réclamation abandonnée"},
	} {
		t.Run(intent, func(t *testing.T) {
			c := newClaim(t)
			asked, other := c.ask(intent, nil), c.ask("withdraw_claim", nil)
			for _, says := range []string{want.question, want.says, "This cannot be undone.",
				"If the tenant is paying at this moment", "We tell the tenant by e-mail"} {
				require.Contains(t, asked.ElementText("main"), says)
			}
			require.Equal(t, deposit.CollectionAwaitingTenant, c.debt().State, "nothing happened yet")
			page := c.done(c.confirm(asked, intent), intent)
			require.Contains(t, page.ElementText("main"), "The claim has ended. Nothing more is charged.")
			require.Contains(t, page.ElementText("dl"), want.state)
			require.Contains(t, page.ElementText("ol"), want.step)
			require.Empty(t, page.InputAttribute("claim", "value"))
			require.Negative(t, page.FormIndexByIntent(intent))
			require.Contains(t, c.b.Get(c.path+"?lang=fr").ElementText("ol"), want.french)
			c.b.Get(c.path + "?lang=en")
			require.NotContains(t, c.b.Get(c.path).Body, "The claim has ended.", "later")
			require.NotContains(t, c.b.Get(c.path+"?done=remind").Body, "on its way", "an address that somebody wrote")
			c.done(c.confirm(asked, intent), intent)
			c.conflict(c.confirm(other, "withdraw_claim"), "Nothing was done. The state of the claim now: "+want.state)
			d := c.debt()
			require.Equal(t, []any{deposit.CollectionFailed, want.failure}, []any{d.State, d.Failure})
			require.Equal(t, 1, c.Count("audit_log", "action = $1 AND actor LIKE 'operator:opr_%'", want.verb))
			require.Equal(t, 1, c.Count("collection_steps", "trigger = $1 AND actor LIKE 'operator:opr_%'", want.failure))
			require.Equal(t, 1, c.Count("tenant_notices", "kind = 'ended'"))
		})
	}
}

func TestEndClaim_ProviderAway_EndsNothingYetAndSaysSo(t *testing.T) {
	c := newClaim(t)
	asked, other := c.ask("withdraw_claim", nil), c.ask("settled_elsewhere", nil)
	c.provider.SetUnreachable(true)
	page := c.done(c.confirm(asked, "withdraw_claim"), "withdraw_claim")
	require.Equal(t, http.StatusOK, page.Status)
	require.Contains(t, page.ElementText("main"), "The payment provider has not answered yet, so the claim has not ended.")
	require.Contains(t, page.ElementText("dl"), "The claim is being ended")
	require.Empty(t, page.InputAttribute("claim", "value"), "a payment would be taken by nobody")
	require.Equal(t, deposit.CollectionAwaitingTenant, c.debt().State)
	require.Zero(t, c.Count("tenant_notices", "kind = 'ended'"))
	c.conflict(c.confirm(other, "settled_elsewhere"), "The claim is being ended")
	c.provider.SetUnreachable(false)
	c.Clock.Add(time.Minute)
	_, err := c.Payments.CheckDuePayments(t.Context())
	require.NoError(t, err)
	require.Contains(t, c.b.Get(c.path).ElementText("dl"), "You dropped the claim.")
	require.Equal(t, "withdrawn", c.debt().Failure)
	require.Equal(t, 1, c.Count("collection_steps", "trigger = 'withdrawn' AND actor LIKE 'operator:opr_%'"))
	require.Equal(t, 1, c.Count("tenant_notices", "kind = 'ended'"), "told once the claim has ended")
}

// more adds a deposit that was not captured.
func more(t *testing.T, c claimDesk) string {
	t.Helper()
	other := c.CreateAccount("Other")
	reference := deposits(t, c.Server, c.partner, other.ID, 1)[0]
	change(t, c.Server, `UPDATE deposits SET account_id = $1 WHERE reference = $2`, c.account, reference)
	return reference
}
