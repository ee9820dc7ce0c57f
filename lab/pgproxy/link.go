package pgproxy

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
)

// TCPProxy is a TCP proxy between clients and a server such as Postgres or Redis. A test cuts or disturbs its
// connections.
type TCPProxy struct {
	Address  string // The address, host:port, to which clients connect.
	upstream string

	mu    sync.Mutex
	cut   bool
	fault Fault
	// A channel that is closed when the fault that now disturbs the proxy is over.
	healed chan struct{}
	// The connection to the server for each client connection of the proxy.
	clients map[net.Conn]net.Conn
}

// Fault is a disturbance of the data that a proxy passes on: delay, loss or reset.
type Fault struct {
	// true: the fault disturbs the data of clients; false: the data of the server.
	Requests bool
	// Wait is the time for which data stays in the proxy; Jitter is the most that is added to it at random.
	Wait, Jitter time.Duration
	// The proxy passes data on in pieces of this many bytes, each after a wait of its own; 0: in the pieces in which
	// the data came.
	Piece int
	// true: data is lost, and the connection ends when the fault ends; false: data arrives.
	Lost bool
	// With Lost, the connection is reset this long after the first data was lost; 0: only when the fault ends.
	Reset time.Duration
}

// NewTCPProxy starts a TCP proxy to the server at upstream (host:port), which ends with the test.
func NewTCPProxy(t hostiletest.TB, upstream string) *TCPProxy {
	l := &TCPProxy{upstream: upstream, healed: make(chan struct{}), clients: map[net.Conn]net.Conn{}}
	l.Address = hostiletest.ServeTCP(t, l.serve).Address
	return l
}

// CutConnections resets every connection through the proxy, and each new one, until Heal.
func (l *TCPProxy) CutConnections() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.resetAll()
}

// StartFault begins a fault on the proxy's connections, in place of the fault before.
func (l *TCPProxy) StartFault(f Fault) {
	l.EndFault()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// EndFault ends a cut and a fault of the proxy. Connections that have lost data end.
func (l *TCPProxy) EndFault() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault.Lost {
		l.resetAll()
	}
	close(l.healed)
	l.cut, l.fault, l.healed = false, Fault{}, make(chan struct{})
}

func (l *TCPProxy) resetAll() {
	for client, server := range l.clients {
		hostiletest.ResetConnection(client)
		hostiletest.ResetConnection(server)
	}
}

// serve passes the data of a client's connection on, in both directions, until either side ends.
func (l *TCPProxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.upstream) //nolint:noctx // ends with the client
	if err != nil || !l.open(client, server) {
		hostiletest.ResetConnection(client)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pass(server, client, true) })
	both.Go(func() { l.pass(client, server, false) })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, client)
}

// open adds a client's connection to the proxy, and reports whether it may go on. true: it may; false: the proxy
// is cut.
func (l *TCPProxy) open(client, server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = server.Close()
		return false
	}
	l.clients[client] = server
	return true
}

func (l *TCPProxy) pass(to, from net.Conn, requests bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		if err != nil || !l.send(to, data[:n], requests) {
			return
		}
	}
}

// send passes the data of a connection on, delayed or dropped as the present fault demands. It reports whether
// the connection may go on (true) or must end (false).
func (l *TCPProxy) send(to net.Conn, data []byte, requests bool) bool {
	l.mu.Lock()
	f, healed := l.fault, l.healed
	l.mu.Unlock()
	if f.Requests != requests {
		f = Fault{}
	}
	if f.Lost {
		if f.Reset > 0 {
			await(healed, f.Reset)
			hostiletest.ResetConnection(to)
		}
		return f.Reset == 0
	}
	size := len(data)
	if f.Piece > 0 {
		size = f.Piece
	}
	for piece := range slices.Chunk(data, max(1, size)) {
		if wait := f.Wait + rand.N(f.Jitter+1); wait > 0 { //nolint:gosec // a delay is no secret
			await(healed, wait)
		}
		if _, err := to.Write(piece); err != nil {
			return false
		}
	}
	return true
}

// await waits for a time, or until the fault that disturbs the proxy ends.
func await(healed <-chan struct{}, span time.Duration) {
	select {
	case <-healed:
	case <-time.After(span):
	}
}
