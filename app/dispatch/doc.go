// Package dispatch delivers: it takes what committed off the outbox and brings it
// to every endpoint that subscribed, at least once, whatever crashes meanwhile.
//
//	outbox ──relay──▶ deliveries ──claims──▶ jobs ──queue──▶ workers ──POST──▶ endpoint
//	                     ▲   ▲                 │ (queue away: local)   │
//	                     │   └─────scan────────┘                       │
//	                     └──────────────── recorder ◀──────────────────┘
//
// Postgres is the truth and the queue carries hints: a lost job costs the rest of
// a lease, never a delivery. The vocabulary:
//
//	claim     the right to make the seq-th dispatch of a delivery, as long as its lease runs
//	job       a hint that some claims, of one lane, can go out
//	window    how many deliveries of an endpoint may be claimed at once; the backlog behind it stays in Postgres
//	slot      the right to have a POST under way to an endpoint
//	lane      a queue and workers of its own: fast, or slow for endpoints that are slow or failing
//	epoch     a mark in the queue's store; when it is gone, so are the jobs
package dispatch
