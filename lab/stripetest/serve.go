package stripetest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve runs a fake of Stripe on a listener, which becomes its origin, until ctx ends.
func (f *Fake) Serve(ctx context.Context, listener net.Listener) error {
	f.SetURL("http://" + listener.Addr().String())
	server := &http.Server{
		Handler: f.Handler(), ReadHeaderTimeout: 10 * time.Second,
		// Faults end connections on purpose, so the server logs no errors.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	stop := context.AfterFunc(ctx, func() {
		f.Close()
		// The fake's listener is closed in any case.
		_ = server.Close()
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
