package ops

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

const (
	headerTimeout = 5 * time.Second
	answerTimeout = 30 * time.Second
	idleTimeout   = 60 * time.Second
)

type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Date     string `json:"date"`
}

// liveness is the JSON response of /livez, which has no checks: a process that answers is alive.
type liveness struct {
	Status string   `json:"status"`
	Checks struct{} `json:"checks"`
	BuildInfo
}

// Handler serves /livez, /readyz and /metrics, and with profiles also /debug/pprof/ (METRICS_PPROF).
func Handler(ready *Readiness, metrics http.Handler, build BuildInfo, profiles bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, liveness{Status: "live", BuildInfo: build})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status := ready.CurrentStatus(r.Context())
		code := http.StatusOK
		if !status.OK() {
			code = http.StatusServiceUnavailable
		}
		writeJSON(w, code, status)
	})
	mux.Handle("GET /metrics", metrics)
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // The error is ignored: it means that the caller has disconnected.
}

// Server is the HTTP server of METRICS_ADDR.
type Server struct {
	http     *http.Server
	listener net.Listener
}

func NewServer(listener net.Listener, handler http.Handler, log *slog.Logger) *Server {
	return &Server{listener: listener, http: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// Serve answers requests until Shutdown is called, and then returns nil.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops the server and waits for the requests in flight.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
