package pgproxy

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
)

// Link is a TCP proxy between clients and a server of any kind, Postgres or Redis, which a test cuts or disturbs.
type Link struct {
	Address  string // where clients connect
	upstream string

	mu      sync.Mutex
	cut     bool
	fault   Fault
	healed  chan struct{}         // closed when the fault is over
	clients map[net.Conn]net.Conn // the server's side of each connection
}

// Fault is a disturbance of the data of clients, or of a server.
type Fault struct {
	Requests     bool          // of the data of clients; otherwise of the answers
	Wait, Jitter time.Duration // data waits so long, and up to Jitter more
	Piece        int           // data passes in pieces of so many bytes, each of which waits; 0: as it came
	Lost         bool          // data is lost, and the connection ends when the link heals
	Reset        time.Duration // with Lost: the connection is reset so long after the first loss; 0: when the link heals
}

// NewLink serves a link to the server at upstream, host:port.
func NewLink(t hostiletest.TB, upstream string) *Link {
	l := &Link{upstream: upstream, healed: make(chan struct{}), clients: map[net.Conn]net.Conn{}}
	l.Address = hostiletest.Serve(t, l.serve).Address
	return l
}

// Cut resets every connection, and each new one, until the link heals.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.resetAll()
}

// Disturb begins a fault in place of the one before.
func (l *Link) Disturb(f Fault) {
	l.Heal()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// Heal ends a cut and a fault. Connections that have lost data end.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault.Lost {
		l.resetAll()
	}
	close(l.healed)
	l.cut, l.fault, l.healed = false, Fault{}, make(chan struct{})
}

func (l *Link) resetAll() {
	for client, server := range l.clients {
		hostiletest.Reset(client)
		hostiletest.Reset(server)
	}
}

// serve passes a connection on, in both directions, until either side ends.
func (l *Link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.upstream) //nolint:noctx // ends with the client
	if err != nil || !l.open(client, server) {
		hostiletest.Reset(client)
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

// open keeps a connection, unless the link is cut.
func (l *Link) open(client, server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = server.Close()
		return false
	}
	l.clients[client] = server
	return true
}

func (l *Link) pass(to, from net.Conn, requests bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		if err != nil || !l.send(to, data[:n], requests) {
			return
		}
	}
}

// send passes data on as the fault of the moment has it. It is false when the connection must end.
func (l *Link) send(to net.Conn, data []byte, requests bool) bool {
	l.mu.Lock()
	f, healed := l.fault, l.healed
	l.mu.Unlock()
	if f.Requests != requests {
		f = Fault{}
	}
	if f.Lost {
		if f.Reset > 0 {
			await(healed, f.Reset)
			hostiletest.Reset(to)
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

// await waits for a time, or until the link heals.
func await(healed <-chan struct{}, span time.Duration) {
	select {
	case <-healed:
	case <-time.After(span):
	}
}
