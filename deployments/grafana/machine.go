package main

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

const here = `instance=~"$instance"`

var dependencies = board{
	uid: "svc-dependencies", title: "Dependencies", description: "Postgres, Redis, jobs and the processes themselves.",
	choice: choice("instance", "Process", "up"),
	rows: []row{
		{"Checks, writes and processes", []panel{
			timeline("Checks by process", q(`svc_ready{`+here+`}`, "{{job}} {{instance}} {{check}}")).
				leads("runbooks/not-ready.md").size(12, 12),
			jobs.size(12, 12),
			graph("Failing writes by cause", plain, q(`max by (cause) (svc_writes_failing) > 0`, "{{cause}}")).
				rises("runbooks/writes-fail.md", red(1)),
			graph("File descriptors", share, q(`process_open_fds{`+here+`} / process_max_fds`, "{{job}} {{instance}}")).
				rises("runbooks/descriptors-run-out.md", red(0.8)),
			graph("Clock skew", seconds, q(`abs(svc_clock_skew_seconds{`+here+`})`, "{{job}} {{instance}}")).
				rises("runbooks/clock.md", orange(30), red(240)),
			graph("Dropped log lines", events, rates("instance", `svc_log_lines_dropped_total{`+here+`}`)).
				rises("runbooks/log-not-read.md", orange(0.01)),
			graph("Undecryptable secrets", events, q(`sum(rate(svc_webhook_attempts_total{result="secret"}[$__rate_interval])) > 0`,
				"attempts")).rises("runbooks/keyset.md", orange(0.01)),
			graph("Unreadable rows by table", events, rates("table", "svc_rows_unreadable_total")).
				rises("runbooks/rows-unreadable.md", orange(0.001)),
		}},
		{"Postgres", []panel{
			graph("Pool saturation", share, q(`max by (job, pool) (svc_pg_pool_connections{state="in_use",`+here+
				`} / ignoring (state) svc_pg_pool_max_connections{`+here+`})`, "{{job}} {{pool}}")).
				rises("runbooks/pool-saturated.md", orange(0.9)),
			graph("Pool wait, mean", seconds, q(`sum by (job, pool) (rate(svc_pg_pool_wait_seconds_total{`+here+`}[$__rate_interval])) / `+
				`(sum by (job, pool) (rate(svc_pg_pool_acquires_total{`+here+`}[$__rate_interval])) > 0) > 0`, "{{job}} {{pool}}")).
				says("Over all that took a connection.").rises("runbooks/pool-saturated.md", orange(0.05)),
			graph("Pool waits", events, rates("job, pool", `svc_pg_pool_waits_total{`+here+`}`)),
			graph("Server connections", plain, q(`max(svc_pg_server_connections)`, "used"), q(`max(svc_pg_server_max_connections)`, "max")).
				leads("runbooks/pool-saturated.md"),
			graph("Dead rows by table", plain, q(`max by (table) (svc_pg_dead_rows) > 0`, "{{table}}")).
				rises("runbooks/dead-rows.md", orange(500_000)),
			graph("Partitions ahead, days", plain, q(`min(svc_partitions_days_ahead)`, "ahead"),
				q(`max(svc_default_partition_rows)`, "rows without")).falls("runbooks/partitions-run-out.md", green(7)),
		}},
		{"Redis", []panel{
			graph("Redis connections", plain, q(`sum by (job, pool, state) (svc_redis_pool_connections{`+here+`})`,
				"{{job}} {{pool}} {{state}}")).size(12, 8),
			graph("Redis pool timeouts", events, rates("job, pool", `svc_redis_pool_timeouts_total{`+here+`}`)).
				rises("runbooks/redis-away.md", orange(0.01)).size(12, 8),
		}},
		{"Runtime", []panel{
			graph("CPU", share, q(`rate(process_cpu_seconds_total{`+here+`}[$__rate_interval])`, "{{job}} {{instance}}")),
			graph("Memory", memory, q(`process_resident_memory_bytes{`+here+`}`, "{{job}} {{instance}}")),
			graph("Goroutines", plain, q(`go_goroutines{`+here+`}`, "{{job}} {{instance}}")),
		}},
	},
}

