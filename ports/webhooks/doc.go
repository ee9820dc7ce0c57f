// Package webhooks declares the interfaces that the use cases of webhooks need: subscriptions with their
// deliveries, the numbered list of a partner's events (the feed), and the stores, queue and sender of the
// dispatcher.
package webhooks
