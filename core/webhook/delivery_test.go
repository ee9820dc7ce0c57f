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
		first, later webhook.Status // without and with finished attempts
		implied      webhook.FailureReason
		stored       webhook.FailureReason // where the row says webhook_disabled
	}
	want := map[webhook.State]row{
		webhook.Waiting:    {webhook.StatusPending, webhook.StatusRetrying, "", ""},
		webhook.Dispatched: {webhook.StatusPending, webhook.StatusRetrying, "", ""},
		webhook.Succeeded:  {webhook.StatusSucceeded, webhook.StatusSucceeded, "", ""},
		webhook.Failed: {
			webhook.StatusFailed, webhook.StatusFailed, webhook.AttemptsExhausted, webhook.WebhookDisabled,
		},
		webhook.Cancelled: {
			webhook.StatusFailed, webhook.StatusFailed, webhook.WebhookDeleted, webhook.WebhookDeleted,
		},
	}
	for _, state := range webhook.States {
		require.Equal(t, want[state], row{
			webhook.StatusOf(state, 0), webhook.StatusOf(state, 1),
			webhook.FailureOf(state, ""), webhook.FailureOf(state, webhook.WebhookDisabled),
		}, state)
	}
}

func TestGivesUp_ADeliveryThatFailed_ButNoTest(t *testing.T) {
	t.Parallel()
	for _, state := range webhook.States {
		require.Equal(t, state == webhook.Failed, webhook.Verdict{State: state}.GivesUp(false), state)
		require.False(t, webhook.Verdict{State: state}.GivesUp(true), state)
	}
}

// A delivery is stored under this id, so another version of the program must compute the same bytes.
func TestOriginalID_DependsOnBothIDs_AndHasTheTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	event := id.ID{0x01, 0x8f, 0x31, 0x2a, 0x77, 0x01, 0x71, 0x11, 0x81, 1, 2, 3, 4, 5, 6, 7}
	original := webhook.OriginalID(event, id.ID{1})
	require.Equal(t, "018f312a-7701-7111-811d-bc8a5542f639", original.String())
	require.Equal(t, event.Time(), original.Time())
	require.NotEqual(t, original, webhook.OriginalID(event, id.ID{2}))
	event[15]++
	require.NotEqual(t, original, webhook.OriginalID(event, id.ID{1}))
}

func TestNewReport_BeginsWithTheSubscription(t *testing.T) {
	t.Parallel()
	for enabled, want := range map[bool]webhook.EndpointState{
		true: webhook.EndpointHealthy, false: webhook.EndpointDisabled,
	} {
		got := webhook.NewReport(webhook.Subscription{Enabled: enabled, CreatedAt: noon})
		require.Equal(t, webhook.Report{State: want, Since: noon}, got)
	}
}

func TestSchedule_WithoutAWait_HasNoJitter(t *testing.T) {
	t.Parallel()
	wait, ok := webhook.Schedule{0, 0}.After(1, 0, 0.99)
	require.True(t, ok)
	require.Zero(t, wait)
	wait, _ = webhook.Schedule{0, time.Second}.After(1, 0, 0)
	require.Equal(t, 900*time.Millisecond, wait)
}
