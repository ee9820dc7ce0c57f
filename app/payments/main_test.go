//go:build !unit

package payments_test

import (
	"testing"

	"partnerdeposits/adapters/http/checkout/checkouttest"
	"partnerdeposits/cmd/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

var grace, declined = checkouttest.Grace, checkouttest.Declined

// bench adds the steps of these tests to a tenant's steps.
type bench struct{ checkouttest.Steps }

func setup(t *testing.T) bench {
	t.Helper()
	return bench{checkouttest.Start(t)}
}
