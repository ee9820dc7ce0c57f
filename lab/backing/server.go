package backing

import (
	"context"
	"sync"
)

// control is the set of operations on a server. Those that disturb a server return ErrNotOurs for a given server.
type control interface {
	// Pid is the server's main process on this machine. 0: no child of this process (container, given server), or not
	// running.
	Pid() int
	// Kill sends SIGKILL to every process of the server and waits for their end; the data stays for Restart.
	Kill() error
	// Stop ends the server: gently, closing its sessions (Postgres "fast", Redis SIGTERM), or immediately, without saving
	// or checkpointing (Postgres "immediate", Redis SIGKILL).
	Stop(immediate bool) error
	// Restart stops the server gently if it runs, starts it again on its port and data, and waits until it answers.
	Restart(ctx context.Context) error
	// Pause suspends every process of the server (SIGSTOP) until Resume: connections stay open, and no request is
	// answered.
	Pause() error
	// Resume ends a pause.
	Resume() error
	// Log is the last part of the server's output; empty for a given server.
	Log() string
	// Close ends a server that this process started and removes its data.
	Close() error
}

// Server is a Postgres or a Redis. Its methods are safe for concurrent use.
type Server struct {
	control
	url, choice string
	closing     sync.Once
	closeErr    error
}

// URL is the server's address: postgres://…/postgres?sslmode=disable, or redis://host:port/0. Restart keeps the
// address. For a server from the environment URL contains the password: never log it.
func (s *Server) URL() string { return s.url }

// Choice tells the source of the server and the reason, without secrets.
func (s *Server) Choice() string { return s.choice }

// Close ends a server that this process started and removes its data. Further calls have no effect.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = s.control.Close() })
	return s.closeErr
}

// foreign is the control of a given server: every operation except Close is refused.
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
