// Package stripe takes payments with Stripe Checkout (ADR 0003). It has been tested with Stripe's published schema
// (stripe-mock) and a fake with a state (stripetest), never with Stripe itself.
//
// A payment of this service has objects at Stripe, numbered 1, 2, 3, … by kind:
//
//	page    a Checkout Session: the tenant pays with a card
//	intent  a PaymentIntent: the saved card is charged without the tenant, once for each attempt
//
//	        ┌──────── dead <── found to be expired or canceled, or never made
//	live ───┤
//	        └──────── paid <── found to have succeeded; nothing is made afterwards
//
// Three rules keep a debt from being paid twice, even if processes end at any point or responses are lost:
//
//   - A row for the object, with its number and request, commits before the request is sent. A process that finds a
//     row without Stripe's id repeats the request under its Idempotency-Key, `{payment}:page:{n}`, and so gets it.
//   - A unique index allows a payment one object at most that is not dead. An object is marked as dead only after
//     Stripe has reported its end.
//   - Close marks the payment first. No row is added to a closed payment.
//
// No process needs a lock during a request to Stripe: a process that was suspended meanwhile repeats a request whose
// object is dead by then.
package stripe
