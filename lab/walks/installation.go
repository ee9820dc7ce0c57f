package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"partnerdeposits/adapters/postgres/migrations"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/lab/world"
)

// installation is the service with everything around it.
type installation struct {
	*world.Database
	dir              string // for counters
	http, dispatcher *world.Node
	second           *world.Node // of http, for requests beside the walk
	fake             *stripetest.Fake
	client           *world.Client
	partners         int // so far
	readings         int // of counters, so far
	ends             []func()
}

// open starts everything. close ends also a part.
func open(ctx context.Context, dir, binary string) (in *installation, err error) {
	const patience = 40 * time.Second // longer than a request waits for an event
	in = &installation{dir: dir, client: world.NewClient(patience, 2)}
	services, err := backing.Start(ctx, backing.Options{Private: true, FastUnsafe: true})
	if err != nil {
		return in, err
	}
	in.ends = append(in.ends, func() { _ = services.Close() })
	url, err := world.Create(ctx, services.PostgresURL, "walks", "")
	if err != nil {
		return in, err
	}
	if _, err := migrations.Up(ctx, url, nil); err != nil {
		return in, err
	}
	const conns = 2
	if in.Database, err = world.Open(ctx, url, conns); err != nil {
		return in, err
	}
	in.ends = append(in.ends, func() { in.Close(context.WithoutCancel(ctx)) })
	if err := in.openProvider(); err != nil {
		return in, err
	}
	settings := []string{
		"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + url, "REDIS_URL=" + services.RedisURL,
		"SCHEDULER_INTERVAL=500ms", // the jobs of the clock run without a request, too
		"WEBHOOK_ALLOW_INSECURE_TARGETS=true", "PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE=" + in.fake.URL(),
		"STRIPE_SECRET_KEY=" + stripetest.SecretKey, "STRIPE_WEBHOOK_SECRET=" + stripetest.WebhookSecret,
	}
	for name, node := range map[string]**world.Node{
		"http": &in.http, "second http": &in.second, "dispatcher": &in.dispatcher,
	} {
		if *node, err = world.NewNode(name, binary, settings...); err != nil {
			return in, err
		}
		fields := strings.Fields(name)
		(*node).Args = fields[len(fields)-1:]
		if err := (*node).Start(ctx); err != nil {
			return in, err
		}
		in.ends = append(in.ends, (*node).Process().Kill)
	}
	return in, nil
}

// openProvider starts a fake of the payment provider, which sends no notice by itself.
func (in *installation) openProvider() error {
	in.fake = stripetest.New(stripetest.Options{})
	in.ends = append(in.ends, in.fake.Close)
	url, end, err := receiver.Listen(in.fake.Handler())
	if err != nil {
		return err
	}
	in.ends = append(in.ends, end)
	in.fake.SetURL(url)
	return nil
}

func (in *installation) close() {
	for _, end := range slices.Backward(in.ends) {
		end()
	}
}

// partner makes a partner with an account.
func (in *installation) partner(ctx context.Context) (world.Partner, error) {
	in.partners++
	return in.NewPartner(ctx, fmt.Sprint("walker-", in.partners))
}
