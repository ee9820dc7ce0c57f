package ops

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// spareDescriptors is the number of file descriptors reserved for METRICS_ADDR, so that operations staff can see
// that a process has no other left.
const spareDescriptors = 4

// ReserveFileDescriptor wraps a listener so that Accept releases a reserved file descriptor when no other is free.
// Closing the connection reserves one again.
func ReserveFileDescriptor(ln net.Listener) net.Listener {
	s := &spareDescriptorListener{Listener: ln, files: make(chan *os.File, spareDescriptors)}
	for range spareDescriptors {
		s.refill()
	}
	return s
}

type spareDescriptorListener struct {
	net.Listener
	files chan *os.File
}

// Accept returns the next connection; without a free file descriptor it closes a reserved file and tries again.
func (s *spareDescriptorListener) Accept() (net.Conn, error) {
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
			// If the process takes the released descriptor elsewhere, the next round releases one more.
			_ = file.Close()
		default:
			return nil, err
		}
	}
}

func (s *spareDescriptorListener) refill() {
	file, err := os.Open(os.DevNull)
	if err != nil {
		return // If no descriptor can be reserved now, the next closed connection tries again.
	}
	select {
	case s.files <- file:
	default:
		_ = file.Close()
	}
}

type spareConn struct {
	net.Conn
	of     *spareDescriptorListener
	closed atomic.Bool
}

func (c *spareConn) Close() error {
	err := c.Conn.Close()
	if !c.closed.Swap(true) {
		c.of.refill()
	}
	return err
}
