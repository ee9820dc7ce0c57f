//go:build !unit

package deposits_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/checkouttest"

	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// claim is a captured deposit whose tenant's card was refused, with its operator.
type claim struct {
	checkouttest.Steps
	by    deposits.OperatorCaller
	id    id.ID
	token secret.Text
}

func refusedClaim(t *testing.T) *claim {
	t.Helper()
	c := &claim{Steps: checkouttest.NewSteps(t)}
	d, token := c.CreateDeposit(t)
	c.id, c.token = d.ID, token
	c.SubmitCheckoutForm(token, checkouttest.TenantGraceHopper)
	c.PayOnPaymentPage(d.ID, true)
	c.ReturnFromPayment(token)
	c.CaptureDeposit(t, d.ID)
	c.Provider.OnChargeStoredCard(func(paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Failure: "lost_card",
			Refusal: paymentports.ChargeRefusedForGood}, nil
	})
	c.RequireJobCount(0, c.Payments.CheckDuePayments)
	account, o, err := c.Postgres.Operators.AccountByID(t.Context(), c.AccountID)
	require.NoError(t, err)
	o.VerifiedAt = c.Clock.Now()
	c.by = deposits.OperatorCaller{Operator: o, Account: account}
	return c
}

func (c *claim) form(key byte) deposits.ActForm {
	return deposits.ActForm{DepositID: c.id, Version: c.LoadDeposit(c.T, c.id).Version, Key: [16]byte{key}}
}

func (c *claim) debt() deposit.Debt {
	c.T.Helper()
	d, err := c.Payments.FindDebt(c.Ctx(), c.id)
	require.NoError(c.T, err)
	return *d
}

func (c *claim) remind(key byte) error {
	return c.Deposits.RemindByOperator(c.Ctx(), c.by, c.form(key))
}

func (c *claim) end(key byte, act deposits.OperatorAct) error {
	return c.Deposits.EndDebtByOperator(c.Ctx(), c.by, c.form(key), act)
}

// steps is the history of the collection after the refusal, each step as "trigger actor".
func (c *claim) steps() (all []string) {
	c.T.Helper()
	shown, err := c.Payments.ShowCollection(c.Ctx(), c.id)
	require.NoError(c.T, err)
	for _, s := range shown.History[1:] {
		all = append(all, string(s.Trigger)+" "+s.Actor.String())
	}
	return all
}

// mailed makes mails of the notices that wait, and gives the mails to the tenant.
func (c *claim) mailed() []ports.Mail {
	c.T.Helper()
	_, err := payments.TenantNoticeMailer{
		Notices: c.Postgres.TenantNotices, Mails: c.Postgres.Mails, UnitOfWork: c.Postgres, Deposits: c.Postgres.Deposits,
		Operators: c.Postgres.Operators, Collections: c.Postgres.Collections, Refunds: c.Postgres.Refunds,
		Payments: c.Postgres.Payments, Agreements: c.Postgres.Agreements, Clock: c.Clock, Entropy: entropy{},
		Log:          slog.New(slog.DiscardHandler),
		DashboardURL: checkouttest.DashboardURL,
	}.ScheduledJob(time.Second).Run(c.Ctx())
	require.NoError(c.T, err)
	return c.ListMails(checkouttest.TenantGraceHopper.Email)
}

func TestRemind_MailsTheSameLinkAgain_OnceIn24Hours(t *testing.T) {
	c := refusedClaim(t)
	require.Len(t, c.mailed(), 2, "the capture, and the refusal")
	c.Clock.Add(24*time.Hour - time.Second)
	require.ErrorIs(t, c.remind(1), deposit.ErrRemindedRecently, "the mail of the refusal counts")
	require.Len(t, c.mailed(), 2)
	c.Clock.Add(time.Second)
	require.NoError(t, c.remind(1), "a refused form may be sent again")
	require.NoError(t, c.remind(1), "the same form")
	require.ErrorIs(t, c.remind(2), deposit.ErrRemindedRecently)
	got := c.mailed()
	require.Len(t, got, 3)
	require.Equal(t, got[1].Subject, got[2].Subject)
	for _, m := range got {
		require.NotContains(t, m.Body, "Bonjour", "the tenant agreed in English")
	}
	require.Equal(t, got[1].Body, got[2].Body)
	require.Equal(t, c.id, got[2].LinkOf, "counts under the limits of mailed links")
	require.Equal(t, []string{"deposit.remind"}, c.AuditActions(t, c.id))
	require.Equal(t, 1, c.Count("audit_log", "action = 'deposit.remind' AND actor = $1", c.by.Operator.Actor().String()))
	require.Equal(t, c.Clock.Now(), c.debt().AskedAt)
	c.Clock.Add(24 * time.Hour)
	require.NoError(t, c.remind(2))
	require.Len(t, c.mailed(), 4)
}

