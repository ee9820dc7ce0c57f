package main

var api = board{
	uid: "svc-api", title: "API", description: "The partner API as partners feel it.",
	choice: choice("route", "Route", `svc_http_request_duration_seconds_count{`+partner+`}`),
	rows: []row{
		{"Errors and latency", []panel{
			graph("Availability", share, q(`1 - sum(rate(svc_http_requests_total{`+partner+`,code=~"5.."}[$__rate_interval])) / `+
				`sum(rate(svc_http_requests_total{`+partner+`}[$__rate_interval]))`, "objective: 99.95 %")).
				falls("runbooks/api-errors.md", green(0.9995)).size(12, 8),
			graph("Requests below 250 ms", share, q(`sum(rate(svc_http_request_duration_seconds_bucket{`+timed+
				`,le="0.25"}[$__rate_interval])) / sum(rate(svc_http_request_duration_seconds_count{`+timed+`}[$__rate_interval]))`,
				"objective: 99 %")).falls("runbooks/api-slow.md", green(0.99)).size(12, 8),
			graph("Latency", seconds, quantiles(`svc_http_request_duration_seconds_bucket{`+timed+`,route=~"$route"}`)...).
				rises("runbooks/api-slow.md", orange(0.25)).size(12, 8),
			graph("Latency by route, p95", seconds, p95("route",
				`svc_http_request_duration_seconds_bucket{`+partner+`,route=~"$route"}`)).
				rises("runbooks/api-slow.md", orange(0.25)).size(12, 8),
		}},
		{"Saturation and throughput", []panel{
			graph("Requests in flight", plain, q(`svc_http_requests_in_flight`, "{{instance}}")).
				leads("runbooks/requests-stand.md"),
			graph("Throughput by status code", calls, rates("code", `svc_http_requests_total{`+partner+`,route=~"$route"}`)),
			graph("Server errors by route", calls, rates("code, route",
				`svc_http_requests_total{`+partner+`,code=~"5..",route=~"$route"}`)),
			graph("Throughput by route", calls, rates("route",
				`svc_http_request_duration_seconds_count{`+partner+`,route=~"$route"}`)),
		}},
		{"Idempotency and rate limit", []panel{
			graph("Idempotency keys by result", calls, rates("result", "svc_idempotency_total")),
			graph("Rate-limited requests", calls, rates("surface", "svc_rate_limited_total")),
			graph("Rate limiter fails open", calls, q(`sum(rate(svc_rate_limiter_failopen_total[$__rate_interval])) > 0`,
				"Redis away")).rises("runbooks/redis-away.md", orange(0.01)),
		}},
	},
}

const ofEvent = `{event=~"$event"}`

var delivery = board{
	uid: "svc-delivery", title: "Delivery",
	description: "Success and latency of webhooks, from the commit of a change to the 2xx of its receiver.",
	choice:      choice("event", "Event", "svc_webhook_attempts_total"),
	rows: []row{
		{"Success and latency", []panel{
			graph("Success rate", share, q(`sum(rate(svc_webhook_attempts_total{event=~"$event",result="success"}`+
				`[$__rate_interval])) / sum(rate(svc_webhook_attempts_total`+ofEvent+`[$__rate_interval]))`, "2xx")).
				falls("svc-endpoints", orange(0.5), green(0.9)).says("Receivers that are broken count here.").size(12, 8),
			graph("Delivery latency, healthy endpoints", seconds,
				quantiles("svc_webhook_healthy_delivery_latency_seconds_bucket")...).
				says("First attempts, without those that an endpoint held back. Objective: 99.9 % within 60 s.").
				rises("runbooks/deliveries-arrive-late.md", red(60)).size(12, 8),
			graph("Start delay, healthy endpoints", seconds, quantiles("svc_webhook_start_delay_seconds_bucket")...).
				says("From the commit of the change to the POST. Objective: 99.9 % within 5 s.").
				rises("runbooks/deliveries-start-late.md", red(5)).size(12, 8),
			graph("Delivery latency by event, p95, all endpoints", seconds, p95("event",
				`svc_webhook_delivery_latency_seconds_bucket`+ofEvent)).rises("svc-endpoints", orange(60)).size(12, 8),
		}},
		{"Attempts", []panel{
			graph("Attempts by result", events, rates("result", `svc_webhook_attempts_total`+ofEvent)),
			graph("Attempt duration by result, p95", seconds, p95("result", "svc_webhook_attempt_duration_seconds_bucket")).
				rises("svc-endpoints", orange(10)),
			graph("Finished deliveries by outcome", events, rates("outcome", `svc_webhook_deliveries_finished_total`+ofEvent)),
			graph("Attempts in flight by lane", plain, q(`sum by (lane) (svc_webhook_inflight) > 0`, "{{lane}}")),
			graph("Outbox throughput", events, q(`sum(rate(svc_outbox_relayed_total[$__rate_interval]))`, "relayed")),
			graph("Expired leases", events, q(`sum(rate(svc_webhook_reconciled_total[$__rate_interval])) > 0`, "dispatched again")).
				rises("runbooks/leases-expire.md", orange(0.012)),
		}},
	},
}

