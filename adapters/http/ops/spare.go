package ops

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// spareDescriptors are kept for connections of operators, who have to learn of a process that has no descriptor left.
const spareDescriptors = 4

// Spare returns ln with an Accept that gives up a spare descriptor for a connection, where no other is free. The
// connection's end gives the descriptor back.
func Spare(ln net.Listener) net.Listener {
	s := &spare{Listener: ln, files: make(chan *os.File, spareDescriptors)}
	for range spareDescriptors {
		s.refill()
	}
	return s
}

type spare struct {
	net.Listener
	files chan *os.File
}

// Accept implements net.Listener.
func (s *spare) Accept() (net.Conn, error) {
	for {
		c, err := s.Listener.Accept()
		if err == nil {
			return &spareConn{Conn: c, of: s}, nil
		}
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return nil, err
		}
		select {
		case file := <-s.files:
			_ = file.Close() // another part of the process may be quicker to use it; then the next goes
		default:
			return nil, err
		}
	}
}

func (s *spare) refill() {
	file, err := os.Open(os.DevNull)
	if err != nil {
		return // the next end of a connection tries again
	}
	select {
	case s.files <- file:
	default:
		_ = file.Close()
	}
}

type spareConn struct {
	net.Conn
	of     *spare
	closed atomic.Bool
}

// Close implements net.Conn.
func (c *spareConn) Close() error {
	err := c.Conn.Close()
	if !c.closed.Swap(true) {
		c.of.refill()
	}
	return err
}
