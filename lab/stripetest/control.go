package stripetest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const readTimeout = 10 * time.Second

// mountControl serves the control API, which a person or a test in another process uses. Bodies and answers are JSON:
//
//	POST /control/outcomes    {"depositId", "outcomes": [{"code", "declineCode", "adviceCode", "processing"}]}
//	POST /control/clock       {"advance": "24h"}
//	POST /control/faults      [{"kind", "method", "path", "delay"}]       delay in nanoseconds
//	POST /control/webhooks    {"delay", "twice", "reversed"}
//	POST /control/disputes    {"paymentId", "reason"}
//	GET  /control/violations  ["…"]
func (f *Fake) mountControl(mux *http.ServeMux) {
	mux.HandleFunc("POST /control/outcomes", control(func(told struct {
		DepositID string    `json:"depositId"`
		Outcomes  []Outcome `json:"outcomes"`
	}) error {
		f.OffSession(told.DepositID, told.Outcomes...)
		return nil
	}))
	mux.HandleFunc("POST /control/clock", control(func(told struct {
		Advance string `json:"advance"`
	}) error {
		d, err := time.ParseDuration(told.Advance)
		f.Advance(d)
		return err
	}))
	mux.HandleFunc("POST /control/faults", control(func(faults []Fault) error {
		f.Fail(faults...)
		return nil
	}))
	mux.HandleFunc("POST /control/webhooks", control(func(plan Delivery) error {
		f.Deliver(plan)
		return nil
	}))
	mux.HandleFunc("POST /control/disputes", control(func(told struct {
		PaymentID string `json:"paymentId"`
		Reason    string `json:"reason"`
	}) error {
		if !f.Dispute(told.PaymentID, told.Reason) {
			return errors.New("the payment has no charge that succeeded")
		}
		return nil
	}))
	mux.HandleFunc("GET /control/violations", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(encoded(append([]string{}, f.Violations()...))) // the caller is gone
	})
}

// control decodes a body for do.
func control[T any](do func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var told T
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&told)
		if err == nil {
			err = do(told)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// Serve serves a fake on a listener until ctx ends. The fake's own origin becomes that of the listener.
func (f *Fake) Serve(ctx context.Context, listener net.Listener) error {
	f.SetURL("http://" + listener.Addr().String())
	server := &http.Server{
		Handler: f.Handler(), ReadHeaderTimeout: readTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // connections that a fault ends
	}
	stop := context.AfterFunc(ctx, func() {
		f.Close()
		_ = server.Close() // the listener is closed in any case
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