func TestRemind_ManyFormsAtOnce_MailOnce(t *testing.T) {
	c := refusedClaim(t)
	c.Clock.Add(24 * time.Hour)
	var all sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		all.Go(func() { results[i] = c.remind(byte(i + 1)) })
	}
	all.Wait()
	sent := 0
	for _, err := range results {
		if err == nil {
			sent++
			continue
		}
		require.ErrorIs(t, err, deposit.ErrRemindedRecently)
	}
	require.Equal(t, 1, sent)
	require.Equal(t, 1, c.Count("mails", "link_of = $1", c.id))
}

func TestRemind_ByWhomAndOfWhom(t *testing.T) {
	c := refusedClaim(t)
	c.Clock.Add(24 * time.Hour)
	stranger := *c
	stranger.by.Account.ID = id.ID{1}
	require.ErrorIs(t, stranger.remind(1), deposit.ErrNotFound)
	old := c.form(1)
	old.Version++
	require.ErrorIs(t, c.Deposits.RemindByOperator(c.Ctx(), c.by, old), deposits.ErrDepositChanged)
	_, err := c.Clients.EraseByAdmin(c.Ctx(), c.LoadDeposit(t, c.id).ClientID)
	require.NoError(t, err)
	require.ErrorIs(t, c.remind(1), deposit.ErrNobodyToRemind)
	require.Zero(t, c.Count("mails", "link_of = $1", c.id))
	require.False(t, c.debt().AskedAt.Equal(c.Clock.Now()), "nothing is recorded of a mail that was refused")
}

func TestRemind_AnAddressThatGotTenLinks_IsLeftAlone(t *testing.T) {
	c := refusedClaim(t)
	c.Clock.Add(24 * time.Hour)
	for range deposit.MaxLinkMailsBySender {
		c.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
			return r.Mails.Enqueue(ctx, ports.Mail{ID: entropy{}.NewID(), To: checkouttest.TenantGraceHopper.Email,
				CreatedAt: c.Clock.Now(), Sender: c.by.Account.ID})
		})
	}
	require.ErrorContains(t, c.remind(1), "can get 10 links of one sender within 24 hours")
	require.Empty(t, c.AuditActions(t, c.id))
}

func TestEndClaim_EndsTheCollectionOnceAndTellsTheTenant(t *testing.T) {
	for act, want := range map[deposits.OperatorAct]struct{ trigger, verb, says string }{
		deposits.ActMarkSettledElsewhere: {"settled_elsewhere", "collection.settled_elsewhere",
			"Les Gîtes d’Ada told us that you have paid the claimed €500.00 in another way."},
		deposits.ActWithdrawClaim: {"withdrawn", "collection.withdraw",
			"Les Gîtes d’Ada dropped the claim of €500.00 of your rental deposit."},
	} {
		t.Run(string(act), func(t *testing.T) {
			c := refusedClaim(t)
			require.NoError(t, c.end(1, act))
			require.NoError(t, c.end(1, act), "the same form")
			for _, other := range []deposits.OperatorAct{deposits.ActMarkSettledElsewhere, deposits.ActWithdrawClaim} {
				require.ErrorIs(t, c.end(2, other), deposit.ErrCollectionOver, "another form")
			}
			require.ErrorIs(t, c.remind(3), deposit.ErrCollectionOver)
			d := c.debt()
			require.Equal(t, []any{deposit.CollectionFailed, want.trigger}, []any{d.State, d.Failure})
			require.Equal(t, []string{want.trigger + " " + c.by.Operator.Actor().String()}, c.steps())
			require.Equal(t, []string{want.verb, "payment.collection_failed"}, c.AuditActions(t, c.id))
			require.Equal(t, 2, c.Count("audit_log", "subject = $1 AND actor = $2", id.Deposit.Of(c.id),
				c.by.Operator.Actor().String()))
			require.Equal(t, deposit.PaymentFailed, c.PaymentsOf(t, c.id, deposit.PaymentKindCollection)[0].Status)
			require.Zero(t, c.Count("open_deposits", "deposit_id = $1", c.id), "no work that waits")
			due, err := c.Postgres.Books.TotalsByAccount(c.Ctx(), c.Clock.Now().Add(-time.Hour), c.Clock.Now().Add(time.Hour))
			require.NoError(t, err)
			require.Empty(t, due, "nothing is due to the operator")
			c.RequireStatus(c.id, deposit.Captured, "claim")
			got := c.mailed()
			require.Len(t, got, 3)
			require.Contains(t, got[2].Body, want.says)
			next, err := c.Checkout.StartDebtPayment(c.Ctx(), c.token)
			require.NoError(t, err)
			require.Empty(t, next.PageURL, "nothing can be paid any more")
		})
	}
}

