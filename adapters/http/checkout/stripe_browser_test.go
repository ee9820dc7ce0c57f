package checkout_test

import (
	"context"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	corepartner "partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/stripetest"
	ports "partnerdeposits/ports/platform"
)

// Cards of Stripe's documentation.
const (
	cardAsks    = "4000 0027 6000 3184" // authenticates each time, so that a charge without the tenant is refused
	cardRefused = "4000 0000 0000 0002"
	day         = 24 * time.Hour
)

// shop is a world whose tenants pay with Stripe in a real browser.
type shop struct {
	*world
	fake *stripetest.Fake
	tab  context.Context
}

func openShop(t *testing.T) shop {
	t.Helper()
	w := setup(t)
	return shop{world: w, fake: w.payWithStripe(), tab: browsertest.New(t)}
}

// payWithStripe lets tenants pay with the Stripe adapter, on the page of a fake of Stripe. One clock moves both.
func (w *world) payWithStripe() *stripetest.Fake {
	w.t.Helper()
	fake := stripetest.Start(w.t, stripetest.Options{Now: w.Clock.Now})
	w.Provider.PaymentProvider = stripe.New(stripe.Options{
		Pool: w.Pool, Clock: w.Clock, Log: slog.New(slog.NewTextHandler(w.Log, nil)),
		SecretKey: stripetest.SecretKey, WebhookSecret: stripetest.WebhookSecret, BaseURL: fake.URL(),
	})
	return fake
}

func (s shop) do(steps ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	require.NoError(s.t, chromedp.Do(s.tab, steps...))
}

func (s shop) text(selector string) (text string) {
	s.t.Helper()
	browsertest.AwaitLoaded(s.tab, s.t)
	text, err := chromedp.Run(s.tab, chromedp.Evaluate[string]("document.querySelector('"+selector+"').innerText"))
	require.NoError(s.t, err)
	return text
}

func (s shop) address() string {
	s.t.Helper()
	at, err := chromedp.Run(s.tab, chromedp.Evaluate[string]("location.href"))
	require.NoError(s.t, err)
	return at
}

// deposit makes a deposit without a return URL, so that the tenant ends on our pages.
func (s shop) deposit() (*deposit.Deposit, secret.Text) {
	return s.CreateDeposit(s.t, func(d *deposit.Deposit) { d.ReturnURL, d.URLGeneration = "", false })
}

// openPage fills the form of checkout, agrees, and arrives at the provider's page.
func (s shop) openPage(token secret.Text) {
	s.t.Helper()
	s.do(
		chromedp.Navigate(s.world.address(token)),
		chromedp.SetValue("#firstName", "Grace"), chromedp.SetValue("#lastName", "Hopper"),
		chromedp.SetValue("#email", "grace@example.com"),
		chromedp.Click("#agree"), chromedp.Click("button.main"), chromedp.WaitVisible("#cardNumber"),
	)
	require.Contains(s.t, s.address(), s.fake.URL())
	require.Contains(s.t, s.text("body"), "Fee for the deposit of Les Gîtes d’Ada, 16 Jun – 23 Jun 2026")
}

// card sends a card on the provider's page, and waits for an element of the page that follows, which may look like this
// page.
func (s shop) card(number, follows string) {
	s.t.Helper()
	_, err := chromedp.Run(s.tab, chromedp.Evaluate[string]("document.documentElement.dataset.left = 'true'"))
	require.NoError(s.t, err)
	s.do(
		chromedp.SetValue("#cardNumber", number), chromedp.SetValue("#cardExpiry", "12/34"),
		chromedp.SetValue("#cardCvc", "123"),
		chromedp.Click("button[type=submit]"), chromedp.WaitVisible("html:not([data-left]) "+follows),
	)
}

// ours is an element that our pages have and the provider's have not.
const ours = "dl.facts"

func (s shop) requireCharged(depositID id.ID, kind deposit.PaymentKind, cents int) {
	s.t.Helper()
	got, charges := 0, 0
	for _, p := range s.PaymentsOf(s.t, depositID, kind) {
		book := s.fake.ChargeTotalsByPayment()[id.Payment.Of(p.ID)]
		got, charges = got+book.Taken, charges+book.Charges
	}
	require.Equal(s.t, []int{cents, 1}, []int{got, charges})
}

// claim claims 120.50 euros, as a partner does.
func (w *world) claim(depositID id.ID, description string) {
	w.t.Helper()
	amount := money.Cents(12_050)
	claim := deposits.CaptureRequest{DepositID: depositID, Amount: &amount, Reason: "damage", Description: description}
	_, err := w.Deposits.Capture(context.WithoutCancel(w.t.Context()),
		corepartner.Caller{Partner: corepartner.Partner{ID: w.PartnerID}}, claim,
		idempotent.KeyAndEncoder[deposits.PartnerView]{
			Encode: func(deposits.PartnerView) (idempotent.Response, error) { return idempotent.Response{}, nil }})
	require.NoError(w.t, err)
}

