package stripe_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

const (
	sessions = "/v1/checkout/sessions"
	intents  = "/v1/payment_intents"
)

var noFunds = stripetest.ChargeOutcome{DeclineCode: "insufficient_funds"}

func keys(requests []stripetest.Request) (out []string) {
	for _, r := range requests {
		out = append(out, r.Key)
	}
	return out
}

// confirms gives the confirm requests so far.
func (b bench) confirms() (found []stripetest.Request) {
	for _, r := range b.fake.Requests() {
		if strings.HasSuffix(r.Path, "/confirm") {
			found = append(found, r)
		}
	}
	return found
}

func TestCollect_ARefusalUnderAKey_IsNotReplayedToALaterAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), noFunds, noFunds)
	for attempt := 1; attempt <= 2; attempt++ {
		r.Attempt = attempt
		got := b.collect(r)
		require.Equal(t, paymentports.ProviderPayment{Status: paymentports.ProviderPaymentFailed, Ref: got.Ref,
			Failure: "insufficient_funds", Refusal: paymentports.ChargeRefusedForNow}, got)
	}
	r.Attempt = 3
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
	b.charged(r.PaymentID, 1)

	root := id.Payment.Of(r.PaymentID)
	require.Equal(t, []string{root + ":confirm:1", root + ":confirm:2", root + ":confirm:3"}, keys(b.confirms()))
	require.Equal(t, []string{root + ":intent"}, keys(b.sent("POST", intents)), "attempts share an intent")
	for _, confirm := range b.confirms() {
		require.NotEmpty(t, confirm.Params.Get("payment_method"), "a refusal takes the card off the intent")
		require.Equal(t, url.Values{"payment_method": confirm.Params["payment_method"], "off_session": {"true"}},
			confirm.Params)
	}
	made := b.sent("POST", intents)[0].Params
	require.Equal(t, url.Values{
		"amount": {"50000"}, "currency": {"eur"}, "customer": made["customer"], "description": {"D-7K3M-9Q2X"},
		"payment_method_types[0]": {"card"},
		"metadata[payment_id]":    {root}, "metadata[deposit_id]": {id.Deposit.Of(r.DepositID)},
		"metadata[object]": {"intent:1"},
	}, made, "not confirmed: the id is stored first")
}

func TestOpen_ThePageOfAFee_SavesTheCardAndAuthenticates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.open(r)
	sent := b.sent("POST", sessions)[0]
	root, deposit := id.Payment.Of(r.PaymentID), id.Deposit.Of(r.DepositID)
	require.Equal(t, root+":page:1", sent.Key)
	expires := sent.Params.Get("expires_at")
	require.Equal(t, url.Values{
		"mode": {"payment"}, "payment_method_types[0]": {"card"},
		"payment_method_options[card][request_three_d_secure]": {"any"},
		"customer_creation": {"always"}, "payment_intent_data[setup_future_usage]": {"off_session"},
		"adaptive_pricing[enabled]": {"false"},
		"line_items[0][quantity]":   {"1"}, "line_items[0][price_data][currency]": {"eur"},
		"line_items[0][price_data][unit_amount]":        {"1750"},
		"line_items[0][price_data][product_data][name]": {"D-7K3M-9Q2X"}, "payment_intent_data[description]": {"D-7K3M-9Q2X"},
		"client_reference_id": {root}, "metadata[payment_id]": {root}, "metadata[deposit_id]": {deposit},
		"metadata[object]":                          {"page:1"},
		"payment_intent_data[metadata][payment_id]": {root}, "payment_intent_data[metadata][deposit_id]": {deposit},
		"payment_intent_data[metadata][object]": {"page:1"}, "expires_at": {expires}, "locale": {"fr"},
		"customer_email": {email},
		"success_url":    {backURL}, "cancel_url": {backURL},
	}, sent.Params)
	require.Equal(t, "2026-03-25.dahlia", sent.Version)
}

func TestOpen_ThePageOfACollection_SavesNoCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4000002760003184")
	b.collect(r)
	b.open(pageOf(r))
	pages := b.sent("POST", sessions)
	sent := pages[len(pages)-1].Params
	for _, absent := range []string{"customer", "customer_creation", "payment_intent_data[setup_future_usage]"} {
		require.NotContains(t, sent, absent)
	}
	require.Equal(t, "any", sent.Get("payment_method_options[card][request_three_d_secure]"))
	require.Equal(t, id.Payment.Of(r.PaymentID), sent.Get("client_reference_id"))
}

func TestOpen_ALanguageThatStripeDoesNotSpeakWithUs_IsLeftToTheBrowser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for tag, want := range map[string]string{"pt-BR": "pt", "NL": "nl", "sv": "auto", "": "auto", "de-AT": "de"} {
		r := feeRequest()
		r.Locale = tag
		b.open(r)
		all := b.sent("POST", sessions)
		require.Equal(t, want, all[len(all)-1].Params.Get("locale"), tag)
	}
}

