package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

// The stages of an attempt. One that found a kept connection stays at its beginning.
const (
	begun int32 = iota
	queued
	resolving
	connecting
	shaking
	connected
)

// maxDials is how many connections one attempt may make. The transport bounds neither the connections that an endpoint
// ends with a GOAWAY nor the handshakes they cost.
const maxDials = 3

var errTooManyDials = errors.New("webhook: the endpoint ended each connection")

// dialPatience is how much longer than an attempt a dial may take: the attempt, which can tell what it waited for,
// gives up first.
const dialPatience = time.Second

// dialer makes connections, each to a guarded address and in bounded time, TLS handshake included. The transport lets a
// dial go on when its attempt is over, for the next one.
type dialer struct {
	net     net.Dialer
	tls     *tls.Config
	timeout time.Duration
	gate    gate
}

// dialsAtOnce bounds the handshakes under way with one address; bare connections cost too little to wait for one another.
const dialsAtOnce = 8

func newDialer(c Config) *dialer {
	guard := c.Guard
	switch {
	case guard != nil:
	case c.AllowInsecure:
		guard = guardBy(local)
	default:
		guard = guardBy(public)
	}
	resolver := c.Resolver
	if resolver == nil {
		resolver = &net.Resolver{PreferGo: true} // the C library reads 2130706433 and 0x7f.1 as addresses
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
		gate: gate{places: dialsAtOnce}, tls: config, timeout: c.Timeout + dialPatience,
		net: net.Dialer{
			KeepAlive: 30 * time.Second, Resolver: resolver,
			ControlContext: func(ctx context.Context, network, address string, raw syscall.RawConn) error {
				attemptOf(ctx).stage.Store(connecting)
				if err := guard(network, address, raw); err != nil {
					return err
				}
				return narrow(raw)
			},
		},
	}
}

// What an endpoint may have under way to us: an answer is a status line and a little text.
const (
	// receiveBuffer bounds what waits on our side. Linux would take six megabytes of a flood in before anybody has read a byte.
	receiveBuffer = 64 << 10
	// segment is Ethernet's. Where the path takes larger ones, as between neighbours, the kernel of whoever sends makes room
	// for twenty of them: a flood over loopback is megabytes in the first round trip, and costs both sides ten times as much.
	segment = 1460
)

// narrow bounds what comes in on a socket that is not connected yet.
func narrow(raw syscall.RawConn) error {
	var refused error
	err := raw.Control(func(fd uintptr) {
		refused = errors.Join(
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer), //nolint:gosec // a descriptor
			syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment),     //nolint:gosec // a descriptor
		)
	})
	return errors.Join(err, refused)
}

// dial makes a plain connection.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	return d.connect(ctx, network, address, connected)
}

// dialTLS makes a connection and shakes hands.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	a := attemptOf(ctx)
	a.stage.Store(queued)
	leave, err := d.gate.enter(ctx, address)
	if err != nil {
		return nil, err
	}
	defer leave()
	if a.Err() != nil { // it found another connection meanwhile, or gave up
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

// connect makes a connection for the attempt behind ctx, which is at stage next then.
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

// handshakeError marks what went wrong between a connection and its first request.
type handshakeError struct{ error }

func (e handshakeError) Unwrap() error { return e.error }
