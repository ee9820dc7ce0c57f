package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
)

func TestOf_FindsTheFaultAndHidesEverythingElse(t *testing.T) {
	sentinel := fault.New(fault.Conflict, "taken", "It is taken.")
	cause := errors.New("driver: secret detail")
	err := fmt.Errorf("use case: %w", sentinel.WithCause(cause))
	require.ErrorIs(t, err, sentinel)
	require.ErrorIs(t, err, cause)
	require.Equal(t, "It is taken.", fault.FromError(err).Message)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	unknown := fault.FromError(cause)
	require.Equal(t, "internal_error", unknown.Code)
	require.NotContains(t, unknown.Message, "secret")
	require.Contains(t, unknown.Error(), "secret detail", "the log has it")
}

func TestCopies_LeaveTheSentinelAsItIs(t *testing.T) {
	sentinel := fault.New(fault.Invalid, "bad", "Bad.")
	copied := sentinel.WithField("amount", "must be %d", 7).WithRetryAfter(time.Second).WithCause(errors.New("x"))
	require.Equal(t, "amount: must be 7", copied.Message)
	require.ErrorIs(t, copied, sentinel)
	require.Equal(t, fault.Error{Kind: fault.Invalid, Code: "bad", Message: "Bad."}, *sentinel)
	require.NotErrorIs(t, copied, fault.New(fault.Invalid, "other", ""))
}
