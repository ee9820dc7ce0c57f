package middleware

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/ports/platform/sockets"
)

// longWait bounds every wait of these tests.
const longWait = 15 * time.Second

// failing is a listener whose first calls of Accept fail.
type failing struct {
	net.Listener
	mu   sync.Mutex
	with []error
}

func (f *failing) Accept() (net.Conn, error) {
	f.mu.Lock()
	if len(f.with) > 0 {
		err := f.with[0]
		f.with = f.with[1:]
		f.mu.Unlock()
		return nil, err
	}
	f.mu.Unlock()
	return f.Listener.Accept()
}

func refused(cause syscall.Errno) error {
	return &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", cause)}
}

// told keeps what a listener told.
type told struct {
	mu  sync.Mutex
	all []error
}

func (t *told) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, err)
}

func (t *told) of(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Is(errors.Join(t.all...), err)
}

// bounded is a server with at most so many connections. GET / answers; GET /wait answers once released.
type bounded struct {
	t        *testing.T
	addr     string
	told     *told
	most     atomic.Int32
	handled  atomic.Int32
	waiting  chan struct{}
	released chan struct{}
}

func newBounded(t *testing.T, most int32, idleFor time.Duration, failures ...error) *bounded {
	b := &bounded{t: t, told: &told{}, waiting: make(chan struct{}, 100), released: make(chan struct{})}
	b.most.Store(most)
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b.addr = inner.Addr().String()
	ln := newListener(&failing{Listener: inner, with: failures}, b.told.failed,
		func() int { return int(b.most.Load()) }, idleFor)
	app := fiber.New(FiberConfig(ServerConfig{}))
	HardenServer(app, ServerHooks{})
	app.Get("/", func(*fiber.Ctx) error { b.handled.Add(1); return nil })
	app.Get("/wait", func(*fiber.Ctx) error { b.waiting <- struct{}{}; <-b.released; return nil })
	served := make(chan error, 1)
	go func() { served <- app.Listener(ln) }()
	t.Cleanup(func() {
		require.NoError(t, app.ShutdownWithTimeout(longWait))
		require.NoError(t, <-served)
	})
	return b
}

// caller is a connection of a client.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func (b *bounded) dial() *caller {
	c, err := net.Dial("tcp", b.addr)
	require.NoError(b.t, err)
	require.NoError(b.t, c.SetDeadline(time.Now().Add(longWait)))
	b.t.Cleanup(func() { _ = c.Close() })
	return &caller{c, bufio.NewReader(c)}
}

func (c *caller) send(path string) error {
	_, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n")
	return err
}

func (c *caller) get(path string) error {
	if err := c.send(path); err != nil {
		return err
	}
	return c.receive()
}

func (c *caller) receive() error {
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

func (c *caller) ended() bool {
	return c.SetReadDeadline(time.Now().Add(longWait)) == nil && c.closed()
}

func (c *caller) closed() bool {
	_, err := c.in.Peek(1)
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestListener_GoesOnAfterEachFailureOfTheSystem(t *testing.T) {
	t.Parallel()
	causes := []error{}
	for _, cause := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED} {
		causes = append(causes, refused(cause))
	}
	b := newBounded(t, 10, 0, causes...)
	require.NoError(t, b.dial().get("/"))
	for _, cause := range causes {
		require.True(t, b.told.of(cause), cause)
	}
}

func TestPatient_WaitsLongerAndLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begin := time.Now()
		f := &failing{Listener: ended{}}
		for range 11 {
			f.with = append(f.with, refused(syscall.EMFILE))
		}
		ln := RetryAccept(f, func(error) { at = append(at, time.Since(begin)) })
		_, err := ln.Accept()
		require.ErrorIs(t, err, net.ErrClosed, "as the listener itself")
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms, 155 * ms, 315 * ms, 635 * ms, 1275 * ms,
			2275 * ms, 3275 * ms}, at)
		require.Equal(t, 4275*ms, time.Since(begin))

		f.with = []error{refused(syscall.EMFILE)}
		require.NoError(t, ln.Close())
		begin = time.Now()
		_, err = ln.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		require.Zero(t, time.Since(begin), "a closed listener does not wait")
	})
}

// ended is a closed listener.
type ended struct{ net.Listener }

func (ended) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (ended) Close() error              { return nil }

func TestListener_Full_EndsTheConnectionThatHasBeenIdleLongest(t *testing.T) {
	t.Parallel()
	b := newBounded(t, 3, 0)
	first, second, third := b.dial(), b.dial(), b.dial()
	for _, c := range []*caller{first, second, third, first} { // the second has been idle longest
		require.NoError(t, c.get("/"))
	}
	require.NoError(t, b.dial().get("/"))
	require.True(t, second.ended())
	require.NoError(t, first.get("/"))
	require.NoError(t, third.get("/"))
	require.Empty(t, b.told.all, "nobody waited")

	b.most.Store(1) // the limit was lowered
	require.NoError(t, b.dial().get("/"))
	require.True(t, first.ended())
	require.True(t, third.ended())
}

