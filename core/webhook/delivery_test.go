package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

func TestStatusAndReason_OfEveryState(t *testing.T) {
	t.Parallel()
	type row struct {
		first, later webhook.DeliveryStatus // without and with finished attempts
		implied      webhook.FailureReason
		stored       webhook.FailureReason // where the row says webhook_disabled
	}
	want := map[webhook.DeliveryState]row{
		webhook.DeliveryStateWaiting:    {webhook.StatusPending, webhook.StatusRetrying, "", ""},
		webhook.DeliveryStateDispatched: {webhook.StatusPending, webhook.StatusRetrying, "", ""},
		webhook.DeliveryStateSucceeded:  {webhook.StatusSucceeded, webhook.StatusSucceeded, "", ""},
		webhook.DeliveryStateFailed: {
			webhook.StatusFailed, webhook.StatusFailed, webhook.FailureAttemptsExhausted, webhook.FailureWebhookDisabled,
		},
		webhook.DeliveryStateCancelled: {
			webhook.StatusFailed, webhook.StatusFailed, webhook.FailureWebhookDeleted, webhook.FailureWebhookDeleted,
		},
	}
	for _, state := range webhook.DeliveryStates {
		require.Equal(t, want[state], row{
			webhook.DeliveryStatusOf(state, 0), webhook.DeliveryStatusOf(state, 1),
			webhook.FailureReasonOf(state, ""), webhook.FailureReasonOf(state, webhook.FailureWebhookDisabled),
		}, state)
	}
}

func TestGivesUp_ADeliveryThatFailed_ButNoTest(t *testing.T) {
	t.Parallel()
	for _, state := range webhook.DeliveryStates {
		require.Equal(t, state == webhook.DeliveryStateFailed, webhook.DeliveryVerdict{State: state}.GivesUp(false), state)
		require.False(t, webhook.DeliveryVerdict{State: state}.GivesUp(true), state)
	}
}

// A delivery is stored under this id, so another version of the program must compute the same bytes.
func TestOriginalID_DependsOnBothIDs_AndHasTheTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	event := id.ID{0x01, 0x8f, 0x31, 0x2a, 0x77, 0x01, 0x71, 0x11, 0x81, 1, 2, 3, 4, 5, 6, 7}
	original := webhook.OriginalDeliveryID(event, id.ID{1})
	require.Equal(t, "018f312a-7701-7111-811d-bc8a5542f639", original.String())
	require.Equal(t, event.Time(), original.Time())
	require.NotEqual(t, original, webhook.OriginalDeliveryID(event, id.ID{2}))
	event[15]++
	require.NotEqual(t, original, webhook.OriginalDeliveryID(event, id.ID{1}))
}

func TestNewReport_BeginsWithTheSubscription(t *testing.T) {
	t.Parallel()
	for enabled, want := range map[bool]webhook.EndpointState{
		true: webhook.EndpointHealthy, false: webhook.EndpointDisabled,
	} {
		got := webhook.NewEndpointReport(webhook.Subscription{Enabled: enabled, CreatedAt: noon})
		require.Equal(t, webhook.EndpointReport{State: want, Since: noon}, got)
	}
}

func TestSchedule_WithoutAWait_HasNoJitter(t *testing.T) {
	t.Parallel()
	wait, ok := webhook.RetrySchedule{0, 0}.WaitAfter(1, 0, 0.99)
	require.True(t, ok)
	require.Zero(t, wait)
	wait, _ = webhook.RetrySchedule{0, time.Second}.WaitAfter(1, 0, 0)
	require.Equal(t, 900*time.Millisecond, wait)
}
