package stripetest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve serves a fake on a listener until ctx ends. The fake's own origin becomes that of the listener.
func (f *Fake) Serve(ctx context.Context, listener net.Listener) error {
	f.SetURL("http://" + listener.Addr().String())
	server := &http.Server{
		Handler: f.Handler(), ReadHeaderTimeout: 10 * time.Second,
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
