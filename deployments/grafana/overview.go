package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const (
	firing  = `{alertstate="firing",severity=~"page|ticket"}`
	partner = `surface="partner_api"`
	// timed is the PromQL selector of requests whose latency has an objective.
	timed = `surface="partner_api",route!~".*/(events/feed|webhooks/:webhookId/test)"`
	// inTime selects the histogram bucket of deliveries that began within their objective.
	inTime = `svc_webhook_start_delay_seconds_bucket{le=~"5|5.0"}`
	// arrived selects the histogram bucket of deliveries that arrived within their objective.
	arrived = `svc_webhook_healthy_delivery_latency_seconds_bucket{le=~"60|60.0"}`
)

var overview = board{
	uid: "svc-overview", title: "Overview and SLO budget",
	description: "At a glance: does it work, how much of the budgets is left, and who is to be woken?",
	rows: []row{
		{"Now", []panel{
			number("Requests in flight", plain, q(`max(svc_http_requests_in_flight)`, "of the busiest process"),
				q(`max(sum by (job, instance) (svc_http_requests_in_flight) `+
					`/ clamp_min(sum by (job, instance) (rate(svc_http_requests_total[1m])), 0.001))`, "seconds each")).
				column("of the busiest process", property("thresholds", steps("green", nil))).
				says("Requests that wait for events are in flight, too. "+
					"By Little's law, in flight ÷ answered a second is the time of each.").
				rises("runbooks/requests-stand.md", orange(20), red(60)).without("no process tells"),
			number("API error rate", share, q(`sum(rate(svc_http_requests_total{`+partner+`,code=~"5.."}[2m])) / `+
				`(sum(rate(svc_http_requests_total{`+partner+`}[2m])) > 0)`, "5xx")).
				rises("runbooks/api-errors.md", orange(0.0005), red(0.01)).without("no request").leads("svc-api"),
			number("Throughput", calls, q(`sum(rate(svc_http_requests_total{`+partner+`}[2m]))`, "API requests"),
				q(`sum(rate(svc_webhook_attempts_total[2m]))`, "delivery attempts")).leads("svc-api", "svc-delivery"),
			number("Delivery success rate", share, q(`sum(rate(svc_webhook_attempts_total{result="success"}[2m])) / `+
				`(sum(rate(svc_webhook_attempts_total[2m])) > 0)`, "2xx")).
				says("A single partner's receiver takes a part of it down; our own way out takes all.").
				falls("svc-delivery", orange(0.5), green(0.9)).without("no attempt"),
			number("Backlog age", seconds, q(read("svc_outbox_oldest_age_seconds"), "outbox"),
				q(read("svc_webhook_oldest_due_age_seconds"), "oldest due"),
				q(read("svc_webhook_oldest_held_age_seconds"), "circuit open")).
				says("As processes tell that have read the backlog within a minute.").
				rises("svc-backlog", orange(60), red(300)).without("no process reads"),
			number("Affected endpoints", plain, q(readBy("state", `svc_webhook_subscriptions{state=~"held|disabled"}`), "{{state}}"),
				q(read("svc_webhook_outbound_broken"), "our way out")).
				column("our way out", property("mappings", mapping(map[string]dashboard.ValueMappingResult{
					"0": in("works", "green"), "1": in("broken", "red")}))).
				rises("guides/debugging.md#who-is-affected", orange(1), red(10)).leads("svc-endpoints"),
			number("File descriptors", share, q(`max(process_open_fds / process_max_fds)`, "of the limit, most used")).
				rises("runbooks/descriptors-run-out.md", orange(0.5), red(0.8)).without("no process tells"),
			number("Clock skew", seconds, q(`max(abs(svc_clock_skew_seconds))`, "greatest")).
				says("Between a process and Postgres. Partners refuse signatures that are five minutes off.").
				rises("runbooks/clock.md", orange(30), red(240)).without("no process tells"),
			number("Failing writes", plain, q(`max by (cause) (svc_writes_failing) > 0`, "{{cause}}")).
				rises("runbooks/writes-fail.md", red(1)),
			number("Dropped log lines", plain, q(`sum(increase(svc_log_lines_dropped_total[5m]))`, "of 5 minutes")).
				rises("runbooks/log-not-read.md", orange(1), red(1000)).without("no process tells"),
			number("Unreadable data", plain,
				q(`sum(increase(svc_webhook_attempts_total{result="secret"}[5m]))`, "secrets, 5 minutes"),
				q(`sum(increase(svc_rows_unreadable_total[5m]))`, "rows, 5 minutes")).
				rises("runbooks/rows-unreadable.md", orange(1), red(10)).leads("runbooks/keyset.md").without("no process tells"),
			number("Metric staleness", seconds, q(`max by (source) (svc_reading_age_seconds)`, "{{source}}")).
				rises("runbooks/scrapes-fail.md", orange(60), red(120)).without("no process tells"),
			alerts.size(10, 9),
			timeline("Failing checks", q(`svc_ready and min_over_time(svc_ready[$__range] @ end()) == 0`,
				"{{job}} {{instance}} {{check}}"), q(`up{job=~"http|dispatcher"} and min_over_time(up[$__range] @ end()) == 0`,
				"{{job}} {{instance}} scrape")).
				says("Checks of /readyz and scrapes that failed at some time.").without("none").
				leads("runbooks/not-ready.md", "svc-dependencies"),
		}},
		{"Error budgets of 30 days", []panel{
			budget("Error budget: availability", "99.95 %", "runbooks/api-errors.md", 0.0005,
				`sum(increase(svc_http_requests_total{`+partner+`,code=~"5.."}[30d]))`,
				`sum(increase(svc_http_requests_total{`+partner+`}[30d]))`),
			budget("Error budget: latency below 250 ms", "99 %", "runbooks/api-slow.md", 0.01, late(
				`svc_http_request_duration_seconds_count{`+timed+`}`, `svc_http_request_duration_seconds_bucket{`+timed+`,le="0.25"}`)...),
			budget("Error budget: start delay below 5 s", "99.9 %", "runbooks/deliveries-start-late.md", 0.001,
				late("svc_webhook_start_delay_seconds_count", inTime)...),
			budget("Error budget: delivery latency below 60 s", "99.9 %", "runbooks/deliveries-arrive-late.md", 0.001,
				late("svc_webhook_healthy_delivery_latency_seconds_count", arrived)...),
			graph("Burn rate", plain, q(`slo:errors:ratio_1h / on (slo) group_left () slo:budget`, "{{slo}}")).
				says("1: the budget of 30 days lasts 30 days. A page begins at 14.4.").
				rises("runbooks/README.md", orange(1), red(14.4)).size(12, 8),
			graph("Firing alerts", plain, q(`sum by (alertname) (ALERTS`+firing+`)`, "{{alertname}}")).size(12, 8),
		}},
		{"Traffic", []panel{
			graph("Ready processes", plain, q(`sum by (job) (svc_ready{check="process"})`, "{{job}}")).
				falls("runbooks/not-ready.md", green(1)),
			graph("Throughput by surface", calls, rates("surface", "svc_http_requests_total")),
			graph("Delivered webhooks", events,
				q(`sum(rate(svc_webhook_deliveries_finished_total{outcome="succeeded"}[$__rate_interval]))`, "2xx")),
			graph("Backlog age", seconds, q(read("svc_outbox_oldest_age_seconds"), "outbox"),
				q(read("svc_webhook_oldest_due_age_seconds"), "oldest due")).rises("svc-backlog", orange(60), red(600)),
			graph("Created deposits", events, rates("by", "svc_deposits_created_total")),
			graph("Versions", plain, q(`count by (job, version, revision) (svc_build_info)`, "{{job}} {{version}} {{revision}}")),
		}},
	},
}

