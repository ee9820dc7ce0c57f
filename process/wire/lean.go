//go:build lean

package wire

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
)

// A lean binary has neither Stripe nor traces, whose libraries are a seventh of a first build. `make run` builds lean
// unless the environment asks for either of them; all other builds are whole (ADR 0029).

// ErrLean refuses settings that ask for a part that this binary lacks.
var ErrLean = config.Mistakes{"PAYMENTS_PROVIDER or OTEL_EXPORTER_OTLP_ENDPOINT: " +
	"this binary was built without Stripe and traces; `make build` builds it whole"}

func leftOut(cfg config.Config) error {
	if cfg.Payments() == config.PaymentsStripe || traced(cfg) {
		return ErrLean
	}
	return nil
}

// The functions below are not called where leftOut found no mistake, or have nothing to do then.

func (p *Parts) setStripe(config.Config, Stores) {}

func tracing(context.Context, config.Config, *slog.Logger, string) (run.Part, error) {
	return run.Part{}, nil
}

func queryTracer(config.Config) pgx.QueryTracer { return nil }

func traceRedis(config.Config, redis.UniversalClient) error { return nil }

func stripeSettings(config.Config) paymentports.PaymentSettings {
	return paymentports.PaymentSettings{}
}
