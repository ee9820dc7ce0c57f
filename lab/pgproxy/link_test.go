package pgproxy

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/hostiletest"
)

const limit = 20 * time.Second // of a connection

// linked gives a link to a server that repeats all that it reads, and a function that connects through the link.
func linked(t *testing.T) (*TCPProxy, func() net.Conn) {
	t.Helper()
	echo := hostiletest.ServeTCP(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	l := NewTCPProxy(t, echo.Address)
	return l, func() net.Conn {
		c, err := net.Dial("tcp", l.Address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, c.SetDeadline(time.Now().Add(limit)))
		return c
	}
}

// asked sends a text over the connection, and returns as many bytes of the answer as the text has.
func asked(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	answer := make([]byte, len(text))
	_, err := io.ReadFull(c, answer)
	return string(answer), err
}

// askedAnew sends a text over a new connection, reads the answer, and returns the first error. A cut link may reset a
// connection before the dial of the client returns, so an error of the dial is returned like an error of the read.
func askedAnew(l *TCPProxy, text string) error {
	c, err := net.Dial("tcp", l.Address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err = asked(c, text)
	return err
}

func TestLink_Healed_PassesEverything(t *testing.T) {
	t.Parallel()
	l, connect := linked(t)
	c := connect()
	for _, disturb := range []func(){func() {}, l.EndFault, func() { l.StartFault(Fault{Piece: 2}) },
		func() { l.StartFault(Fault{Requests: true, Piece: 2, Wait: time.Millisecond}) }} {
		disturb()
		got, err := asked(c, "a question")
		require.NoError(t, err)
		require.Equal(t, "a question", got)
	}
}

func TestLink_Cut_EndsConnectionsUntilHealed(t *testing.T) {
	t.Parallel()
	l, connect := linked(t)
	before := connect()
	_, err := asked(before, "a")
	require.NoError(t, err)
	l.CutConnections()
	_, err = asked(before, "b")
	require.Error(t, err)
	require.Error(t, askedAnew(l, "c"))
	l.EndFault()
	require.NoError(t, askedAnew(l, "d"))
}

func TestLink_Waits_InItsDirectionAlone(t *testing.T) {
	t.Parallel()
	const wait = 50 * time.Millisecond
	l, connect := linked(t)
	c := connect()
	for _, f := range []Fault{{Wait: wait}, {Requests: true, Wait: wait}, {Piece: 1, Wait: wait / 2}} {
		l.StartFault(f)
		began := time.Now()
		_, err := asked(c, "ab")
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), wait, "%+v", f)
	}
}

func TestLink_LosesAnswers_AndResetsTheConnection(t *testing.T) {
	t.Parallel()
	for _, reset := range []time.Duration{0, time.Millisecond} {
		l, connect := linked(t)
		c := connect()
		l.StartFault(Fault{Lost: true, Reset: reset})
		ended := make(chan error, 1)
		go func() {
			_, err := asked(c, "a")
			ended <- err
		}()
		if reset == 0 {
			require.Never(t, func() bool { return len(ended) > 0 }, 100*time.Millisecond, 10*time.Millisecond)
			l.EndFault()
		}
		require.Error(t, <-ended)
		l.EndFault()
		require.NoError(t, askedAnew(l, "b"))
	}
}
