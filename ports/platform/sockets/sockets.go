// Package sockets detects when this machine, and not a peer, keeps the process from opening a socket: file
// descriptors, buffers, memory or ports have run out.
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

// ErrAllConnectionsInUse is the error of connections that wait because as many are open as the limit of file
// descriptors allows.
var ErrAllConnectionsInUse = errors.New("all connections are in use")

// lacks lists the error numbers of the operating system for a machine that has run out of descriptors, memory
// or ports.
var lacks = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// ExhaustedResource returns what the machine has run out of, such as "too many open files"; "" if err has another
// cause.
func ExhaustedResource(err error) string {
	for _, lack := range lacks {
		if is(err, lack) && !(lack == syscall.EADDRNOTAVAIL && isIPv6(err)) {
			return lack.Error()
		}
	}
	return ""
}

// IsNoRouteError reports whether an error means that the machine has no route to the address that was dialled.
func IsNoRouteError(err error) bool {
	return is(err, syscall.ENETUNREACH) || is(err, syscall.EADDRNOTAVAIL) && isIPv6(err)
}

func is(err error, cause syscall.Errno) bool {
	var dns *net.DNSError
	return errors.Is(err, cause) || errors.As(err, &dns) && strings.HasSuffix(dns.Err, ": "+cause.Error())
}

// isIPv6 reports whether the error is about a connection to an IPv6 address.
func isIPv6(err error) bool { return strings.Contains(err.Error(), "]:") }

// calm is how long /readyz reports a failure to open a socket after it happened: longer than the time between
// two requests of /readyz.
const calm = 15 * time.Second

// FailureMonitor keeps the last failure to open a socket for the check of /readyz.
type FailureMonitor struct{ last atomic.Pointer[failure] }

type failure struct {
	err error
	at  time.Time
}

func now() time.Time { return time.Now() } //nolint:forbidigo // how long ago a failure of this process was

// RecordFailure stores a failure to open a socket, with its time.
func (w *FailureMonitor) RecordFailure(err error) { w.last.Store(&failure{err, now()}) }

// Check returns the last failure to open a socket if it was a few seconds ago, and nil otherwise.
func (w *FailureMonitor) Check(context.Context) error {
	if last := w.last.Load(); last != nil && now().Sub(last.at) < calm {
		return last.err
	}
	return nil
}

// DescribeFailure describes a failure to open a socket without addresses, so that anybody may read it.
func DescribeFailure(err error) string {
	var cause syscall.Errno
	switch {
	case ExhaustedResource(err) != "":
		return "cannot be opened: " + ExhaustedResource(err)
	case errors.As(err, &cause):
		return "cannot be opened: " + cause.Error()
	case errors.Is(err, ErrAllConnectionsInUse):
		return "wait: " + ErrAllConnectionsInUse.Error()
	}
	return "cannot be opened"
}
