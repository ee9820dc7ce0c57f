package pgproxy

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
)

// TCPProxy is a TCP proxy to a server such as Redis, whose connections a test cuts or disturbs.
type TCPProxy struct {
	Address  string // The address (host:port) for clients.
	upstream string

	mu    sync.Mutex
	cut   bool
	fault Fault
	// A channel that is closed when the proxy's fault is over.
	healed chan struct{}
	// The server connection of each client connection of the proxy.
	clients map[net.Conn]net.Conn
}

// Fault is a disturbance of the data that a proxy passes on: delay, loss or reset.
type Fault struct {
	// Whether the fault disturbs the data of clients, not of the server.
	Requests bool
	// Wait is how long data stays in the proxy; at most Jitter is added at random.
	Wait, Jitter time.Duration
	// Bytes of each piece of data, which has a wait of its own; 0: pieces as the data came.
	Piece int
	// Whether data is lost, and the connection ends with the fault.
	Lost bool
	// With Lost, the connection is reset this long after the first loss; 0: when the fault ends.
	Reset time.Duration
}

// NewTCPProxy starts a TCP proxy to upstream (host:port), which ends with the test.
func NewTCPProxy(t hostiletest.TB, upstream string) *TCPProxy {
	l := &TCPProxy{upstream: upstream, healed: make(chan struct{}), clients: map[net.Conn]net.Conn{}}
	l.Address = hostiletest.ServeTCP(t, l.serve).Address
	return l
}

// CutConnections resets every present and new connection through the proxy until EndFault.
func (l *TCPProxy) CutConnections() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.resetAll()
}

// StartFault begins a fault on the proxy's connections, in place of the last one.
func (l *TCPProxy) StartFault(f Fault) {
	l.EndFault()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// EndFault ends a cut or a fault of the proxy. Connections that have lost data end.
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

// serve passes a client's data on in both directions, until either side ends.
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

// open adds a client's connection to the proxy, and reports whether it may go on: not during a cut.
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

// send passes data on, delayed or dropped as the present fault demands, and reports whether the connection may go
// on.
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

// await waits for a time, or until the proxy's fault ends.
func await(healed <-chan struct{}, span time.Duration) {
	select {
	case <-healed:
	case <-time.After(span):
	}
}
