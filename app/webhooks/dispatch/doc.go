// Package dispatch delivers webhooks: it moves committed events from the outbox into deliveries and POSTs each delivery
// to the endpoint of its subscription, at least once, whatever crashes meanwhile (delivery.md, points 1 to 10).
//
//	outbox ──relay──▶ deliveries ──claims──▶ jobs ──queue──▶ workers ──POST──▶ endpoint
//	                     ▲   ▲                 │ (queue down: local)   │
//	                     │   └─────scan────────┘                       │
//	                     └───────────────── record ◀───────────────────┘
//
// Postgres stores what is to be delivered, and the queue carries hints: losing a job delays its deliveries until their
// leases end. Terms:
//
//	outbox     the table of committed events of which no deliveries have been made
//	relay      turns events of the outbox into deliveries
//	scan       finds due deliveries, and those whose dispatcher died
//	claim      the right to make the n-th dispatch of a delivery while its lease runs
//	job        some claims of a lane, on their way to a worker
//	window     the number of deliveries of a subscription that may be claimed; the rest of a backlog stays in Postgres
//	slot       the right to have a POST in flight; a POST needs a slot of its subscription and a slot of the process
//	in flight  of a claim: from the job's arrival in a process until the attempt is recorded or the claim is given up
//	lane       a queue with workers of its own: fast, or slow for subscriptions that are slow or failing
//	epoch      a marker in the queue's store; when the marker is gone, the jobs are gone
//
// A delivery passes through relay.go (plan), transport.go (jobs), worker.go (load, POST) and record.go. scan.go finds
// the deliveries that are due later: retries, backlogs and ended leases. registry.go holds the windows and slots.go the
// slots; counts.go corrects the windows by the database's counts. run.go starts the loops.
package dispatch
