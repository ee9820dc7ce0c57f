//go:build !unit

package payments_test

import (
	"testing"

	"partnerdeposits/adapters/http/checkout/checkouttest"
	"partnerdeposits/adapters/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var grace, declined = checkouttest.Grace, checkouttest.Declined

// bench adds the steps of these tests to a tenant's steps.
type bench struct{ checkouttest.Steps }

func setup(t *testing.T) bench {
	t.Helper()
	return bench{checkouttest.Start(t)}
}
