package stripe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

func (b bench) refund(r paymentports.RefundRequest) paymentports.ProviderRefund {
	b.Helper()
	got, err := b.provider.Refund(b.ctx(), r)
	require.NoError(b, err)
	return got
}

func refundOf(r paymentports.CollectRequest, cents money.Cents) paymentports.RefundRequest {
	return paymentports.RefundRequest{RefundID: newID(), PaymentID: r.FeePaymentID, DepositID: r.DepositID, Amount: cents}
}

func TestRefund_TheAnswerWasLost_GivesBackOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []stripetest.FaultKind{stripetest.FaultLostAfterEffect, stripetest.FaultLostBeforeEffect,
		stripetest.FaultErrorWithoutEffect,
		stripetest.FaultErrorAfterEffect} {
		for _, after := range []time.Duration{time.Minute, 25 * time.Hour} {
			b := setup(t)
			r := refundOf(b.owing("4242424242424242"), 1_000)
			b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/v1/refunds"})
			_, err := b.provider.Refund(t.Context(), r)
			require.ErrorIs(t, err, fault.ErrUnavailable)
			b.fake.AdvanceClock(after)
			require.Equal(t, paymentports.RefundSucceeded, b.refund(r).Status, "%s, %s", kind, after)
			require.Equal(t, paymentports.RefundSucceeded,
				b.refund(refundOf(paymentports.CollectRequest{FeePaymentID: r.PaymentID}, 750)).Status, "%s: 7.50 are left", kind)
			require.Equal(t, r.RefundID.String()+":refund", b.sent("POST", "/v1/refunds")[0].Key)
		}
	}
}

func TestRefund_ThatIsPending_EndsAsStripeSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, end := range []paymentports.RefundStatus{paymentports.RefundSucceeded, paymentports.RefundFailed} {
		r := refundOf(b.owing("4242424242424242"), 500)
		b.fake.SetRefundStatuses("pending")
		got := b.refund(r)
		require.Equal(t, paymentports.RefundPending, got.Status)
		b.fake.SettleRefund(got.Ref, string(end))
		require.Equal(t, end, b.refund(r).Status)
	}
	r := refundOf(b.owing("4242424242424242"), 500)
	b.fake.SetRefundStatuses("failed")
	got := b.refund(r)
	require.Equal(t, paymentports.ProviderRefund{Status: paymentports.RefundFailed, Ref: got.Ref,
		Failure: "expired_or_canceled_card"}, got)
}

func TestRefund_OfADisputedCharge_IsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.DisputeCharge(id.Payment.Of(r.FeePaymentID), "fraudulent")
	require.Equal(t, paymentports.ProviderRefund{Status: paymentports.RefundFailed, Failure: "charge_disputed"},
		b.refund(refundOf(r, 500)))
}