func TestOpen_AnswerWasLost_RepeatsTheStoredRequestWordForWord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Path: sessions})
	_, err := b.provider.OpenPage(t.Context(), r)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.fake.AdvanceClock(10 * time.Minute)
	r.Email, r.Locale = "grace@example.com", "de"
	page := b.open(r)
	all := b.sent("POST", sessions)
	require.Len(t, all, 2)
	require.Equal(t, all[0].Params, all[1].Params, "expires_at, address and locale included")
	require.Equal(t, all[0].Key, all[1].Key)
	require.Equal(t, page.URL, b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)))
	b.fake.PayOnPaymentPage(t, page.URL, "4242424242424242")
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.lookup(r.PaymentID).Status)
}

func TestLookup_TheAnswerOfACreateWasLost_FindsThePage(t *testing.T) {
	t.Parallel()
	for _, kind := range []stripetest.FaultKind{stripetest.FaultLostAfterEffect, stripetest.FaultLostBeforeEffect} {
		b := setup(t)
		r := feeRequest()
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: sessions})
		_, err := b.provider.OpenPage(t.Context(), r)
		require.Error(t, err)
		require.Equal(t, paymentports.ProviderPaymentOpen, b.lookup(r.PaymentID).Status)
		require.Equal(t, paymentports.ProviderPaymentClosed, b.close(r.PaymentID).Status)
	}
}

func TestOpen_AStored500_IsAnsweredByTheList(t *testing.T) {
	t.Parallel()
	for kind, want := range map[stripetest.FaultKind]string{stripetest.FaultErrorWithoutEffect: ":page:2",
		stripetest.FaultErrorAfterEffect: ":page:1"} {
		b := setup(t)
		r := feeRequest()
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: sessions})
		_, err := b.provider.OpenPage(t.Context(), r)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		b.open(r)
		all := b.sent("POST", sessions)
		require.Equal(t, id.Payment.Of(r.PaymentID)+want, all[len(all)-1].Key, kind)
		require.Equal(t, b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)), b.open(r).URL)
	}
}

func TestCollect_TheKeyOfALostCreateIsADayOld_FindsTheIntentInTheList(t *testing.T) {
	t.Parallel()
	for kind, made := range map[stripetest.FaultKind]int{stripetest.FaultLostAfterEffect: 1,
		stripetest.FaultLostBeforeEffect: 2} {
		b := setup(t)
		r := b.owing("4242424242424242")
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: intents})
		_, err := b.provider.ChargeStoredCard(t.Context(), r)
		require.Error(t, err)
		b.fake.AdvanceClock(25 * time.Hour)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
		require.Len(t, b.sent("POST", intents), made, "%s: an unconfirmed intent beside another is payable, too", kind)
		b.charged(r.PaymentID, 1)
	}
}

func TestCollect_TheAnswerOfAConfirmWasLost_ChargesOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{time.Minute, 25 * time.Hour} {
		for _, outcome := range []stripetest.ChargeOutcome{{}, noFunds} {
			b := setup(t)
			r := b.owing("4242424242424242")
			b.fake.SetOffSessionOutcomes(id.Deposit.Of(r.DepositID), outcome)
			b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Path: "/confirm"})
			_, err := b.provider.ChargeStoredCard(t.Context(), r)
			require.ErrorIs(t, err, fault.ErrUnavailable)
			b.fake.AdvanceClock(after)
			got := b.collect(r)
			require.Len(t, b.confirms(), 1, "the effect shows: the attempt is not sent again")
			require.Equal(t, got, b.lookup(r.PaymentID))
			if outcome == noFunds {
				require.Equal(t, "insufficient_funds", got.Failure)
			} else {
				require.Equal(t, paymentports.ProviderPaymentSucceeded, got.Status)
			}
		}
	}
}

func TestCollect_AStored500OfAConfirm_IsTriedUnderAnotherKey(t *testing.T) {
	t.Parallel()
	for kind, want := range map[stripetest.FaultKind]int{stripetest.FaultErrorWithoutEffect: 1,
		stripetest.FaultErrorAfterEffect: 1} {
		b := setup(t)
		r := b.owing("4242424242424242")
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/confirm"})
		_, err := b.provider.ChargeStoredCard(t.Context(), r)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
		b.charged(r.PaymentID, want)
	}
}

