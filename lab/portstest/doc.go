// Package portstest is the contract of ports that several adapters implement, as tests. A suite takes a test and a function that sets
// up a fresh implementation:
//
//	func TestProvider(t *testing.T) {
//		portstest.PaymentProvider(t, func(t *testing.T) portstest.Payments { … })
//	}
package portstest

import (
	"github.com/google/uuid"

	"partnerdeposits/core/id"
)

// NewID gives a UUID v7.
func NewID() id.ID { return id.ID(uuid.Must(uuid.NewV7())) }
