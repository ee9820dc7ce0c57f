// Package webhooks declares what the use cases of webhooks ask for: subscriptions with their deliveries, the feed, and
// the stores, queue and sender of the dispatcher.
package webhooks
