package webhook

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/webhook/hostiletest"
)

func TestDial_LetsLittleBeUnderWay(t *testing.T) {
	server := hostiletest.Serve(t, func(net.Conn) {})
	c, err := newDialer(Config{Timeout: patient, AllowInsecure: true}).dial(t.Context(), "tcp", server.Address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	raw, err := c.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	var size int
	var failed error
	require.NoError(t, raw.Control(func(fd uintptr) { size, failed = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF) }))
	require.NoError(t, failed)
	require.LessOrEqual(t, size, 2*receiveBuffer, "Linux counts its own overhead in")
}
