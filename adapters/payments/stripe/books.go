package stripe

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

const expandIntent = "data.payment_intent"

// BookEntries returns Stripe's records between two times: the charges, then the refunds, then the disputes, each newest
// first.
func (p *Provider) BookEntries(ctx context.Context, from, to time.Time) iter.Seq2[paymentports.BookEntry, error] {
	return func(yield func(paymentports.BookEntry, error) bool) {
		going := true
		add := func(e paymentports.BookEntry) bool {
			going = yield(e, nil)
			return going
		}
		between := span(from, to)
		err := eachCharge(ctx, p.api, between, func(c *stripe.Charge) bool {
			return c.Status != stripe.ChargeStatusSucceeded || add(chargeEntry(c))
		})
		between.Set("expand[0]", expandIntent)
		if err == nil && going {
			err = eachRefund(ctx, p.api, between, func(r *stripe.Refund) bool { return add(refundEntry(r)) })
		}
		if err == nil && going {
			err = eachDispute(ctx, p.api, between, func(d *stripe.Dispute) bool { return add(disputeEntry(d)) })
		}
		if err != nil {
			yield(paymentports.BookEntry{}, p.failed(ctx, err))
		}
	}
}

// ours returns the ids of payment and deposit in the metadata of an object at Stripe; zero ids if this service
// did not make it.
func ours(metadata map[string]string) (paymentID, depositID id.ID) {
	paymentID, _ = id.Payment.Parse(metadata[metaPayment])
	depositID, _ = id.Deposit.Parse(metadata[metaDeposit])
	return paymentID, depositID
}

func metadataOf(i *stripe.PaymentIntent) map[string]string {
	if i == nil {
		return nil
	}
	return i.Metadata
}

func chargeEntry(c *stripe.Charge) paymentports.BookEntry {
	e := paymentports.BookEntry{Kind: paymentports.BookEntryPayment, Ref: c.ID, Amount: money.Cents(c.Amount),
		Currency: string(c.Currency), Status: string(paymentports.ProviderPaymentSucceeded), At: time.Unix(c.Created,
			0).UTC()}
	if c.PaymentIntent != nil {
		e.Ref = c.PaymentIntent.ID
	}
	e.PaymentID, e.DepositID = ours(c.Metadata)
	return e
}

func refundEntry(r *stripe.Refund) paymentports.BookEntry {
	e := paymentports.BookEntry{Kind: paymentports.BookEntryRefund, Ref: r.ID, Amount: money.Cents(r.Amount),
		Currency: string(r.Currency), Status: string(ofRefund(r).Status), At: time.Unix(r.Created, 0).UTC()}
	e.PaymentID, e.DepositID = ours(metadataOf(r.PaymentIntent))
	e.RefundID = refundID(r.Metadata[metaRefund])
	return e
}

func disputeEntry(d *stripe.Dispute) paymentports.BookEntry {
	e := paymentports.BookEntry{Kind: paymentports.BookEntryDispute, Ref: d.ID, Amount: money.Cents(d.Amount),
		Currency: string(d.Currency), Status: string(d.Status), At: time.Unix(d.Created, 0).UTC()}
	e.PaymentID, e.DepositID = ours(metadataOf(d.PaymentIntent))
	return e
}

// Disputes returns the disputes about a payment, oldest first.
func (p *Provider) Disputes(ctx context.Context, paymentID id.ID) ([]paymentports.Dispute, error) {
	known, err := p.paid(ctx, paymentID)
	if err != nil || known == nil || known.paidRef == "" {
		return nil, err
	}
	var all []paymentports.Dispute
	err = eachDispute(ctx, p.api, url.Values{"payment_intent": {known.paidRef}}, func(d *stripe.Dispute) bool {
		found := paymentports.Dispute{
			Ref: d.ID, PaymentID: paymentID, Amount: money.Cents(d.Amount), Reason: bound(string(d.Reason)),
			Status:    bound(string(d.Status)),
			CreatedAt: time.Unix(d.Created, 0).UTC(),
		}
		if d.EvidenceDetails != nil && d.EvidenceDetails.DueBy != 0 {
			found.EvidenceDueBy = time.Unix(d.EvidenceDetails.DueBy, 0).UTC()
		}
		all = append(all, found)
		return true
	})
	slices.Reverse(all)
	return all, p.failed(ctx, err)
}

// errUnpaid is the error for a dispute of Stripe about a payment that is not stored as paid yet.
var errUnpaid = errors.New("stripe: the payment is in processing")

// paid returns the payment if it is paid, after a query of Stripe if need be; nil for an unknown payment.
func (p *Provider) paid(ctx context.Context, paymentID id.ID) (*record, error) {
	known, err := p.store.load(ctx, paymentID)
	if err != nil || known == nil || known.paidRef != "" || known.current() == nil {
		return known, err
	}
	state, err := p.LookupPayment(ctx, paymentID)
	switch {
	case err != nil:
		return nil, err
	case state.Status == paymentports.ProviderPaymentOpen:
		return nil, answered(errUnpaid)
	}
	return p.store.load(ctx, paymentID)
}

// PaymentIDOf returns the id of the payment of an object at Stripe, which is queried if need be; the zero id if
// there is none.
func (p *Provider) PaymentIDOf(ctx context.Context, providerRef string) (id.ID, error) {
	found, err := p.store.byRef(ctx, providerRef)
	if err != nil || !found.IsZero() {
		return found, err
	}
	if bound(providerRef) != providerRef || strings.ContainsAny(providerRef, ".[]") {
		return id.ID{}, nil
	}
	var named map[string]string
	switch {
	case strings.HasPrefix(providerRef, "pi_"):
		var i stripe.PaymentIntent
		err = p.api.get(ctx, intentsPath+"/"+providerRef, url.Values{}, &i)
		named = i.Metadata
	case strings.HasPrefix(providerRef, "ch_"):
		var c stripe.Charge
		err = p.api.get(ctx, chargesPath+"/"+providerRef, url.Values{}, &c)
		named = c.Metadata
	case strings.HasPrefix(providerRef, "cs_"):
		var s stripe.CheckoutSession
		err = p.api.get(ctx, sessionsPath+"/"+providerRef, url.Values{}, &s)
		named = s.Metadata
	}
	if no := asRefused(err); no != nil && no.status == http.StatusNotFound {
		return id.ID{}, nil
	}
	found, _ = ours(named)
	return found, p.failed(ctx, err)
}

// refundID parses a refund's id from metadata; the zero id means a refund made by hand at Stripe.
func refundID(text string) id.ID {
	parsed, err := uuid.Parse(text)
	if err != nil {
		return id.ID{}
	}
	return id.ID(parsed)
}
