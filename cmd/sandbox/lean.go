//go:build lean

package main

import (
	"context"
	"net"
	"slices"

	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

// fakeStripe starts nothing: this binary has no Stripe (process/wire/lean.go).
func fakeStripe(_ context.Context, environ []string, _ net.Addr, _ func(string, ...any)) ([]run.Part, []string, error) {
	if slices.Contains(environ, "PAYMENTS_PROVIDER=stripe") {
		return nil, nil, wire.ErrLean
	}
	return nil, nil, nil
}
