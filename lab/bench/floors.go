package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/adapters/system"
	sender "partnerdeposits/adapters/webhook"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// floors are the rates that single parts reach alone.
type floors struct {
	posts float64 // signed POSTs/s in a loop
	jobs  float64 // jobs/s through the queue with an empty handler
}

func measureFloors(ctx context.Context, w *world, _ options, r *results) (err error) {
	r.floors = &floors{posts: w.measurePosts(ctx)}
	fmt.Printf("floor: POST       %6.0f signed POSTs/s, nothing else\n", r.floors.posts)
	if r.floors.jobs, err = w.measureQueue(ctx); err != nil {
		return err
	}
	fmt.Printf("floor: asynq      %6.0f jobs/s enqueued and handled, one claim each, empty handler\n", r.floors.jobs)
	return w.measureLone(ctx)
}

func (w *world) measurePosts(ctx context.Context) float64 {
	const posts, senders = 40_000, 64
	s := sender.NewSender(sender.Config{Timeout: 10 * time.Second, AllowInsecure: true, EndpointConcurrency: senders})
	defer s.Close()
	body := webhook.Render(webhook.DepositCancelled, "2026-07-01T12:00:00.000Z", make([]byte, 500))
	var left atomic.Int64
	left.Store(posts)
	var group sync.WaitGroup
	began := time.Now()
	for range senders {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				s.Post(ctx, &ports.Delivery{URL: w.sink + "/elsewhere", Event: webhook.DepositCancelled, Secret: webhookSecret, Body: body}, time.Now())
			}
		})
	}
	group.Wait()
	return posts / time.Since(began).Seconds()
}

func (w *world) measureQueue(ctx context.Context) (float64, error) {
	options, err := redis.ParseURL(w.services.RedisURL)
	if err != nil {
		return 0, err
	}
	options.DB = 15 // no site has so high a number
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	const jobs = 20_000
	queue := asynq.New(client, slog.New(slog.DiscardHandler))
	var handled atomic.Int64
	all := make(chan struct{})
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- queue.Serve(serving, map[ports.Lane]int{ports.FastLane: 64, ports.SlowLane: 1}, func(context.Context, ports.Job) {
			if handled.Add(1) == jobs {
				close(all)
			}
		})
	}()
	began := time.Now()
	var group sync.WaitGroup
	var next atomic.Int64
	errs := make(chan error, 16)
	for range 16 {
		group.Go(func() {
			for next.Add(1) <= jobs {
				job := ports.Job{Lane: ports.FastLane, Claims: []ports.Claim{{DeliveryID: system.Entropy{}.NewID(), Seq: 1}}}
				if _, err := queue.Enqueue(ctx, []ports.Job{job}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		stop()
		return 0, err
	case <-all:
	}
	elapsed := time.Since(began)
	stop()
	return jobs / elapsed.Seconds(), <-done
}
