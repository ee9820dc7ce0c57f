// Package sockets tells when this machine, and not a peer, keeps the process from opening a socket: descriptors,
// buffers, memory or ports have run out.
package sockets

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrAllInUse is told while connections wait, since all that the limit of descriptors allows are at work.
var ErrAllInUse = errors.New("all connections are in use")

// lacks are the errors of a machine that has run out of something.
var lacks = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// Lack returns what the machine has run out of, such as "too many open files"; "": err does not tell of that.
func Lack(err error) string {
	for _, lack := range lacks {
		if is(err, lack) && !(lack == syscall.EADDRNOTAVAIL && isIPv6(err)) {
			return lack.Error()
		}
	}
	return ""
}

// NoRoute reports whether the machine has no way to the address that was dialled.
func NoRoute(err error) bool {
	return is(err, syscall.ENETUNREACH) || is(err, syscall.EADDRNOTAVAIL) && isIPv6(err)
}

// is also finds the cause of an error of the resolver, which keeps the text of its cause only.
func is(err error, cause syscall.Errno) bool {
	var dns *net.DNSError
	return errors.Is(err, cause) || errors.As(err, &dns) && strings.HasSuffix(dns.Err, ": "+cause.Error())
}

// isIPv6 reports whether an address of IPv6 was dialled. A machine without IPv6 has no address for such a connection,
// and says the same when it has no port left.
func isIPv6(err error) bool { return strings.Contains(err.Error(), "]:") }

// calm is how long a failure is told of: longer than the pauses between two looks at the checks of /readyz.
const calm = 15 * time.Second

// Watch notes failures for the check of /readyz. Its methods are safe for concurrent use.
type Watch struct{ last atomic.Pointer[failure] }

type failure struct {
	err error
	at  time.Time
}

func now() time.Time { return time.Now() } //nolint:forbidigo // how long ago a failure of this process was

// Failed notes a failure.
func (w *Watch) Failed(err error) { w.last.Store(&failure{err, now()}) }

// Check returns the last failure, if it was a few seconds ago.
func (w *Watch) Check(context.Context) error {
	if last := w.last.Load(); last != nil && now().Sub(last.at) < calm {
		return last.err
	}
	return nil
}

// Problem describes a failure to anybody, without addresses.
func Problem(err error) string {
	var cause syscall.Errno
	switch {
	case Lack(err) != "":
		return "cannot be opened: " + Lack(err)
	case errors.As(err, &cause):
		return "cannot be opened: " + cause.Error()
	case errors.Is(err, ErrAllInUse):
		return "wait: " + ErrAllInUse.Error()
	}
	return "cannot be opened"
}
