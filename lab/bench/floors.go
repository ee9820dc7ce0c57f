package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/adapters/system"
	sender "partnerdeposits/adapters/webhook"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/load"
	webhookports "partnerdeposits/ports/webhooks"
)

// measureFloors measures the rates that single parts reach alone.
func measureFloors(ctx context.Context, w *workbench, _ options, r *results) {
	fmt.Printf("floor: POST       %6.0f signed POSTs/s, nothing else\n", w.measurePosts(ctx))
	r.jobs = w.measureQueue(ctx)
	fmt.Printf("floor: asynq      %6.0f jobs/s enqueued and handled, one claim each, empty handler\n", r.jobs)
	w.measureLone(ctx)
}

func (w *workbench) measurePosts(ctx context.Context) float64 {
	const posts, senders = 40_000, 64
	s := sender.NewSender(sender.Config{Timeout: 10 * time.Second, AllowInsecure: true, EndpointConcurrency: senders})
	defer s.Close()
	d := &webhookports.Delivery{
		URL: w.sink + "/elsewhere", Event: webhook.DepositCancelled, Secret: webhookSecret,
		Body: webhook.Render(webhook.DepositCancelled, "2026-07-01T12:00:00.000Z", make([]byte, 500)),
	}
	began := time.Now()
	must(load.Closed(ctx, calls(posts), senders, func(int) error {
		again := *d
		s.Post(ctx, &again, time.Now())
		return nil
	}))
	return posts / time.Since(began).Seconds()
}

func (w *workbench) measureQueue(ctx context.Context) float64 {
	options := must(redis.ParseURL(w.services.RedisURL))
	options.DB = 15 // no site has so high a number
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	const jobs, senders = 20_000, 16
	queue := asynq.New(client, slog.New(slog.DiscardHandler))
	var handled atomic.Int64
	serving, stop := context.WithCancel(ctx)
	defer stop()
	all, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- queue.Serve(serving, map[webhookports.Lane]int{webhookports.FastLane: 64, webhookports.SlowLane: 1},
			func(context.Context, webhookports.Job) {
				if handled.Add(1) == jobs {
					close(all)
				}
			})
	}()
	began := time.Now()
	must(load.Closed(ctx, calls(jobs), senders, func(int) error {
		job := webhookports.Job{Lane: webhookports.FastLane,
			Claims: []webhookports.Claim{{DeliveryID: system.Entropy{}.NewID(), Seq: 1}}}
		_, err := queue.Enqueue(ctx, []webhookports.Job{job})
		return err
	}))
	<-all
	elapsed := time.Since(began)
	stop()
	check(<-done)
	return jobs / elapsed.Seconds()
}

// measureLone prints the CPU-ms that one round trip costs the caller and the server at quietRate, where no two share a
// wake-up: the unit of the CPU of a lone event.
func (w *workbench) measureLone(ctx context.Context) {
	idleCaller, idleServer := w.lone(ctx, func() error { return nil })
	exec := func(sql string) error { _, err := w.Pool.Exec(ctx, sql); return err }
	for _, trip := range []struct {
		name string
		make func() error
	}{
		{"a read of Postgres", func() error { return exec("SELECT 1") }},
		{"a commit of Postgres", func() error { return exec("SELECT pg_logical_emit_message(true, 'bench', 'a commit')") }},
		{"a command of Redis", func() error { return w.redis.Ping(ctx).Err() }},
	} {
		caller, server := w.lone(ctx, trip.make)
		caller, server = caller-idleCaller, server-idleServer
		fmt.Printf("floor: lone       %s costs %.2f CPU-ms at %d/s: caller %.2f, server %.2f\n",
			trip.name, caller+server, quietRate, caller, server)
	}
}

// lone gives the CPU-ms per call.
func (w *workbench) lone(ctx context.Context, call func() error) (caller, server float64) {
	servers := func() float64 { return treeCPU(w.services.Postgres.Pid()) + treeCPU(w.services.Redis.Pid()) }
	own, theirs := ownCPU(), servers()
	n := 10 * quietRate // ten seconds
	open(ctx, n, quietRate, func(int, time.Time) error { return call() })
	perCall := 1000 / float64(n)
	return (ownCPU() - own) * perCall, (servers() - theirs) * perCall
}
