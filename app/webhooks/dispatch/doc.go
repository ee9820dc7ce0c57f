// Package dispatch delivers webhooks: it moves committed events from the outbox into deliveries and POSTs each delivery
// to the endpoint of its subscription, at least once, whatever crashes meanwhile (delivery.md, points 1 to 10).
//
//	outbox ──relay──▶ deliveries ──claims──▶ jobs ──queue──▶ workers ──POST──▶ endpoint
//	                     ▲   ▲                 │ (queue down: local)   │
//	                     │   └─────scan────────┘                       │
//	                     └───────────────── record ◀───────────────────┘
//
// Postgres stores what is to be delivered, and the queue carries hints. What can go wrong, and what heals it:
//
//	a wake-up is lost                      relay and scan poll: each second, or every 50 and 100 ms without wake-ups
//	Postgres refuses an event              the relay halves the batch until the event is alone, and sets it aside
//	a process dies between two steps       its commits stay: the leases of its claims end, and the scan claims again
//	the queue refuses a job, or is silent  new claims make the job ineffective; this process works on them itself
//	the queue loses its jobs               its epoch key is gone: their claims are withdrawn, and the scan claims again
//	a job comes twice, or late             its claims are not the newest, or in flight: the worker drops them
//	the subscription changed               the worker reads it 500 ms before the POST at most
//	the endpoint fails                     its delivery waits for the next attempt, longer each time; a circuit opens
//	the endpoint hangs                     its POSTs keep their own slots, and no worker longer than 250 ms
//	Postgres is away when a POST has ended the record is tried until it is written, while the process lives
//
// Terms:
//
//	outbox     the table of committed events of which no deliveries have been made
//	relay      turns events of the outbox into deliveries
//	scan       finds due deliveries, and those whose dispatcher died
//	claim      the right to make the n-th dispatch of a delivery while its lease runs
//	job        some claims, on their way to a worker
//	window     the number of deliveries of a subscription that may be claimed; the rest of a backlog stays in Postgres
//	slot       the right to have a POST in flight; a POST needs a slot of its subscription and a slot of the process
//	in flight  of a claim: from the job's arrival in a process until the attempt is recorded or the claim is given up
//	lane       a share of the slots: fast, or slow for subscriptions that are slow or failing
//	epoch      a marker in the queue's store; when the marker is gone, the jobs are gone
//
// delivery.go tells the way of a delivery from top to bottom. Beside it: plan.go (who gets an event), fate.go (whether
// a claim may still be sent), outcome.go (what follows from an attempt), transport.go (the queue fails or is lost).
// relay.go and scan.go are the loops that begin it: new events, and what is due later, such as retries, backlogs and
// ended leases. registry.go holds the windows and slots.go the slots; counts.go corrects the windows by the database's
// counts. run.go starts the loops.
package dispatch