func TestEntries_ListChargesRefundsAndDisputesOverSeveralPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := b.fake.Now().Add(-time.Second)
	paid := map[id.ID]id.ID{}
	for range 120 { // more than a page of the list
		r := feeRequest()
		b.fake.PayOnPaymentPage(t, b.open(r).URL, "4242424242424242")
		paid[r.PaymentID] = r.DepositID
	}
	refused := b.owing("4000000000000341")
	paid[refused.FeePaymentID] = refused.DepositID
	b.collect(refused) // a charge that failed is no entry
	refund := refundOf(refused, 300)
	made := b.refund(refund)
	b.fake.RefundByHand(id.Payment.Of(refused.FeePaymentID), 200)
	b.fake.DisputeCharge(id.Payment.Of(refused.FeePaymentID), "fraudulent")

	found := map[paymentports.BookEntryKind][]paymentports.BookEntry{}
	for e, err := range b.provider.BookEntries(t.Context(), from, b.fake.Now().Add(time.Second)) {
		require.NoError(t, err)
		found[e.Kind] = append(found[e.Kind], e)
	}
	require.Len(t, found[paymentports.BookEntryPayment], 121)
	for _, e := range found[paymentports.BookEntryPayment] {
		require.Equal(t, paid[e.PaymentID], e.DepositID)
		require.Equal(t, paymentports.BookEntry{
			Kind: paymentports.BookEntryPayment, PaymentID: e.PaymentID, DepositID: e.DepositID, Ref: b.refOf(e.PaymentID),
			Amount: 1_750, Currency: "eur", Status: "succeeded", At: e.At,
		}, e)
		delete(paid, e.PaymentID)
	}
	require.Empty(t, paid)
	require.Len(t, found[paymentports.BookEntryRefund], 2)
	byHand, ours := found[paymentports.BookEntryRefund][0], found[paymentports.BookEntryRefund][1]
	require.Equal(t, refund.RefundID, ours.RefundID)
	require.Equal(t, made.Ref, ours.Ref)
	require.True(t, byHand.RefundID.IsZero())
	require.Equal(t, refused.FeePaymentID, byHand.PaymentID, "a refund made by hand still names the payment")
	require.Len(t, found[paymentports.BookEntryDispute], 1)
	require.Equal(t, refused.FeePaymentID, found[paymentports.BookEntryDispute][0].PaymentID)
	require.Equal(t, "needs_response", found[paymentports.BookEntryDispute][0].Status)

	for e, err := range b.provider.BookEntries(t.Context(), b.fake.Now().Add(time.Hour), b.fake.Now().Add(2*time.Hour)) {
		require.NoError(t, err)
		require.Empty(t, e, "nothing was made then")
	}
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultUnavailable, Path: "/v1/refunds"})
	var last error
	for _, err := range b.provider.BookEntries(t.Context(), from, b.fake.Now()) {
		last = err
	}
	require.ErrorIs(t, last, fault.ErrUnavailable)
}

// refOf is Stripe's id of a payment that has succeeded, which the adapter may not know yet.
func (b bench) refOf(paymentID id.ID) string { return b.lookup(paymentID).Ref }

func TestDisputes_OfAPayment_OldestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4000000000000259")
	found, err := b.provider.Disputes(t.Context(), r.FeePaymentID)
	require.NoError(t, err)
	require.Empty(t, found)
	b.fake.AdvanceClock(2 * time.Minute)
	found, err = b.provider.Disputes(t.Context(), r.FeePaymentID)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, paymentports.Dispute{
		Ref: found[0].Ref, PaymentID: r.FeePaymentID, Amount: 1_750, Reason: "fraudulent", Status: "needs_response",
		EvidenceDueBy: found[0].CreatedAt.AddDate(0, 0, 9), CreatedAt: found[0].CreatedAt,
	}, found[0])
	other, err := b.provider.Disputes(t.Context(), newID())
	require.NoError(t, err)
	require.Empty(t, other)
}

func TestDisputes_ToldBeforeThePaymentIsKnownAsPaid_AreFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	page := b.open(r)
	_, err := b.provider.Disputes(t.Context(), r.PaymentID)
	require.ErrorIs(t, err, fault.ErrUnavailable, "asked again: the payment is in processing")
	require.ErrorIs(t, err, paymentports.ErrProviderRefused)
	b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
	require.True(t, b.fake.DisputeCharge(id.Payment.Of(r.PaymentID), "fraudulent"))
	found, err := b.provider.Disputes(t.Context(), r.PaymentID)
	require.NoError(t, err)
	require.Len(t, found, 1)

	ended := feeRequest()
	b.open(ended)
	b.close(ended.PaymentID)
	found, err = b.provider.Disputes(t.Context(), ended.PaymentID)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestPayment_OfARecord_IsFoundByEveryRef(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	page := b.open(r)
	b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
	var event struct {
		Data struct {
			Object struct{ ID, PaymentIntent string }
		}
	}
	for _, e := range b.fake.Events() {
		if e.Type != "payment_intent.succeeded" && e.Type != "charge.succeeded" {
			continue
		}
		require.NoError(t, json.Unmarshal(e.Body, &event))
		found, err := b.provider.PaymentIDOf(t.Context(), event.Data.Object.ID) // before any lookup
		require.NoError(t, err)
		require.Equal(t, r.PaymentID, found, e.Type)
	}
	for _, ref := range []string{page.Ref, b.lookup(r.PaymentID).Ref} {
		found, err := b.provider.PaymentIDOf(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, r.PaymentID, found)
	}
	for _, ref := range []string{"", "pi_unknown", "x", "pi_../customers", "du_1"} {
		found, err := b.provider.PaymentIDOf(t.Context(), ref)
		require.NoError(t, err, ref)
		require.True(t, found.IsZero(), ref)
	}
}