// jobs is the table of the dispatchers' jobs, the longest without a success first.
var jobs = grid("Jobs", plain, "-since success",
	[]string{"exported_job=job", "Value #A=since success", "Value #B=failed, 1 h", "Value #C=runs, 1 h"},
	q(`time() - max by (exported_job) (svc_job_last_success_timestamp_seconds > 0)`, "{{exported_job}}"),
	q(`sum by (exported_job) (increase(svc_job_runs_total{result="failed"}[1h]))`, "{{exported_job}}"),
	q(`sum by (exported_job) (increase(svc_job_runs_total[1h]))`, "{{exported_job}}")).
	column("since success", property("unit", seconds), inColour,
		property("thresholds", steps("green", []dashboard.Threshold{orange(900), red(7200)}))).
	column("failed, 1 h", inColour, property("thresholds", steps("green", []dashboard.Threshold{orange(1)}))).
	leads("runbooks/job-not-run.md")

var business = board{
	uid: "svc-business", title: "Business", description: "Deposits and money, over the chosen time.",
	rows: []row{
		{"Totals", []panel{
			number("Created deposits", plain, q(`sum by (by) (increase(svc_deposits_created_total[$__range])) > 0`, "by the {{by}}")),
			number("Secured deposits", plain, q(`sum(increase(svc_deposits_transitions_total{to="active"}[$__range]))`, "active")),
			number("Conversion rate", share, q(`sum(increase(svc_deposits_transitions_total{to="active"}[$__range])) / `+
				`sum(increase(svc_deposits_created_total[$__range]))`, "secured of created")),
			number("Captured deposits", plain, q(`sum(increase(svc_deposits_transitions_total{to="captured"}[$__range]))`, "captured")),
			number("Money paid", euros, q(`sum by (kind) (increase(svc_payments_cents_total[$__range])) / 100`, "{{kind}}")).
				says("Fees and collections that tenants paid, and refunds.").size(8, 4),
			graph("Money paid per hour", euros, q(`sum by (kind) (increase(svc_payments_cents_total[1h])) / 100`, "{{kind}}")).size(12, 8),
			graph("Created deposits", events, q(`sum by (by) (rate(svc_deposits_created_total[$__rate_interval]))`, "by the {{by}}")).
				size(12, 8),
		}},
		{"Deposits", []panel{
			graph("Transitions by new status", events, rates("to", "svc_deposits_transitions_total")),
			graph("Transitions by actor", events, rates("by", "svc_deposits_transitions_total")),
			grid("Transitions", plain, "-deposits", []string{"from=from", "to=to", "Value=deposits"},
				q(`sum by (from, to) (increase(svc_deposits_transitions_total[$__range])) > 0`, "{{from}} to {{to}}")).size(8, 8),
			graph("Throughput of checkout and desk", calls, rates("surface",
				`svc_http_requests_total{surface=~"checkout|dashboard|connect"}`)),
			graph("Subscriptions", plain, q(`sum(`+readBy("state", "svc_webhook_subscriptions")+`)`, "of partners")),
		}},
		{"Payment provider", []panel{
			graph("Provider responses by kind and result", events, rates("kind, result", "svc_payments_total")),
			graph("Collections by state", plain, q(readBy("state", "svc_collections")+" > 0", "{{state}}")),
			graph("Oldest open collection", seconds, q(read("svc_collections_oldest_age_seconds"), "since its capture")).
				rises("runbooks/collections-late.md", orange(864_000)),
			graph("Reconciliation differences", plain, q(`max(svc_reconcile_differences)`, "in the last comparison")).
				rises("runbooks/reconcile-differs.md", orange(1)),
		}},
	},
}
