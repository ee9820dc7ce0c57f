package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	begun int32 = iota
	queued
	resolving
	connecting
	shaking
	connected
)

// maxDials is how many connections an attempt may make. The transport itself has no bound for an endpoint that
// closes each connection with a GOAWAY.
const maxDials = 3

var errTooManyDials = errors.New("webhook: the endpoint ended each connection")

// dialMargin is how much longer than an attempt the making of its connection may take. So the attempt, which
// can report its stage, ends first.
const dialMargin = time.Second

// dialer makes connections to allowed addresses in bounded time, TLS handshake included. A dial goes on after its
// attempt ended, because the next attempt can use the connection.
type dialer struct {
	net        net.Dialer
	tls        *tls.Config
	timeout    time.Duration
	handshakes handshakeLimit
}

// handshakesPerAddress bounds the TLS handshakes in flight with an address. Plain connections cost too little for
// a bound.
const handshakesPerAddress = 8

func newDialer(c Config) *dialer {
	check := c.AddressCheck
	switch {
	case check != nil:
	case c.AllowInsecure:
		check = addressCheck(allowedInsecure)
	default:
		check = addressCheck(public)
	}
	resolver := c.Resolver
	if resolver == nil {
		// Go's own resolver is used, since that of the C library reads 2130706433 and 0x7f.1 as addresses
		resolver = &net.Resolver{PreferGo: true}
	}
	config := &tls.Config{}
	if c.TLS != nil {
		config = c.TLS.Clone()
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	if config.NextProtos == nil {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	return &dialer{
		handshakes: handshakeLimit{perAddress: handshakesPerAddress}, tls: config, timeout: c.Timeout + dialMargin,
		net: net.Dialer{
			KeepAlive: 30 * time.Second, Resolver: resolver,
			ControlContext: func(ctx context.Context, network, address string, raw syscall.RawConn) error {
				attemptOf(ctx).stage.Store(connecting)
				if err := check(network, address, raw); err != nil {
					return err
				}
				return limitReceive(raw)
			},
		},
	}
}

const (
	// receiveBuffer bounds the bytes of a response that wait in the kernel. Linux would take six megabytes of a
	// flood before the first read.
	receiveBuffer = 64 << 10
	// segment is the TCP segment size of Ethernet. With larger segments, as over loopback, the sender's kernel sends
	// twenty at once, so that a flood begins with megabytes.
	segment = 1460
)

// limitReceive bounds the bytes that an endpoint can have in flight to a socket that is not connected yet. A
// response is a status line and a little text.
func limitReceive(raw syscall.RawConn) error {
	var refused error
	err := raw.Control(func(fd uintptr) {
		refused = errors.Join(
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer), //nolint:gosec // a descriptor
			syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment),     //nolint:gosec // a descriptor
		)
	})
	return errors.Join(err, refused)
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	return d.connect(ctx, network, address, connected)
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	a := attemptOf(ctx)
	a.stage.Store(queued)
	leave, err := d.handshakes.enter(ctx, address)
	if err != nil {
		return nil, err
	}
	defer leave()
	if a.Err() != nil { // The attempt ended, or got another connection meanwhile, so it needs no handshake any more.
		return nil, a.Err()
	}
	plain, err := d.connect(ctx, network, address, shaking)
	if err != nil {
		return nil, err
	}
	config := d.tls
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	secured := tls.Client(plain, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, handshakeError{err}
	}
	a.stage.Store(connected)
	return secured, nil
}

// connect makes a connection for the attempt in ctx and moves the attempt to stage next.
func (d *dialer) connect(ctx context.Context, network, address string, next int32) (net.Conn, error) {
	a := attemptOf(ctx)
	if a.dials.Add(1) > maxDials {
		return nil, errTooManyDials
	}
	a.stage.Store(resolving)
	c, err := d.net.DialContext(ctx, network, address)
	if err == nil {
		a.stage.Store(next)
	}
	return c, err
}

type handshakeError struct{ error }

func (e handshakeError) Unwrap() error { return e.error }

// handshakeLimit bounds the TLS handshakes in flight to an address, so that an endpoint that closes its
// connections does not delay the requests to other endpoints.
type handshakeLimit struct {
	perAddress int
	mu         sync.Mutex
	addresses  map[string]*handshakes
}

// handshakes bounds the TLS handshakes with one address, and counts the connections that are being made to it.
type handshakes struct {
	slots chan struct{}
	// The number of connections that make a handshake or wait for one; at 0 the entry of the address is deleted.
	users int
}

// enter waits until one more TLS handshake with an address may begin; leave ends it. enter returns an error
// when ctx ended first.
func (l *handshakeLimit) enter(ctx context.Context, address string) (leave func(), err error) {
	h := l.use(address)
	select {
	case h.slots <- struct{}{}:
		return func() {
			<-h.slots
			l.release(address, h)
		}, nil
	case <-ctx.Done():
		l.release(address, h)
		return nil, ctx.Err()
	}
}

func (l *handshakeLimit) use(address string) *handshakes {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.addresses[address]
	if h == nil {
		h = &handshakes{slots: make(chan struct{}, l.perAddress)}
		if l.addresses == nil {
			l.addresses = map[string]*handshakes{}
		}
		l.addresses[address] = h
	}
	h.users++
	return h
}

func (l *handshakeLimit) release(address string, h *handshakes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.addresses, address)
	}
}