// alerts is the table of firing alerts with their runbooks, those that page a person first.
var alerts = grid("Firing alerts", plain, "severity", []string{"alertname=alert", "severity=severity", "Value=for",
	"runbook=runbook"}, q(`label_replace(time() - min by (alertname, severity) (ALERTS_FOR_STATE{severity=~"page|ticket"}) `+
	`and on (alertname) ALERTS{alertstate="firing"}, "runbook", "$1", "alertname", "(.+)")`, "{{alertname}}")).
	column("severity", inColour,
		property("mappings", mapping(map[string]dashboard.ValueMappingResult{
			"page": in("page", "red"), "ticket": in("ticket", "orange")}))).
	column("for", property("unit", seconds)).
	column("runbook", property("mappings", mapping(runbooks())), property("links", []dashboard.DashboardLink{{
		Title: "Runbook of ${__data.fields.alert}", Type: dashboard.DashboardLinkTypeLink, Tags: []string{},
		TargetBlank: true, Url: new("${repository}/docs/runbooks/${__value.text}.md")}})).
	leads("runbooks/README.md")

// budget returns a panel with what is left of an objective's error budget of 30 days.
func budget(title, objective, book string, allowed float64, badAndAll ...string) panel {
	return number(title, share, q("1 - ("+badAndAll[0]+") / ("+badAndAll[1]+") / "+fmt.Sprint(allowed), objective)).
		falls(book, orange(0), green(0.25)).says("Below 0 the objective is missed.").size(6, 4)
}

// late returns queries over 30 days for a histogram's events beyond a bucket, and for all.
func late(all, bucket string) []string {
	all = "sum(increase(" + all + "[30d]))"
	return []string{all + " - sum(increase(" + bucket + "[30d]))", all}
}
