// Package portstest runs the same tests against every implementation of a port, so a fake in a test behaves like the real
// adapter. Each suite is a function that takes a test and a function that sets up a fresh implementation:
//
//	func TestStore(t *testing.T) {
//		portstest.Store(t, func(t *testing.T) portstest.Backend { … })
//	}
package portstest