func TestEndClaim_BeforeTheFirstCharge_ChargesNothing(t *testing.T) {
	c := refusedClaim(t)
	_, err := c.Pool.Exec(c.Ctx(), `UPDATE collections SET state = 'retrying', next_attempt_at = $1`,
		c.Clock.Now().Add(time.Hour))
	require.NoError(t, err)
	charged := 0
	c.Provider.OnChargeStoredCard(func(paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		charged++
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded}, nil
	})
	require.ErrorIs(t, c.remind(1), deposit.ErrCollectionNotPayable)
	require.NoError(t, c.end(2, deposits.ActWithdrawClaim))
	require.Equal(t, deposit.CollectionFailed, c.debt().State)
	c.Clock.Add(2 * time.Hour)
	c.RequireJobCount(0, c.Payments.CheckDuePayments)
	require.Zero(t, charged)
}

func TestEndClaim_ATenantWhoWasQuicker_HasPaid(t *testing.T) {
	c := refusedClaim(t)
	c.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded}
	})
	for range 2 {
		require.ErrorIs(t, c.end(1, deposits.ActMarkSettledElsewhere), deposit.ErrCollectionOver, "the same form twice")
	}
	require.Equal(t, deposit.CollectionPaid, c.debt().State)
	require.Equal(t, []string{"paid_by_tenant tenant"}, c.steps())
	require.ErrorIs(t, c.end(2, deposits.ActWithdrawClaim), deposit.ErrCollectionOver)
	got := c.mailed()
	require.Contains(t, got[len(got)-1].Subject, "You paid €500.00")
}

func TestEndClaim_TwoActsAtOnce_OneOfThemCounts(t *testing.T) {
	c := refusedClaim(t)
	var all sync.WaitGroup
	acts := []deposits.OperatorAct{deposits.ActMarkSettledElsewhere, deposits.ActWithdrawClaim}
	results := make([]error, 8)
	for i := range results {
		all.Go(func() { results[i] = c.end(byte(i+1), acts[i%2]) })
	}
	all.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
		}
	}
	require.Equal(t, 1, done)
	require.Len(t, c.steps(), 1)
	require.Len(t, c.mailed(), 3)
}

func TestEndClaim_OfAnotherAccountOrWithoutAClaim_IsRefused(t *testing.T) {
	c := refusedClaim(t)
	stranger := *c
	stranger.by.Account.ID = id.ID{1}
	require.ErrorIs(t, stranger.end(1, deposits.ActMarkSettledElsewhere), deposit.ErrNotFound)
	plain, _ := c.CreateDeposit(t)
	form := deposits.ActForm{DepositID: plain.ID, Version: plain.Version, Key: [16]byte{9}}
	require.ErrorIs(t, c.Deposits.EndDebtByOperator(c.Ctx(), c.by, form, deposits.ActMarkSettledElsewhere),
		deposit.ErrCollectionOver)
	require.ErrorIs(t, c.Deposits.RemindByOperator(c.Ctx(), c.by, form), deposit.ErrCollectionOver)
	require.Equal(t, deposit.CollectionAwaitingTenant, c.debt().State)
	require.Empty(t, c.AuditActions(t, c.id))
}

// The older dispatcher knows neither the cause nor the notice. What it records is what staff's cancel would.
func TestEndClaim_FinishedWithoutItsCause_IsCancelled(t *testing.T) {
	c := refusedClaim(t)
	c.Provider.SetUnreachable(true)
	require.NoError(t, c.end(1, deposits.ActMarkSettledElsewhere))
	c.Provider.SetUnreachable(false)
	_, err := c.Pool.Exec(c.Ctx(), `UPDATE collections SET cancel_as = ''`)
	require.NoError(t, err)
	c.RequireJobCount(1, c.Payments.CheckDuePayments)
	require.Equal(t, []string{"cancelled " + c.by.Operator.Actor().String()}, c.steps())
	require.Len(t, c.mailed(), 2)
}