var endpoints = board{
	uid: "svc-endpoints", title: "Endpoints",
	description: "How the receivers of partners behave. Nothing here wakes anybody: partners are told by mail.",
	rows: []row{
		{"Health", []panel{
			graph("Subscriptions by state", plain, q(readBy("state", "svc_webhook_subscriptions"), "{{state}}"),
				q(read("svc_webhook_outbound_broken"), "1: our own way out is broken")).
				leads("runbooks/outbound-broken.md").size(12, 8),
			graph("Failed attempts by result", events, rates("result", `svc_webhook_attempts_total{result!="success"}`)).size(12, 8),
			graph("Failure rate", share, q(`sum(rate(svc_webhook_attempts_total{result!="success"}[$__rate_interval])) / `+
				`sum(rate(svc_webhook_attempts_total[$__rate_interval]))`, "without a 2xx")).
				rises("guides/debugging.md#who-is-affected", orange(0.1), red(0.5)),
			graph("Retry backlog", plain, q(readBy("state", `svc_webhook_deliveries_pending{state=~"waiting|parked"}`), "{{state}}")),
			graph("Exhausted deliveries", events, rates("event", `svc_webhook_deliveries_finished_total{outcome="failed"}`)),
		}},
		{"Latency", []panel{
			graph("Attempt duration", seconds, quantiles("svc_webhook_attempt_duration_seconds_bucket")...).
				rises("guides/debugging.md#who-is-affected", orange(10)).size(12, 8),
			graph("Delivery latency, all endpoints", seconds, quantiles("svc_webhook_delivery_latency_seconds_bucket")...).
				rises("svc-delivery", orange(60)).size(12, 8),
		}},
	},
}

var backlog = board{
	uid: "svc-backlog", title: "Backlog and queue",
	description: "Work that waits, and why, as the processes tell that have read the backlog within a minute.",
	rows: []row{
		{"Age", []panel{
			graph("Oldest due delivery", seconds, q(read("svc_webhook_oldest_due_age_seconds"), "due"),
				q(read("svc_webhook_oldest_held_age_seconds"), "circuit open")).
				says("An open circuit holds deliveries back; they are no work of the dispatchers until its next probe.").
				rises("runbooks/deliveries-stand.md", orange(120), red(600)),
			graph("Oldest event in the outbox", seconds, q(read("svc_outbox_oldest_age_seconds"), "waits")).
				rises("runbooks/outbox-stands.md", red(60)),
			graph("Metric staleness", seconds, q(`max by (instance, source) (svc_reading_age_seconds)`, "{{instance}} {{source}}")).
				rises("runbooks/scrapes-fail.md", orange(120)),
		}},
		{"Depth", []panel{
			graph("Unfinished deliveries by state", plain,
				q(readBy("state", "svc_webhook_deliveries_pending")+" > 0", "{{state}}")),
			graph("Outbox depth", plain, q(read("svc_outbox_pending"), "pending"), q(read("svc_outbox_set_aside"), "set aside")).
				leads("runbooks/events-set-aside.md"),
			graph("Queue depth", plain, q(`max by (queue, state) (svc_queue_depth) > 0`, "{{queue}} {{state}}")),
			graph("Dispatch mode", plain, q(`sum by (mode) (svc_queue_mode) > 0`, "{{mode}}")).leads("runbooks/redis-away.md"),
		}},
		{"Mail", []panel{
			graph("Mail queue depth", plain, q(read("svc_mails_pending"), "mails")),
			graph("Oldest due mail", seconds, q(read("svc_mails_oldest_due_age_seconds"), "due")).
				rises("runbooks/mails-late.md", orange(600)),
			graph("Mails by result", events, rates("result", "svc_mails_total")),
		}},
	},
}
