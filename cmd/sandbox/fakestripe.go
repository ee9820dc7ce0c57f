package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"partnerdeposits/core/site"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/process/run"
)

const fakeStripeAddr = "127.0.0.1:8092"

// fakeStripe starts the fake of Stripe if PAYMENTS_PROVIDER is stripe and the environment sets neither Stripe's key
// nor its address. service is the address to which the fake sends webhooks.
func fakeStripe(ctx context.Context, environ []string, service net.Addr,
	say func(string, ...any)) ([]run.Part, []string, error) {
	if !wantsFakeStripe(environ) {
		return nil, nil, nil
	}
	listener, err := listen(ctx, fakeStripeAddr)
	if errors.Is(err, syscall.EADDRINUSE) {
		listener, err = listen(ctx, "127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, err
	}
	fake := stripetest.New(
		stripetest.Options{Webhooks: site.PageURL("http://"+service.String(), site.ProviderCallbacksPath+"stripe")})
	say("payments: a fake of Stripe at http://%s, with Stripe's test cards (docs/guides/quickstart.md)", listener.Addr())
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	part := run.Part{
		Name: "fake of Stripe",
		Start: func(_ context.Context, fail func(error)) error {
			go func() {
				defer close(ended)
				if err := fake.Serve(serving, listener); err != nil {
					fail(err)
				}
			}()
			return nil
		},
		Stop: func(ctx context.Context) error {
			stop()
			select {
			case <-ended:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
	return []run.Part{part}, []string{
		"PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE=http://" + listener.Addr().String(),
		"STRIPE_SECRET_KEY=" + stripetest.SecretKey, "STRIPE_WEBHOOK_SECRET=" + stripetest.WebhookSecret,
	}, nil
}

func wantsFakeStripe(environ []string) bool {
	stripe := false
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, "PAYMENTS_PROVIDER="); ok {
			stripe = value == "stripe"
		}
	}
	return stripe && !isSet(environ, "STRIPE_API_BASE") && !isSet(environ, "STRIPE_SECRET_KEY")
}
