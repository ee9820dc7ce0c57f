package stripe

import (
	"context"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v85"
)

const listPage = "100"

// span returns the query parameters for objects made at Stripe from one time to before another.
func span(from, to time.Time) url.Values {
	return url.Values{"created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lt]": {strconv.FormatInt(to.Unix(), 10)}}
}

// each calls visit for the objects of a list at Stripe, newest first, until it returns false. read fetches one
// page.
func each[T any](ctx context.Context, query url.Values, read func(context.Context, url.Values) ([]T, bool, error),
	idOf func(T) string, visit func(T) bool) error {
	query = maps.Clone(query)
	query.Set("limit", listPage)
	for {
		found, more, err := read(ctx, query)
		if err != nil {
			return err
		}
		for _, item := range found {
			if !visit(item) {
				return nil
			}
		}
		if !more || len(found) == 0 {
			return nil
		}
		query.Set("starting_after", idOf(found[len(found)-1]))
	}
}

func eachSession(ctx context.Context, a api, query url.Values, visit func(*stripe.CheckoutSession) bool) error {
	return each(ctx, query, func(ctx context.Context, q url.Values) ([]*stripe.CheckoutSession, bool, error) {
		var list stripe.CheckoutSessionList
		err := a.get(ctx, sessionsPath, q, &list)
		return list.Data, list.HasMore, err
	}, func(s *stripe.CheckoutSession) string { return s.ID }, visit)
}

func eachIntent(ctx context.Context, a api, query url.Values, visit func(*stripe.PaymentIntent) bool) error {
	return each(ctx, query, func(ctx context.Context, q url.Values) ([]*stripe.PaymentIntent, bool, error) {
		var list stripe.PaymentIntentList
		err := a.get(ctx, intentsPath, q, &list)
		return list.Data, list.HasMore, err
	}, func(i *stripe.PaymentIntent) string { return i.ID }, visit)
}

func eachCharge(ctx context.Context, a api, query url.Values, visit func(*stripe.Charge) bool) error {
	return each(ctx, query, func(ctx context.Context, q url.Values) ([]*stripe.Charge, bool, error) {
		var list stripe.ChargeList
		err := a.get(ctx, chargesPath, q, &list)
		return list.Data, list.HasMore, err
	}, func(c *stripe.Charge) string { return c.ID }, visit)
}

func eachRefund(ctx context.Context, a api, query url.Values, visit func(*stripe.Refund) bool) error {
	return each(ctx, query, func(ctx context.Context, q url.Values) ([]*stripe.Refund, bool, error) {
		var list stripe.RefundList
		err := a.get(ctx, refundsPath, q, &list)
		return list.Data, list.HasMore, err
	}, func(r *stripe.Refund) string { return r.ID }, visit)
}

func eachDispute(ctx context.Context, a api, query url.Values, visit func(*stripe.Dispute) bool) error {
	return each(ctx, query, func(ctx context.Context, q url.Values) ([]*stripe.Dispute, bool, error) {
		var list stripe.DisputeList
		err := a.get(ctx, disputesPath, q, &list)
		return list.Data, list.HasMore, err
	}, func(d *stripe.Dispute) string { return d.ID }, visit)
}
