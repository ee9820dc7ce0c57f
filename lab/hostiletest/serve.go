// Package hostiletest makes hostile webhook receivers, for the tests of the sender.
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

// TB is the part of testing.TB that receivers need, so that a process can serve them too.
type TB interface {
	Cleanup(end func())
	Fatalf(format string, args ...any)
}

func check(t TB, err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Receiver is a server of bare connections, because no HTTP server misbehaves like this.
type Receiver struct {
	Address string
	Conns   atomic.Int32 // accepted
	wg      sync.WaitGroup
}

// Serve passes each connection to handle and then closes the connection.
func Serve(t TB, handle func(net.Conn)) *Receiver {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	return ServeOn(t, l, handle)
}

// ServeTLS does the same behind a handshake.
func ServeTLS(t TB, config *tls.Config, handle func(net.Conn)) *Receiver {
	return Serve(t, func(c net.Conn) {
		secured := tls.Server(c, config)
		if secured.Handshake() == nil {
			handle(secured)
		}
		_ = secured.Close()
	})
}

// ServeOn does the same as Serve at a listener.
func ServeOn(t TB, l net.Listener, handle func(net.Conn)) *Receiver {
	r := &Receiver{Address: l.Addr().String()}
	var open sync.Map // of connections
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

// Request reads an HTTP/1.1 request as the bytes of the wire; ok is false at the end of the connection.
func Request(r *bufio.Reader) (head, body string, ok bool) {
	var b strings.Builder
	length := 0
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return "", "", false
		}
		b.WriteString(line)
		if v, found := strings.CutPrefix(line, "Content-Length: "); found {
			length, _ = strconv.Atoi(strings.TrimSpace(v)) // the sender under test counts right
		}
	}
	raw := make([]byte, length)
	if _, err := io.ReadFull(r, raw); err != nil {
		return "", "", false
	}
	return b.String(), string(raw), true
}

// Answering gives every request of a connection the same answer, and then goes on with then, if any.
func Answering(answer string, then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			if _, _, ok := Request(r); !ok {
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

// Silent reads until the other side gives up.
func Silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// Forever writes the same bytes until the other side gives up.
func Forever(bytes string) func(net.Conn) {
	block := []byte(strings.Repeat(bytes, max(1, 4096/len(bytes))))
	return func(c net.Conn) {
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}
}

// Trickle writes the same bytes now and then until the other side gives up.
func Trickle(bytes string) func(net.Conn) {
	return func(c net.Conn) {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			Silent(c)
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

// Reset ends a connection with an RST.
func Reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