func TestListener_Full_EndsAConnectionThatSendsNothing(t *testing.T) {
	t.Parallel()
	b := newBounded(t, 2, 0)
	silent := []*caller{b.dial(), b.dial()}
	require.NoError(t, b.dial().get("/"))
	require.NoError(t, b.dial().get("/"))
	require.True(t, silent[0].ended())
	require.True(t, silent[1].ended())
}

func TestListener_WithoutDescriptors_EndsAnIdleConnection(t *testing.T) {
	t.Parallel()
	most := 4
	f := &failing{Listener: ended{}}
	l := newListener(f, func(error) {}, func() int { return most }, 0)
	var callers []net.Conn
	for range 4 {
		ours, theirs := net.Pipe()
		callers = append(callers, theirs)
		l.rest(&clientConn{Conn: ours, of: l})
		l.open++
	}
	for _, step := range []struct{ most, ended int }{{4, 1}, {4, 2}, {1, 4}} { // the limit is lowered in the end
		most, f.with = step.most, []error{refused(syscall.EMFILE)}
		_, err := l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
		require.Equal(t, 4-step.ended, l.open)
		for _, c := range callers[:step.ended] {
			_, err = c.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
		}
	}
}

func TestListener_FullOfRequests_HasConnectionsWait(t *testing.T) {
	t.Parallel()
	b := newBounded(t, 2, longWait)
	busy := []*caller{b.dial(), b.dial()}
	for _, c := range busy {
		require.NoError(t, c.send("/wait"))
		<-b.waiting
	}
	late := []*caller{b.dial(), b.dial()}
	for _, c := range late {
		require.NoError(t, c.send("/"))
	}
	require.Eventually(t, func() bool { return b.told.of(sockets.ErrAllConnectionsInUse) }, longWait, time.Millisecond)
	require.Zero(t, b.handled.Load())
	close(b.released)
	for _, c := range busy {
		require.NoError(t, c.receive())
		require.NoError(t, c.Close())
	}
	for _, c := range late {
		require.NoError(t, c.receive())
	}
}

func TestListener_Full_WaitsForTheRequestOfANewConnection(t *testing.T) {
	t.Parallel()
	b := newBounded(t, 1, time.Second)
	first, second := b.dial(), b.dial()
	require.Eventually(t, func() bool { return b.told.of(sockets.ErrAllConnectionsInUse) }, longWait, time.Millisecond)
	require.NoError(t, first.get("/"), "it is not ended at once")
	require.NoError(t, second.get("/"))
	require.True(t, first.ended())
}

func TestListener_FullOfRequests_Closes(t *testing.T) {
	t.Parallel()
	var told told
	ours, theirs := net.Pipe()
	l := newListener(&arriving{conn: ours}, told.failed, func() int { return 0 }, 0)
	accepted := make(chan error, 1)
	go func() { _, err := l.Accept(); accepted <- err }()
	require.Eventually(t, func() bool { return told.of(sockets.ErrAllConnectionsInUse) }, longWait, time.Millisecond)
	require.NoError(t, l.Close())
	select {
	case err := <-accepted:
		require.ErrorIs(t, err, net.ErrClosed)
	case <-time.After(longWait):
		require.Fail(t, "Accept goes on")
	}
	_, err := theirs.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// arriving is a listener with a single connection.
type arriving struct {
	ended
	conn net.Conn
}

func (a *arriving) Accept() (net.Conn, error) { return a.conn, nil }

// A request that arrives as its connection ends must have no effect, since it gets no answer.
func TestConn_EndedDuringTheRead_ReadsNothing(t *testing.T) {
	t.Parallel()
	l := newListener(ended{}, func(error) {}, nil, 0)
	ours, _ := net.Pipe()
	c := &clientConn{of: l}
	c.Conn = lateBytes{ours, func() { l.endIdlest() }}
	l.rest(c)
	n, err := c.Read(make([]byte, 8))
	require.ErrorIs(t, err, net.ErrClosed)
	require.Zero(t, n)
	require.False(t, c.heard)
}

// lateBytes is a connection that something happens to while it reads.
type lateBytes struct {
	net.Conn
	meanwhile func()
}

func (b lateBytes) Read(p []byte) (int, error) { b.meanwhile(); return len(p), nil }

// A request has an answer, or it has no effect and may be sent again.
func TestListener_Full_EndsNoRequestThatBegan(t *testing.T) {
	t.Parallel()
	b := newBounded(t, 4, 0)
	var answered, lost atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				c, err := net.Dial("tcp", b.addr)
				if err != nil {
					continue
				}
				_ = c.SetDeadline(time.Now().Add(longWait))
				for range 20 {
					if (&caller{c, bufio.NewReader(c)}).get("/") != nil {
						lost.Add(1)
						break
					}
					answered.Add(1)
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
	require.Positive(t, lost.Load(), "connections were ended")
	require.Equal(t, b.handled.Load(), answered.Load())
}

func TestMostConnections_LeavesSomeForTheRest(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	most := mostConnections()
	require.Positive(t, most)
	require.Less(t, uint64(most), limit.Cur)
}

func BenchmarkListener_ARequest(b *testing.B) {
	l := newListener(ended{}, func(error) {}, mostConnections, idleFor)
	c := &clientConn{of: l}
	for b.Loop() {
		l.mu.Lock()
		l.rest(c)
		l.mu.Unlock()
		c.wake()
	}
}
