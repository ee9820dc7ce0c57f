package sockets_test

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/ports/platform/sockets"
)

func dialled(address string, cause syscall.Errno) *net.OpError {
	to, _ := net.ResolveTCPAddr("tcp", address)
	return &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", cause)}
}

func resolved(by string, cause syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: dialled(by, cause).Error(), Name: "hooks.example"}}
}

func TestLack_IsThatOfTheMachine(t *testing.T) {
	t.Parallel()
	const v4, v6 = "10.0.0.1:443", "[2001:db8::1]:443"
	const ports = "cannot assign requested address"
	cases := map[string]struct {
		err     error
		lack    string
		noRoute bool
	}{
		"descriptors of the process":          {err: dialled(v4, syscall.EMFILE), lack: "too many open files"},
		"descriptors of the machine":          {err: dialled(v4, syscall.ENFILE), lack: "too many open files in system"},
		"buffers":                             {err: dialled(v4, syscall.ENOBUFS), lack: "no buffer space available"},
		"memory":                              {err: dialled(v4, syscall.ENOMEM), lack: "cannot allocate memory"},
		"ports":                               {err: dialled(v4, syscall.EADDRNOTAVAIL), lack: ports},
		"descriptors, for the resolver":       {err: resolved(v4, syscall.EMFILE), lack: "too many open files"},
		"descriptors over IPv6":               {err: dialled(v6, syscall.EMFILE), lack: "too many open files"},
		"no IPv6":                             {err: dialled(v6, syscall.EADDRNOTAVAIL), noRoute: true},
		"no IPv6 to the resolver":             {err: resolved(v6, syscall.EADDRNOTAVAIL), noRoute: true},
		"no route":                            {err: dialled(v4, syscall.ENETUNREACH), noRoute: true},
		"no route to the resolver":            {err: resolved(v4, syscall.ENETUNREACH), noRoute: true},
		"no route behind the endpoint's own":  {err: dialled(v4, syscall.EHOSTUNREACH)},
		"refused":                             {err: dialled(v4, syscall.ECONNREFUSED)},
		"reset":                               {err: dialled(v4, syscall.ECONNRESET)},
		"a name that does not exist":          {err: &net.DNSError{Err: "no such host", IsNotFound: true}},
		"a name that sounds like descriptors": {err: &net.DNSError{Err: "no such host", Name: "too many open files"}},
	}
	for name, c := range cases {
		require.Equal(t, c.lack, sockets.ExhaustedResource(c.err), name)
		require.Equal(t, c.noRoute, sockets.IsNoRouteError(c.err), name)
	}
	require.Empty(t, sockets.ExhaustedResource(nil))
	require.False(t, sockets.IsNoRouteError(nil))
}

func TestWatch_TellsOfAFailureForSomeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w sockets.FailureMonitor
		require.NoError(t, w.Check(t.Context()))
		w.RecordFailure(dialled("10.0.0.1:443", syscall.EMFILE))
		<-time.After(12 * time.Second) // the longest pause between two looks of /readyz
		err := w.Check(t.Context())
		require.ErrorIs(t, err, syscall.EMFILE)
		require.Equal(t, "cannot be opened: too many open files", sockets.DescribeFailure(err))
		<-time.After(3 * time.Second)
		require.NoError(t, w.Check(t.Context()))
	})
}

func TestProblem_HasNoAddress(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"cannot be opened: too many open files":              resolved("10.0.0.1:53", syscall.EMFILE),
		"cannot be opened: software caused connection abort": dialled("10.0.0.1:443", syscall.ECONNABORTED),
		"wait: all connections are in use":                   sockets.ErrAllConnectionsInUse,
		"cannot be opened":                                   errors.New("10.0.0.1 is odd"),
	} {
		require.Equal(t, want, sockets.DescribeFailure(err))
	}
}
