package ops

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Timeouts of the listener: nobody who asks it takes long.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = 30 * time.Second
	idleTimeout   = 60 * time.Second
)

// Handler answers /livez, /readyz and /metrics.
func Handler(ready *Readiness, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, Status{Status: "live", Checks: map[string]string{}})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status := ready.Now(r.Context())
		code := http.StatusOK
		if !status.OK() {
			code = http.StatusServiceUnavailable
		}
		answer(w, code, status)
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}

func answer(w http.ResponseWriter, code int, status Status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status) // the asker is gone
}

// Server listens on METRICS_ADDR.
type Server struct {
	http     *http.Server
	listener net.Listener
}

// NewServer makes the server of a listener that is open already.
func NewServer(listener net.Listener, handler http.Handler, log *slog.Logger) *Server {
	return &Server{listener: listener, http: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// Serve answers until Shutdown; it returns nil then.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown finishes what is being answered.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
