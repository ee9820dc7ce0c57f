package backing

import (
	"context"
	"sync"
)

// control is what can be done to a server of our own, wherever it runs.
type control interface {
	Pid() int
	Kill() error
	Stop(immediate bool) error
	Restart(ctx context.Context) error
	Pause() error
	Resume() error
	Log() string
	Close() error
}

// Server is one Postgres or Redis. Its methods may be called from several goroutines.
type Server struct {
	url, choice string
	control     control
	closing     sync.Once
	closeErr    error
}

// URL is where the server answers: postgres://…/postgres?sslmode=disable, or redis://host:port/0. It stays the same
// over Restart. For a server given by the environment it is the URL given, password included: not for logs.
func (s *Server) URL() string { return s.url }

// Choice says where the server comes from and why, in words fit for a log.
func (s *Server) Choice() string { return s.choice }

// Pid is the server's main process on this machine, 0 where that is not our child (container, given server) or not running.
func (s *Server) Pid() int { return s.control.Pid() }

// Kill sends SIGKILL to every process of the server and returns once they are gone; the data stays for Restart.
// It returns ErrNotOurs for a server that was given.
func (s *Server) Kill() error { return s.control.Kill() }

// Stop ends the server: gently, closing its sessions (Postgres "fast", Redis SIGTERM), or immediately without saving
// or checkpointing (Postgres "immediate", Redis SIGKILL). It returns ErrNotOurs for a server that was given.
func (s *Server) Stop(immediate bool) error { return s.control.Stop(immediate) }

// Restart starts the server again on its port and data, stopping it gently first if it runs, and returns once it
// answers. It returns ErrNotOurs for a server that was given.
func (s *Server) Restart(ctx context.Context) error { return s.control.Restart(ctx) }

// Pause freezes every process of the server (SIGSTOP) until Resume: connections stay open, nothing answers.
// Both return ErrNotOurs for a server that was given.
func (s *Server) Pause() error { return s.control.Pause() }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.control.Resume() }

// Log is the last part of what the server wrote; empty for a server that was given.
func (s *Server) Log() string { return s.control.Log() }

// Close ends the server and removes its data, if it is ours. More than one call is harmless.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = s.control.Close() })
	return s.closeErr
}

// foreign is the control of a server that is not ours: everything but Close is refused.
type foreign struct{ close func() }

func (foreign) Pid() int                      { return 0 }
func (foreign) Kill() error                   { return ErrNotOurs }
func (foreign) Stop(bool) error               { return ErrNotOurs }
func (foreign) Restart(context.Context) error { return ErrNotOurs }
func (foreign) Pause() error                  { return ErrNotOurs }
func (foreign) Resume() error                 { return ErrNotOurs }
func (foreign) Log() string                   { return "" }
func (f foreign) Close() error {
	if f.close != nil {
		f.close()
	}
	return nil
}
