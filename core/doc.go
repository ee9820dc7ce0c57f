// Package core defines the nouns of the domain; the packages below core hold the rules. Code, comments, documents and
// the API use each noun in this meaning only (docs/glossary.md lists all terms).
//
// # Who takes part
//
//   - A partner is a property-management or booking system that secures deposits for operators (core/partner).
//   - An API key authenticates a partner at the partner API (core/partner).
//   - An operator is a person who runs rentals and logs in on our pages (core/connect).
//   - An account is the business of an operator. Deposits are created for an account (core/connect).
//   - A tenant is the person who rents and pays at checkout. The record of a tenant is called a client:
//     core/tenant.Client in Go, `client` in the API and in events (core/tenant).
//   - A provider takes payments, outside this service (paymentports.PaymentProvider).
//
// # Connecting a partner and an account
//
//   - A connect URL brings an operator from a partner to our pages. The partner signs the URL with the connect
//     secret, which is not an API key (core/connect).
//   - An external id is the partner's own id of an operator (core/connect).
//   - A link allows a partner to act for an account. A link is active or revoked (core/connect).
//
// # Deposits
//
//   - A deposit secures a rental: an amount, a rental period, and a status (core/deposit).
//   - The ceiling is the largest amount of a deposit for an account (core/connect).
//   - Checkout is the tenant's way from the checkout URL to an active deposit.
//   - The fee is the price that the tenant pays at checkout (core/deposit.Fee).
//   - The cover is the time from activation until expiresAt. During the cover the operator holds a guarantee for the
//     amount.
//   - A trigger is the cause of a change of status; a transition is the change, kept as history (core/deposit).
//   - A capture is the change of status from active to captured, for all or a part of the amount. A collection is the
//     payment that follows and charges the tenant (core/deposit).
//   - A release ends the cover before expiresAt without a capture.
//   - A payment is an attempt to move money: a fee or a collection (core/deposit).
//   - The outcome is the answer that a tenant takes back to returnUrl. The outcome is not the status (core/deposit).
//
// # Webhooks
//
//   - An event is a fact that a partner may be notified of, fixed when the change commits (ports.Event).
//   - A subscription asks for events to be sent to an endpoint; an endpoint is the HTTP address that is called
//     (core/webhook).
//   - A delivery is an event on the way to a subscription (core/webhook).
//   - An attempt is a POST of a delivery; attempts follow a retry schedule (core/webhook).
//   - A redelivery is a new delivery with the bytes of an earlier delivery. A replay makes redeliveries for a range
//     of time (core/webhook).
//   - The health of an endpoint, known from attempts, bounds the number of POSTs in flight. The circuit of an
//     endpoint is closed, open, or half-open (core/webhook.Health).
//
// # Shared by all modules
//
//   - An id is a UUID inside the service, and a prefix with 26 characters outside (core/id).
//   - Cents are the unit of every amount (core/money).
//   - A fault is an error that a caller may see: kind, code and message (core/fault).
//   - A secret is a text that no log may show (core/secret).
package core
