package stripetest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve runs a fake of Stripe on a listener until ctx ends. The fake's own origin becomes the listener's address.
func (f *Fake) Serve(ctx context.Context, listener net.Listener) error {
	f.SetURL("http://" + listener.Addr().String())
	server := &http.Server{
		Handler: f.Handler(), ReadHeaderTimeout: 10 * time.Second,
		// The server logs no errors, since faults end connections on purpose.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	stop := context.AfterFunc(ctx, func() {
		f.Close()
		// The error is ignored: the fake's listener is closed in any case.
		_ = server.Close()
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
