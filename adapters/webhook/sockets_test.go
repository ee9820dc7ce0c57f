package webhook

import (
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

// A lack of our own machine is no failure of the endpoint, and the idle connections make room.
func TestPost_WithoutASocket_SaysThatItIsOurDoing(t *testing.T) {
	t.Parallel()
	var lack atomic.Uint32 // of a dial; 0: none
	fails := func(string, string, syscall.RawConn) error {
		if cause := syscall.Errno(lack.Load()); cause != 0 {
			return os.NewSyscallError("socket", cause)
		}
		return nil
	}
	cases := map[syscall.Errno]struct{ lacked, noRoute bool }{
		syscall.EMFILE: {lacked: true}, syscall.ENFILE: {lacked: true}, syscall.ENOBUFS: {lacked: true},
		syscall.EADDRNOTAVAIL: {lacked: true}, syscall.ENETUNREACH: {noRoute: true}, syscall.EHOSTUNREACH: {},
		syscall.ECONNREFUSED: {},
	}
	kept := serve(t, answering(ok, nil))
	for cause, want := range cases {
		var told []error
		config := func(c *Config) {
			c.NoSocket = func(err error) { told = append(told, err) }
			c.AddressCheck = fails
			c.Resolver = &net.Resolver{PreferGo: true, Dial: (&net.Dialer{Control: fails}).DialContext}
		}
		s := newSender(t, config)
		for _, target := range []string{nobody(t), "http://hooks.example/"} {
			lack.Store(0)
			require.True(t, s.Post(t.Context(), postTo("http://"+kept.Address), signedAt).OK())
			dialled := kept.Conns.Load()
			lack.Store(uint32(cause))
			told = nil
			a := s.Post(t.Context(), postTo(target), signedAt)
			require.NotEqual(t, webhook.ResultSuccess, a.Result)
			require.Equal(t, want.lacked, a.Lacked != "", "%s %v %s", target, cause, a.Lacked)
			require.Equal(t, want.noRoute, a.NoRoute, "%s %v", target, cause)
			lack.Store(0)
			require.True(t, s.Post(t.Context(), postTo("http://"+kept.Address), signedAt).OK())
			if want.lacked {
				require.Equal(t, cause.Error(), a.Lacked)
				require.Len(t, told, 1)
				require.Equal(t, dialled+1, kept.Conns.Load(), "the idle connection was closed")
			} else {
				require.Empty(t, told)
				require.Equal(t, dialled, kept.Conns.Load())
			}
		}
	}
}
