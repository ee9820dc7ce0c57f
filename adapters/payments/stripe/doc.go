// Package stripe takes payments with Stripe Checkout (ADR 0003). It has met Stripe's published
// schema (stripe-mock) and a fake with a state (stripetest), never Stripe itself.
//
// A payment of ours has objects at Stripe, numbered 1, 2, 3, … by kind:
//
//	page    a Checkout Session: the tenant pays with a card
//	intent  a PaymentIntent: the saved card is charged without the tenant, once for each attempt
//
//	        ┌──────── dead <── seen to be expired or canceled, or never made
//	live ───┤
//	        └──────── paid <── seen to have succeeded; nothing is made afterwards
//
// Three rules keep a debt from being paid twice, whatever process dies and whatever answer is lost:
//
//   - A row of the object, with number and request, commits before the request is sent. Whoever finds a row without
//     Stripe's id repeats the request under its key, `{payment}:page:{n}`, and so gets hold of the object.
//   - A unique index allows a payment a single object that is not dead. An object is dead only once Stripe has said so.
//   - Close marks the payment first. No row is added to a closed payment.
//
// No process needs a lock while it talks to Stripe: a process that wakes late repeats a request whose object is dead by
// then.
package stripe
