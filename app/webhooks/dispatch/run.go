package dispatch

import (
	"context"
	"errors"
	"sync"

	webhookports "partnerdeposits/ports/webhooks"
)

// Run delivers webhooks until ctx ends. Then it finishes and records the POSTs in flight, gives up the other
// deliveries and returns nil. An error means that the queue cannot be served.
func (d *Dispatcher) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	endless := context.WithoutCancel(ctx)
	d.loads.Run = func(deliveries []*webhookports.Delivery) { d.load(endless, deliveries) }
	d.records.Run = func(outcomes []webhookports.AttemptOutcome) { d.record(endless, outcomes) }
	defer context.AfterFunc(ctx, func() {
		d.stopping.Store(true)
		d.giveBack(endless, d.registry.close())
	})()
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){d.relayLoop, d.scanLoop, d.countLoop, d.transport.watch} {
		loops.Go(func() { loop(ctx) })
	}
	err := d.Queue.Serve(ctx, d.config.Concurrency, d.handle)
	stop() // The loops end too if the queue cannot be served.
	loops.Wait()
	d.posts.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
