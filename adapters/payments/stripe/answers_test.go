package stripe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

// tampered changes the objects that Stripe answers with, as a faulty proxy could.
type tampered struct{ change func(answer map[string]any) }

func (p tampered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	answer := map[string]any{}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil {
		return nil, err
	}
	p.change(answer)
	body, err = json.Marshal(answer)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, err
}

// lies are the ways in which an answer is not about the object that was asked for.
func lies() map[string]func(answer map[string]any) {
	return map[string]func(answer map[string]any){
		"no id":            func(a map[string]any) { delete(a, "id") },
		"an id of another": func(a map[string]any) { a["id"] = a["id"].(string) + "x" },
		"another prefix":   func(a map[string]any) { a["id"] = "xx_" + a["id"].(string) },
		"another type":     func(a map[string]any) { a["object"] = "event" },
		"no metadata":      func(a map[string]any) { a["metadata"] = nil },
		"another payment": func(a map[string]any) {
			names := maps.Clone(a["metadata"].(map[string]any))
			names[stripetest.PaymentKey], names["refund_id"] = id.Payment.Of(newID()), newID().String()
			a["metadata"] = names
		},
		"another amount": func(a map[string]any) {
			for _, name := range []string{"amount", "amount_total"} {
				if _, has := a[name]; has {
					a[name] = 1
				}
			}
		},
		"another currency": func(a map[string]any) { a["currency"] = "usd" },
	}
}

// doubts makes a provider whose answers are changed, and requires that a call refuses to understand them.
func (b bench) doubts(name string, change func(map[string]any), call func(*stripe.Provider) error) {
	b.Helper()
	err := call(b.with(tampered{change}))
	require.ErrorIs(b, err, fault.ErrUnavailable, name)
	require.ErrorIs(b, err, paymentports.ErrProviderAnswered, name)
	require.ErrorContains(b, err, "not understood", name)
}

func TestAnswers_AboutAPage_AreBelievedOnlyIfTheyAreThoseOfThePayment(t *testing.T) {
	t.Parallel()
	for name, lie := range lies() {
		b := setup(t)
		r := feeRequest()
		if name != "an id of another" { // nobody knows the id of a page that is made
			b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Open(t.Context(), r); return err })
		}
		page := b.open(r)
		require.Contains(t, page.URL, b.fake.URL(), "%s: the stored request is sent again, and gives the page", name)
		b.fake.Pay(t, page.URL, "4242424242424242")
		b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Lookup(t.Context(), r.PaymentID); return err })
		var paid string
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT paid_ref FROM stripe_payments WHERE id = $1`,
			[16]byte(r.PaymentID)).Scan(&paid))
		require.Empty(t, paid, name)
		require.Equal(t, paymentports.ProviderSucceeded, b.lookup(r.PaymentID).Status, name)
		require.Empty(t, b.fake.Violations())
	}
}

func TestAnswers_WithThePageOfAnotherPayment_SecureNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, other := feeRequest(), feeRequest()
	b.open(mine)
	b.fake.Pay(t, b.open(other).URL, "4242424242424242")
	var theirs map[string]any
	watching := b.with(tampered{func(answer map[string]any) { theirs = maps.Clone(answer) }})
	state, err := watching.Lookup(t.Context(), other.PaymentID)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderSucceeded, state.Status)
	b.doubts("another page", func(answer map[string]any) { maps.Copy(answer, theirs) },
		func(p *stripe.Provider) error { _, err := p.Lookup(t.Context(), mine.PaymentID); return err })
	require.Equal(t, paymentports.ProviderOpen, b.lookup(mine.PaymentID).Status)
}

func TestAnswers_AboutACharge_AreBelievedOnlyIfTheyAreThoseOfThePayment(t *testing.T) {
	t.Parallel()
	for name, lie := range lies() {
		b := setup(t)
		r := b.owing("4242424242424242")
		confirm := func(answer map[string]any) {
			if answer["status"] == "succeeded" {
				lie(answer)
			}
		}
		b.doubts(name, confirm, func(p *stripe.Provider) error { _, err := p.Collect(t.Context(), r); return err })
		require.Equal(t, paymentports.ProviderSucceeded, b.collect(r).Status, name)
		b.charged(r.PaymentID, 1)
	}
}

func TestAnswers_AboutARefund_AreBelievedOnlyIfTheyAreThoseOfTheRefund(t *testing.T) {
	t.Parallel()
	for name, lie := range lies() {
		b := setup(t)
		r := b.owing("4242424242424242")
		refund := paymentports.RefundRequest{RefundID: newID(), PaymentID: r.FeePaymentID, DepositID: r.DepositID,
			Amount: 700}
		if name != "an id of another" {
			b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Refund(t.Context(), refund); return err })
		}
		given, err := b.provider.Refund(t.Context(), refund)
		require.NoError(t, err)
		require.Equal(t, paymentports.RefundSucceeded, given.Status, name)
		b.doubts(name, lie, func(p *stripe.Provider) error { _, err := p.Refund(t.Context(), refund); return err })
	}
}

func TestOpen_APageThatStripeRefuses_IsNoOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := pageOf(b.owing("4242424242424242"))
	r.Amount = 1 // of a version that took any capture
	_, err := b.provider.Open(t.Context(), r)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorIs(t, err, paymentports.ErrProviderAnswered)
	for kind, outage := range map[stripetest.FaultKind]bool{
		stripetest.Refused: false, stripetest.Overloaded: true, stripetest.Unready: true, stripetest.LostBefore: true,
	} {
		b.fake.Fail(stripetest.Fault{Kind: kind, Path: "/sessions"})
		_, err := b.provider.Open(t.Context(), feeRequest())
		require.ErrorIs(t, err, fault.ErrUnavailable, kind)
		require.Equal(t, !outage, strings.Contains(err.Error(), paymentports.ErrProviderAnswered.Error()), kind)
	}
}

func TestCollect_LessThanStripeCharges_TellsThatTheCardCannotBeCharged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.owing("4242424242424242")
	r.Amount = b.provider.LeastCharge() - 1
	require.Equal(t, "card_not_chargeable", b.collect(r).Failure)
	r.PaymentID, r.Amount = newID(), b.provider.LeastCharge()
	require.Equal(t, paymentports.ProviderSucceeded, b.collect(r).Status)
}
