package checkout_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// A page of the provider that was opened before the end of the stay is paid afterwards, or just before.
func TestStayOver_OnTheProvidersPage(t *testing.T) {
	t.Parallel()
	for _, withStripe := range []bool{false, true} {
		for name, c := range map[string]struct {
			pays    time.Duration // from the end of the stay
			hears   time.Duration // from the end of the stay: the dispatcher asks; 0: the tenant's browser comes back first
			away    bool          // the dispatcher closes no page
			secured bool
			back    bool // the fee goes back
		}{
			"paid before, the tenant comes back after": {-time.Second, 0, true, true, false},
			"paid before, the dispatcher hears after":  {-time.Second, 20 * time.Hour, true, true, false},
			"paid in the last second, and never back":  {-time.Second, time.Second, false, true, false},
			"paid after, the page is closed":           {time.Second, time.Minute, false, false, false},
			"paid after, the dispatcher is away":       {time.Second, 0, true, false, true},
			"paid at the end, the dispatcher is away":  {0, 0, true, false, true},
			"paid after, the dispatcher was away":      {15 * time.Minute, 11 * time.Hour, true, false, true},
		} {
			t.Run(map[bool]string{true: "stripe, ", false: "sandbox, "}[withStripe]+name, func(t *testing.T) {
				w := setup(t)
				var fake *stripetest.Fake
				if withStripe {
					fake = w.payWithStripe()
				}
				start := w.Clock.Now()
				d, token := w.CreateDeposit(t, func(d *deposit.Deposit) {
					// less than Stripe lets a page live: for a longer stay Stripe ends the page itself
					d.ContractStartAt, d.ContractEndAt = start.Add(-7*day), start.Add(10*time.Minute)
					d.CheckoutExpiresAt = deposit.CheckoutExpiry(d.ContractEndAt, start)
				})
				check := func() {
					_, err := w.Payments.CheckDuePayments(context.WithoutCancel(t.Context()))
					require.NoError(t, err)
				}
				b := w.browser()
				opened := b.send(b.get(w.address(token)), 0, grace)
				pay := func() string { b.send(opened, 0, card(goodCard)); return w.address(token) + "/return" }
				if withStripe {
					pay = func() string {
						address := fake.PaymentPageURL(id.Payment.Of(w.PaymentsOf(t, d.ID, deposit.PaymentKindFee)[0].ID))
						return fake.PayOnPaymentPage(t, address, goodCard).Location
					}
				}
				if c.pays > 0 && !c.away {
					w.Clock.Set(d.ContractEndAt)
					check()
				}
				w.Clock.Set(d.ContractEndAt.Add(c.pays))
				if c.away && !withStripe { // the sandbox leads back at once: the service is not reached
					w.Provider.SetUnreachable(true)
				}
				back := pay()
				w.Provider.SetUnreachable(false)
				w.Clock.Set(d.ContractEndAt.Add(max(c.pays, 0, c.hears)))
				if c.hears > 0 {
					check()
				} else {
					shown := b.get(back)
					require.Equal(t, !c.secured, strings.Contains(shown.body, "Your stay is over"), shown.body)
				}
				check() // refunds
				require.Equal(t, map[bool]int{true: 1}[c.back],
					w.Count("refunds", "deposit_id = $1 AND status = 'succeeded' AND amount_cents = 1750", d.ID))
				if fake != nil {
					book := fake.ChargeTotalsByPayment()[id.Payment.Of(w.PaymentsOf(t, d.ID, deposit.PaymentKindFee)[0].ID)]
					require.Equal(t, map[bool]int{true: 1750}[c.secured], book.Kept)
					require.Equal(t, c.back || c.secured, book.Taken == 1750)
				}
				if c.secured {
					w.requireStatus(d, deposit.Active, "")
					return
				}
				w.requireStatus(d, deposit.Pending, "")
				page := b.get(w.address(token))
				require.Equal(t, http.StatusOK, page.status)
				require.Contains(t, page.body, "Your stay is over")
				require.NotContains(t, page.body, "<form method")
				w.Clock.Set(d.CheckoutExpiresAt)
				_, err := w.Timers.ExpireCheckouts(context.WithoutCancel(t.Context()))
				require.NoError(t, err)
				w.requireStatus(d, deposit.Cancelled, "checkout_expired")
			})
		}
	}
}

// Stripe ends the page of a longer stay by itself, when no process of ours runs.
func TestStayOver_StripeEndsThePageByItself(t *testing.T) {
	w := setup(t)
	fake := w.payWithStripe()
	d, token := w.CreateDeposit(t, func(d *deposit.Deposit) {
		d.ContractStartAt, d.ContractEndAt = w.Clock.Now().Add(-day), w.Clock.Now().Add(2*time.Hour)
	})
	b := w.browser()
	b.send(b.get(w.address(token)), 0, grace)
	payment := w.PaymentsOf(t, d.ID, deposit.PaymentKindFee)[0]
	w.Clock.Set(d.ContractEndAt)
	fake.PayOnPaymentPage(t, fake.PaymentPageURL(id.Payment.Of(payment.ID)), goodCard)
	require.Empty(t, fake.ChargeTotalsByPayment())
	_, err := w.Payments.CheckDuePayments(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	w.requireStatus(d, deposit.Pending, "")
	require.Equal(t, deposit.PaymentVoided, w.PaymentsOf(t, d.ID, deposit.PaymentKindFee)[0].Status)
}