func (s shop) capture(depositID id.ID) { s.t.Helper(); s.claim(depositID, "Broken coffee table") }

// reconcile lets the dispatcher ask and charge once.
func (s shop) check() {
	s.t.Helper()
	_, err := s.Payments.CheckDuePayments(context.WithoutCancel(s.t.Context()))
	require.NoError(s.t, err)
}

func (s shop) state(depositID id.ID) deposit.CollectionState {
	s.t.Helper()
	debt, err := s.Payments.FindDebt(context.WithoutCancel(s.t.Context()), depositID)
	require.NoError(s.t, err)
	return debt.State
}

var checkoutLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/checkout/\S+`)

// lastMail makes mails of the notices that wait, and gives the last mail to the tenant.
func (s shop) lastMail() ports.Mail {
	s.t.Helper()
	told := payments.TenantNoticeMailer{
		Notices: s.Postgres.TenantNotices, Mails: s.Postgres.Mails, UnitOfWork: s.Postgres, Deposits: s.Postgres.Deposits,
		Operators: s.Postgres.Operators, Collections: s.Postgres.Collections, Refunds: s.Postgres.Refunds,
		Payments: s.Postgres.Payments, Agreements: s.Postgres.Agreements,
		Clock: s.Clock, Entropy: system.Entropy{}, Log: slog.New(slog.DiscardHandler), DashboardURL: s.base,
	}
	_, err := told.ScheduledJob(time.Second).Run(context.WithoutCancel(s.t.Context()))
	require.NoError(s.t, err)
	all := s.ListMails("grace@example.com")
	require.NotEmpty(s.t, all)
	return all[len(all)-1]
}

func TestStripe_InARealBrowser_AuthenticationFailsAndACardIsRefused_AnotherCardPays(t *testing.T) {
	s := openShop(t)
	d, token := s.deposit()
	s.openPage(token)
	s.card(cardAsks, "button[value=fail]")
	s.do(chromedp.Click("button[value=fail]"), chromedp.WaitVisible("[role=alert]"))
	s.card(cardRefused, "[role=alert]")
	require.Contains(t, s.text("[role=alert]"), "declined")
	s.requireStatus(d, deposit.Pending, "")
	s.card(goodCard, ours)
	s.requireStatus(d, deposit.Active, "")
	s.requireCharged(d.ID, deposit.PaymentKindFee, 1_750)
}

func TestStripe_InARealBrowser_TheTenantLeavesAndComesBack(t *testing.T) {
	s := openShop(t)
	d, token := s.deposit()
	s.openPage(token)
	first := s.address()
	s.do(chromedp.Click("#back"), chromedp.WaitVisible("#agree"))
	s.do(chromedp.Navigate(first), chromedp.WaitVisible("h1"))
	require.Equal(t, "This page has expired", s.text("h1"), "a page that was left cannot be paid beside the next")
	s.openPage(token)
	require.NotEqual(t, first, s.address())
	s.card(goodCard, ours)
	s.requireStatus(d, deposit.Active, "")
	s.requireCharged(d.ID, deposit.PaymentKindFee, 1_750)
}

func TestStripe_InARealBrowser_TheBankWantsTheTenant_WhoPaysByTheMailedLink(t *testing.T) {
	s := openShop(t)
	d, token := s.deposit()
	s.openPage(token)
	s.card(cardAsks, "button[value=complete]")
	s.do(chromedp.Click("button[value=complete]"), chromedp.WaitVisible(ours))
	s.capture(d.ID)
	s.check()
	require.Equal(t, deposit.CollectionAwaitingTenant, s.state(d.ID))
	link := checkoutLink.FindString(s.lastMail().Body)
	require.NotContains(t, link, "stripe")

	s.do(chromedp.Navigate(link), chromedp.WaitVisible("button.main"))
	browsertest.RequireUsablePage(s.tab, t, "debt")
	require.Contains(t, s.text("main"), "€120.50")
	payment := id.Payment.Of(s.PaymentsOf(t, d.ID, deposit.PaymentKindCollection)[0].ID)
	require.Empty(t, s.fake.PaymentPageURL(payment), "a GET opens nothing")
	s.do(chromedp.Click("button.main"), chromedp.WaitVisible("#cardNumber"))
	require.Contains(t, s.text("body"), "Claim of Les Gîtes d’Ada on the deposit, 16 Jun – 23 Jun 2026")
	s.card(goodCard, ours)
	require.Equal(t, deposit.CollectionPaid, s.state(d.ID))
	s.requireCharged(d.ID, deposit.PaymentKindCollection, 12_050)
}