func TestCollect_TheIDOfTheIntent_IsStoredBeforeTheFirstConfirm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultHang, Path: "/confirm"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.provider.ChargeStoredCard(ctx, r)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(b.confirms()) == 1 }, 10*time.Second, time.Millisecond)
	var ref, request string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT ref, request FROM stripe_objects WHERE payment_id = $1`,
		r.PaymentID).Scan(&ref, &request))
	require.Contains(t, b.confirms()[0].Path, "/"+ref+"/")
	require.Empty(t, request, "an answered request is not kept: it may hold an address")
	cancel()
	require.ErrorIs(t, <-ended, fault.ErrUnavailable)
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
}

func TestOpen_AnIntentThatCannotBeCanceled_OpensNoPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4000002760003184")
	require.Equal(t, paymentports.ChargeRefusedUntilTenantActs, b.collect(r).Refusal)
	for _, kind := range []stripetest.FaultKind{stripetest.FaultLostBeforeEffect, stripetest.FaultUnavailable,
		stripetest.FaultErrorWithoutEffect,
		stripetest.FaultTooManyRequests} {
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/cancel"})
		_, err := b.provider.OpenPage(t.Context(), pageOf(r))
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.Empty(t, b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)))
	}
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Path: "/cancel"})
	_, err := b.provider.OpenPage(t.Context(), pageOf(r))
	require.Error(t, err, "canceled, and not seen")
	require.NotEmpty(t, b.open(pageOf(r)).URL)
}

func TestCollect_APageThatCannotBeExpired_IsNotChargedBeside(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4000000000000341")
	b.collect(r)
	b.open(pageOf(r))
	r.Attempt = 2
	for _, kind := range []stripetest.FaultKind{stripetest.FaultLostBeforeEffect, stripetest.FaultUnavailable,
		stripetest.FaultLostAfterEffect} {
		b.fake.FailNextRequests(stripetest.Fault{Kind: kind, Path: "/expire"})
		_, err := b.provider.ChargeStoredCard(t.Context(), r)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.Len(t, b.confirms(), 1)
	}
	require.Equal(t, paymentports.ProviderPaymentFailed, b.collect(r).Status)
	require.Len(t, b.confirms(), 2)
}

func TestOpen_APageOfACollectionThatExpired_IsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4000002760003184")
	b.collect(r)
	first := b.open(pageOf(r))
	b.fake.AdvanceClock(24 * time.Hour)
	require.Equal(t, paymentports.ProviderPaymentFailed, b.lookup(r.PaymentID).Status)
	second := b.open(pageOf(r))
	require.NotEqual(t, first, second)
	b.fake.PayOnPaymentPage(t, first.URL, "4242424242424242")
	require.Equal(t, paymentports.ProviderPaymentOpen, b.lookup(r.PaymentID).Status, "the first page is over")
	b.fake.PayOnPaymentPage(t, second.URL, "4242424242424242")
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.lookup(r.PaymentID).Status)
}

func TestOpen_APageOfAFeeThatExpired_IsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.open(r)
	b.fake.AdvanceClock(24 * time.Hour)
	require.Equal(t, backURL, b.open(r).URL)
	require.Equal(t, paymentports.ProviderPaymentClosed, b.lookup(r.PaymentID).Status)
}

func TestClose_OfARequestThatArrivesLate_RulesItOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLateEffect, Path: sessions,
		Delay: 50 * time.Millisecond})
	_, err := b.provider.OpenPage(t.Context(), r)
	require.Error(t, err)
	require.Equal(t, paymentports.ProviderPaymentClosed, b.close(r.PaymentID).Status)
	require.Eventually(t, func() bool {
		all := b.sent("POST", sessions)
		return len(all) == 2 && all[0].Status != 0
	}, 10*time.Second, 5*time.Millisecond)
	b.fake.PayOnPaymentPage(t, b.fake.PaymentPageURL(id.Payment.Of(r.PaymentID)), "4242424242424242")
	b.charged(r.PaymentID, 0)
	require.Equal(t, paymentports.ProviderPaymentClosed, b.lookup(r.PaymentID).Status)
}

func TestOpen_AnAddressThatStripeRefuses_OpensThePageWithoutIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	r.Email = "ada"
	require.NotEqual(t, backURL, b.open(r).URL)
	all := b.sent("POST", sessions)
	require.Len(t, all, 2)
	require.NotContains(t, all[1].Params, "customer_email")
}

func TestOpen_AnotherAmount_IsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	b.open(r)
	r.Amount++
	_, err := b.provider.OpenPage(t.Context(), r)
	require.ErrorIs(t, err, fault.ErrInternal)
	owing := b.owing("4242424242424242")
	b.collect(owing)
	owing.Amount++
	_, err = b.provider.ChargeStoredCard(t.Context(), owing)
	require.ErrorIs(t, err, fault.ErrInternal)
}

// net/http repeats a request with an Idempotency-Key when a reused connection dies.
func TestCollect_ARequestThatTheTransportRepeats_ChargesOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.provider = b.with(nil)
	r := b.owing("4242424242424242")
	b.lookup(r.FeePaymentID) // opens a connection that is reused
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Path: "/confirm"})
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
	require.Len(t, b.confirms(), 2)
	require.Equal(t, b.confirms()[0].Key, b.confirms()[1].Key)
	b.charged(r.PaymentID, 1)
}

func TestCollect_AnUnansweredRequestTooOldToRepeat_WaitsUntilItIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostBeforeEffect, Path: intents})
	_, err := b.provider.ChargeStoredCard(t.Context(), r)
	require.Error(t, err)
	b.fake.AdvanceClock(22*time.Hour + time.Minute)
	_, err = b.provider.ChargeStoredCard(t.Context(), r)
	require.ErrorContains(t, err, "not answered for 22 hours")
	require.Len(t, b.sent("POST", intents), 1)
	b.fake.AdvanceClock(time.Hour)
	require.Equal(t, paymentports.ProviderPaymentSucceeded, b.collect(r).Status)
}