// deletedCustomers counts the customers that the provider has deleted.
func deletedCustomers(fake *stripetest.Fake) (n int) {
	for _, r := range fake.Requests() {
		if r.Method == http.MethodDelete && r.Status == http.StatusOK {
			n++
		}
	}
	return n
}

func TestForget_DeletesCustomerAndCard_AndMayBeRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultUnavailable, Method: "DELETE"})
	require.ErrorIs(t, b.provider.EraseCustomer(t.Context(), r.FeePaymentID), fault.ErrUnavailable)
	require.NoError(t, b.provider.EraseCustomer(t.Context(), r.FeePaymentID))
	require.NoError(t, b.provider.EraseCustomer(t.Context(), r.FeePaymentID))
	require.NoError(t, b.provider.EraseCustomer(t.Context(), newID()))
	require.Equal(t, 1, deletedCustomers(b.fake))
	got := b.collect(r)
	require.Equal(t, paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Failure: "no_card_on_file",
		Refusal: paymentports.ChargeRefusedUntilTenantActs}, got)
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.lookup(r.FeePaymentID).Status)

	unseen := feeRequest() // paid, and nobody has looked
	b.fake.PayOnPaymentPage(t, b.open(unseen).URL, "4242424242424242")
	require.NoError(t, b.provider.EraseCustomer(t.Context(), unseen.PaymentID))
	require.Equal(t, 2, deletedCustomers(b.fake))
}

func TestCallback_NamesThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.fake.PayOnPaymentPage(t, b.open(r).URL, "4242424242424242")
	paid := b.lookup(r.PaymentID)
	b.fake.DisputeCharge(id.Payment.Of(r.PaymentID), "fraudulent")
	kinds := map[string]bool{}
	now := b.fake.Now()
	for _, e := range b.fake.Events() {
		kinds[e.Type] = true
		callback, err := b.provider.VerifyCallback(e.Body, stripetest.SignWebhook(e.Body, stripetest.WebhookSecret, now), now)
		require.NoError(t, err)
		require.Equal(t, e.ID, callback.Ref)
		require.Equal(t, strings.HasPrefix(e.Type, "charge.dispute."), callback.Dispute)
		if callback.Dispute {
			require.True(t, callback.PaymentID.IsZero(), "a dispute names the charge alone")
			require.Equal(t, paid.Ref, callback.ProviderRef)
		} else {
			require.Equal(t, r.PaymentID, callback.PaymentID, e.Type)
			require.NotEmpty(t, callback.ProviderRef)
		}
	}
	for _, want := range []string{"checkout.session.completed", "payment_intent.succeeded", "charge.succeeded",
		"charge.dispute.created"} {
		require.Contains(t, kinds, want)
	}
	unknown := []byte(
		`{"id":"evt_1","object":"event","type":"payout.paid","api_version":"2099-01-01","data":{"object":{"id":"po_1","object":"payout"}}}`)
	callback, err := b.provider.VerifyCallback(unknown, stripetest.SignWebhook(unknown, stripetest.WebhookSecret, now),
		now)
	require.NoError(t, err)
	require.Equal(t, paymentports.Callback{Ref: "evt_1"}, callback)
}

