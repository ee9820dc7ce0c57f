//go:build failpoints

// Command dispatcher is cmd/dispatcher with failpoints at which the fault suite kills or stops it, and with the mistake
// that its argument names: a broken variant, which loses deliveries (docs/guides/faults.md).
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/app/webhooks/dispatch"
	_ "partnerdeposits/lab/faults/trigger"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

// mistake decorates the ports of a dispatcher.
type mistake struct {
	decorate func(dispatch.Deps) dispatch.Deps
	queue    []asynq.Option
}

var mistakes = map[string]mistake{
	"": {decorate: func(d dispatch.Deps) dispatch.Deps { return d }},
	"broken_mark_before_send": {decorate: func(d dispatch.Deps) dispatch.Deps {
		d.Work = markBeforeSend{d.Work, d.Clock}
		return d
	}},
	"broken_no_scan": {decorate: func(d dispatch.Deps) dispatch.Deps {
		d.Claims = noScan{d.Claims}
		return d
	}},
	"broken_asynq_retries": {decorate: leaveRetriesToTheQueue,
		queue: []asynq.Option{asynq.WithRetries(25, time.Second)}},
}

func main() {
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	m, known := mistakes[name]
	if !known {
		os.Exit(run.ExitUsage)
	}
	build := func(ctx context.Context, cfg config.Config, log *slog.Logger) (run.Process, error) {
		return wire.DecoratedDispatcher(ctx, cfg, log, wire.Listeners{}, m.decorate, m.queue...)
	}
	os.Exit(run.Main(wire.DispatcherCommand.GCPercent, build))
}

// noScan finds neither due deliveries nor ended leases.
type noScan struct{ webhookports.ClaimStore }

func (noScan) Due(_ context.Context, horizon time.Duration) (webhookports.Due, error) {
	return webhookports.Due{Next: horizon}, nil
}

func (noScan) ClaimUrgent(context.Context, int, time.Duration) ([]webhookports.Claim, int, error) {
	return nil, 0, nil
}
