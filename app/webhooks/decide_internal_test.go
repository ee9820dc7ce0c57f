package webhooks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

const hook, moved = "https://pms.example/hook", "https://pms.example/moved?key=hunter2"

var captured = []webhook.EventName{webhook.EventDepositCaptured}

func TestChanges_EachFieldIsSetAlone(t *testing.T) {
	t.Parallel()
	yes, no, to := true, false, moved
	enabled := webhook.Subscription{URL: hook, Events: webhook.EventNames, Enabled: true}
	disabled := webhook.Subscription{URL: hook, Events: webhook.EventNames, DisabledReason: webhook.DisabledByPartner}
	failed := webhook.Subscription{URL: hook, Events: webhook.EventNames, DisabledReason: webhook.DisabledByFailure}
	with := func(s webhook.Subscription, change func(*webhook.Subscription)) webhook.Subscription {
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		before webhook.Subscription
		want   SubscriptionChanges
		after  webhook.Subscription
		detail map[string]string
		ends   bool // POSTs under the state before
	}{
		"nothing": {enabled, SubscriptionChanges{}, enabled, map[string]string{}, false},
		"events": {
			enabled, SubscriptionChanges{Events: []string{"deposit.captured"}},
			with(enabled, func(s *webhook.Subscription) { s.Events = captured }),
			map[string]string{"events": "changed"}, false,
		},
		"signatures": {
			enabled, SubscriptionChanges{Signatures: []string{"svc", "standard"}},
			with(enabled, func(s *webhook.Subscription) { s.Standard = true }),
			map[string]string{"signatures": "changed"}, false,
		},
		"the URL it has": {enabled, SubscriptionChanges{URL: new(hook)}, enabled, map[string]string{"url": hook}, false},
		"another URL": {
			enabled, SubscriptionChanges{URL: &to}, with(enabled, func(s *webhook.Subscription) { s.URL = moved }),
			map[string]string{"url": "https://pms.example/moved?…"}, true,
		},
		"disabled": {
			enabled, SubscriptionChanges{Enabled: &no}, disabled, map[string]string{"enabled": "false"}, true,
		},
		"disabled again":          {disabled, SubscriptionChanges{Enabled: &no}, disabled, map[string]string{}, false},
		"disabled after failures": {failed, SubscriptionChanges{Enabled: &no}, failed, map[string]string{}, false},
		"enabled": {
			disabled, SubscriptionChanges{Enabled: &yes}, enabled, map[string]string{"enabled": "true"}, false,
		},
		"enabled after failures": {
			failed, SubscriptionChanges{Enabled: &yes}, enabled, map[string]string{"enabled": "true"}, false,
		},
		"enabled while it is": {
			enabled, SubscriptionChanges{Enabled: &yes}, enabled, map[string]string{"enabled": "true"}, false,
		},
		"another URL while it is disabled": {
			disabled, SubscriptionChanges{URL: &to}, with(disabled, func(s *webhook.Subscription) { s.URL = moved }),
			map[string]string{"url": "https://pms.example/moved?…"}, true,
		},
	} {
		sub := c.before
		require.Equal(t, c.detail, c.want.apply(&sub, webhook.Subscription{Events: captured, Standard: true}), name)
		require.Equal(t, c.after, sub, name)
		require.Equal(t, c.ends, endsOldState(c.before, sub), name)
	}
}

func TestTestEvent_TheMostSpecificOne_OfAnEnabledSubscription(t *testing.T) {
	t.Parallel()
	changed, activated := webhook.EventDepositStatusChanged, webhook.EventDepositActivated
	for name, c := range map[string]struct {
		sub  webhook.Subscription
		want webhook.EventName
		err  *fault.Error
	}{
		"all":            {webhook.Subscription{Enabled: true, Events: webhook.EventNames}, activated, nil},
		"changes alone":  {webhook.Subscription{Enabled: true, Events: []webhook.EventName{changed}}, changed, nil},
		"others":         {webhook.Subscription{Enabled: true, Events: captured}, "", webhook.ErrTestNotSubscribed},
		"disabled":       {webhook.Subscription{Events: webhook.EventNames}, "", webhook.ErrDisabled},
		"both at a time": {webhook.Subscription{Events: captured}, "", webhook.ErrDisabled},
	} {
		event, err := testEvent(c.sub)
		require.Equal(t, c.want, event, name)
		if c.err == nil {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, c.err, name)
		}
	}
}

func TestAfterFailure_AReplayLeavesOthersHalfAMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	before := webhook.Replay{ID: id.ID{1}, Redelivered: 50, Cursor: id.ID{2}, NextAt: now.Add(-time.Hour)}
	after := before
	after.NextAt = now.Add(30 * time.Second)
	require.Equal(t, after, afterFailure(before, now))
}

func TestReplayProgress_OfNoID_AsksNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "rpl_nonsense", id.Subscription.Of(id.ID{1})} {
		_, err := New(Deps{}).ReplayProgress(t.Context(), name)
		require.ErrorIs(t, err, webhook.ErrReplayNotFound, name)
	}
}

func TestFacts_OfAnEvent_AreKeptWithoutItsData(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	linked := webhookports.SetAsideEventRecord{ID: id.ID{1}, PartnerID: id.ID{3}, Name: webhook.EventOperatorLinked,
		CreatedAt: at,
		At:        at.Add(time.Second), Reason: "no such name"}
	want := map[string]string{
		"partnerId": id.Partner.Of(id.ID{3}), "event": "rental_operator.linked", "createdAt": "2026-07-01T12:00:00.000Z",
		"setAsideAt": "2026-07-01T12:00:01.000Z", "reason": "no such name",
	}
	require.Equal(t, want, factsOf(linked))
	ofADeposit := linked
	ofADeposit.Name, ofADeposit.DepositID = webhook.EventDepositExpired, id.ID{2}
	want["event"], want["depositId"] = "deposit.expired", id.Deposit.Of(id.ID{2})
	require.Equal(t, want, factsOf(ofADeposit))
}