func TestCallback_UnsignedForgedOrOld_IsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.open(feeRequest())
	now := b.fake.Now()
	body := []byte(`{"id":"evt_1","object":"event","type":"x","data":{"object":{}}}`)
	good := stripetest.SignWebhook(body, stripetest.WebhookSecret, now)
	_, err := b.provider.VerifyCallback(body, good, now.Add(300*time.Second))
	require.NoError(t, err)
	_, err = b.provider.VerifyCallback(body, good, now.Add(-300*time.Second))
	require.NoError(t, err)
	for name, header := range map[string]string{
		"unsigned": "", "no time": "v1=00", "no signature": strings.Split(good, ",")[0],
		"another secret": stripetest.SignWebhook(body, "whsec_other", now),
		"old":            stripetest.SignWebhook(body, stripetest.WebhookSecret, now.Add(-301*time.Second)),
		"time replaced":  "t=9" + good[2:], "not a time": "t=x," + good,
		"of the future": stripetest.SignWebhook(body, stripetest.WebhookSecret, now.Add(301*time.Second)),
		"of tomorrow":   stripetest.SignWebhook(body, stripetest.WebhookSecret, now.Add(24*time.Hour)),
		"an old one behind a new time": fmt.Sprintf("t=%d,%s", now.Unix(),
			stripetest.SignWebhook(body, stripetest.WebhookSecret, now.Add(-9999*time.Second))),
		"two times": good + "," + strings.Split(good, ",")[0],
	} {
		_, err := b.provider.VerifyCallback(body, header, now)
		require.ErrorIs(t, err, paymentports.ErrCallbackRefused, name)
	}
	_, err = b.provider.VerifyCallback(append(body, ' '), good, now)
	require.ErrorIs(t, err, paymentports.ErrCallbackRefused)
	mute := stripe.New(stripe.Options{Pool: b.pool, Clock: clockOf{b.fake}, SecretKey: stripetest.SecretKey})
	_, err = mute.VerifyCallback(body, stripetest.SignWebhook(body, "", now), now)
	require.ErrorIs(t, err, paymentports.ErrCallbackRefused, "no secret is set")
}

func TestCheck_OfATestKey_MakesAndEndsObjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lines, err := b.provider.CheckAccount(t.Context())
	require.NoError(t, err)
	require.Len(t, lines, 9)
	for _, line := range lines {
		require.True(t, line.OK, "%+v", line)
	}
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultUnavailable, Path: sessions})
	lines, err = b.provider.CheckAccount(t.Context())
	require.NoError(t, err)
	require.False(t, lines[2].OK)
	require.Contains(t, lines[2].Detail, "status 503")
}

func TestCheck_OfALiveKey_OnlyReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	provider := stripe.New(
		stripe.Options{Pool: b.pool, Clock: clockOf{b.fake}, SecretKey: "rk_live_1", BaseURL: b.fake.URL()})
	lines, err := provider.CheckAccount(t.Context())
	require.NoError(t, err)
	require.Equal(t, "live mode", lines[0].Detail)
	require.False(t, lines[1].OK, "no webhook secret")
	for _, r := range b.fake.Requests() {
		require.Equal(t, "GET", r.Method)
	}
}

func TestErrors_AndLog_HoldNoAddressNoSecretAndNoTextOfStripe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	told := []stripetest.ChargeOutcome{noFunds, {DeclineCode: "lost_card"}, {DeclineCode: "Ask " + email}}
	b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), told...)
	var texts []string
	for attempt := range told {
		r.Attempt = attempt + 1
		got := b.collect(r)
		texts = append(texts, got.Failure)
	}
	require.Equal(t, []string{"insufficient_funds", "lost_card", "card_declined"}, texts)
	for _, kind := range []stripetest.FaultKind{stripetest.FaultErrorWithoutEffect, stripetest.FaultLostAfterEffect,
		stripetest.FaultTooManyRequests,
		stripetest.FaultUnavailable} {
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/confirm"})
		r.Attempt++
		_, err := b.provider.ChargeStoredCard(t.Context(), r)
		for ; err != nil; err = errors.Unwrap(err) {
			texts = append(texts, err.Error())
		}
	}
	refused := feeRequest()
	refused.Email = "not an address: " + email
	b.open(refused)
	all := strings.Join(texts, "\n") + b.log.String()
	require.Contains(t, all, "email_invalid")
	for _, private := range []string{email, "_secret_", stripetest.SecretKey, "Your card", "client_secret", backURL,
		b.fake.URL()} {
		require.NotContains(t, all, private)
	}
}

func TestNew_TheKeyAndThePool_SendNothingByThemselves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Empty(t, b.fake.Requests())
	require.True(t, stripe.IsLiveKey("sk_live_1"))
	require.False(t, stripe.IsLiveKey("sk_test_1"))
	require.True(t, stripe.IsTestKey("rk_test_1"))
	require.False(t, stripe.IsTestKey("rk_live_1"))
}
