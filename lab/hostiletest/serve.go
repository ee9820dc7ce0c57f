// Package hostiletest makes hostile webhook receivers, for tests of the sender.
package hostiletest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// TB is the part of testing.TB that hostile receivers need, so that a program can start them too.
type TB interface {
	Cleanup(end func())
	Fatalf(format string, args ...any)
}

func check(t TB, err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Receiver is a TCP server as a hostile webhook receiver, since no HTTP library misbehaves like this.
type Receiver struct {
	Address string
	Conns   atomic.Int32 // Connections that the receiver has accepted.
	wg      sync.WaitGroup
}

// ServeTCP starts a TCP server on a free port, and closes each connection after handle.
func ServeTCP(t TB, handle func(net.Conn)) *Receiver {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	return ServeOnListener(t, l, handle)
}

// ServeTLS starts a TLS server on a free port, which passes each connection to handle after the handshake.
func ServeTLS(t TB, config *tls.Config, handle func(net.Conn)) *Receiver {
	return ServeTCP(t, func(c net.Conn) {
		secured := tls.Server(c, config)
		if secured.Handshake() == nil {
			handle(secured)
		}
		_ = secured.Close()
	})
}

// ServeOnListener starts a TCP server on a listener, and closes each connection after handle.
func ServeOnListener(t TB, l net.Listener, handle func(net.Conn)) *Receiver {
	r := &Receiver{Address: l.Addr().String()}
	var open sync.Map // The hostile server's open connections.
	r.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.Conns.Add(1)
			open.Store(c, nil)
			r.wg.Go(func() {
				handle(c)
				_ = c.Close()
				open.Delete(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		for c := range open.Range {
			_ = c.(net.Conn).Close() //nolint:forcetypeassert // of the loop above
		}
		r.wg.Wait()
	})
	return r
}

// ReadRequest reads an HTTP/1.1 request as raw text. ok is false at the connection's end.
func ReadRequest(r *bufio.Reader) (head, body string, ok bool) {
	var b strings.Builder
	length := 0
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return "", "", false
		}
		b.WriteString(line)
		if v, found := strings.CutPrefix(line, "Content-Length: "); found {
			// The sender under test writes a correct Content-Length.
			length, _ = strconv.Atoi(strings.TrimSpace(v))
		}
	}
	raw := make([]byte, length)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", "", false
	}
	return b.String(), string(raw), true
}

// FixedResponseHandler writes the same answer to every request; with then, only to the first, and calls then.
func FixedResponseHandler(answer string, then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			if _, _, ok := ReadRequest(r); !ok {
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
			if then != nil {
				then(c)
				return
			}
		}
	}
}

// SilentHandler reads a connection until the other side closes it, and never answers.
func SilentHandler(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// EndlessHandler writes the same bytes until the other side closes the connection.
func EndlessHandler(bytes string) func(net.Conn) {
	block := []byte(strings.Repeat(bytes, max(1, 4096/len(bytes))))
	return func(c net.Conn) {
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}
}

// TrickleHandler writes the same bytes at intervals until the other side closes the connection.
func TrickleHandler(bytes string) func(net.Conn) {
	return func(c net.Conn) {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			SilentHandler(c)
		}()
		for {
			select {
			case <-gone:
				return
			case <-time.After(20 * time.Millisecond):
				if _, err := io.WriteString(c, bytes); err != nil {
					_ = c.Close()
				}
			}
		}
	}
}

// ResetConnection ends a TCP connection with an RST packet.
func ResetConnection(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
