// Package portstest holds every implementation of a port to the same suite, so that what the use cases were tested on is
// what they run on. A suite is a function that takes the test and a setup of a fresh implementation:
//
//	func TestStore(t *testing.T) {
//		portstest.Store(t, func(t *testing.T) portstest.Backend { … })
//	}
package portstest
