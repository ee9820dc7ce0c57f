package webhook

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/hostiletest"
)

func TestDial_LetsLittleBeUnderWay(t *testing.T) {
	server := hostiletest.Serve(t, func(net.Conn) {})
	c, err := newDialer(Config{Timeout: patient, AllowInsecure: true}).dial(t.Context(), "tcp", server.Address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	raw, err := c.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	option := func(level, name int) (value int) {
		var failed error
		require.NoError(t, raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), level, name) }))
		require.NoError(t, failed)
		return value
	}
	require.LessOrEqual(t, option(syscall.SOL_SOCKET, syscall.SO_RCVBUF), 2*receiveBuffer,
		"Linux counts its own overhead in")
	require.LessOrEqual(t, option(syscall.IPPROTO_TCP, syscall.TCP_MAXSEG), segment,
		"over loopback, where it would be 65,483")
}
