package middleware_test

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/lab/servetest"
)

// hangs is a log whose lines wait.
type hangs struct{ taken chan struct{} }

func (h hangs) Write(p []byte) (int, error) {
	<-h.taken
	return len(p), nil
}

// A request is counted when its answer goes to the connection, and in flight until the answer is sent.
func TestRequest_ThatHangsBehindItsHandler_IsInFlightAndNotCounted(t *testing.T) {
	t.Parallel()
	var inFlight, counted atomic.Int64
	observe := func(middleware.RequestObservation) { counted.Add(1) }
	lines := hangs{make(chan struct{})}
	log := slog.New(slog.NewTextHandler(lines, nil))
	app := fiber.New(middleware.FiberConfig(
		middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{Logger: log})}))
	middleware.HardenServer(app, middleware.ServerHooks{Observe: observe,
		InFlight: func(by int) { inFlight.Add(int64(by)) }})
	app.Use(middleware.AccessLog(log, observe))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString("done") })
	conn, err := net.Dial("tcp", servetest.ServeApp(t, app))
	require.NoError(t, err)
	defer conn.Close()

	_, err = io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 2))
	require.NoError(t, err)
	is := func(flying, answered int64) {
		require.Eventually(t, func() bool { return inFlight.Load() == flying && counted.Load() == answered }, 5*time.Second,
			time.Millisecond, "%d in flight, %d counted", flying, answered)
	}
	is(1, 0)
	lines.taken <- struct{}{}
	is(1, 0) // the first answer waits for the second request of the connection
	close(lines.taken)
	is(0, 2)

	_, err = io.WriteString(conn, "PURGE / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	is(0, 3)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	is(0, 4)
}
