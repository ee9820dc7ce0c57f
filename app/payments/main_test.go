//go:build !unit

package payments_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

var grace, declined = checkouttest.Grace, checkouttest.Declined

// bench adds the steps of these tests to a tenant's steps.
type bench struct{ checkouttest.Steps }

func setup(t *testing.T) bench {
	t.Helper()
	return bench{checkouttest.Start(t)}
}

type entropy = system.Entropy

var discard = slog.New(slog.DiscardHandler)

// exec changes rows behind the service's back.
func (b bench) exec(sql string, args ...any) {
	b.T.Helper()
	_, err := b.Pool.Exec(b.Ctx(), sql, args...)
	require.NoError(b.T, err)
}
