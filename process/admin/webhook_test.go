package admin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

// subscription adds a subscription of the partner.
func (s *staff) subscription() (webhookID string) {
	sub := webhook.Subscription{ID: servicetest.NewID(), PartnerID: s.PartnerID, URL: "https://pms.example/hook?token=x",
		Events: webhook.EventNames, Enabled: true, CreatedAt: s.Clock.Now()}
	s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, sub, "svc_whsec_a")
	})
	return id.Subscription.Of(sub.ID)
}

// An event that cannot be filed is named by the doctor, and staff put it back or drop it.
func TestEventsThatCannotBeFiled_AreListedPutBackAndDropped(t *testing.T) {
	s := newStaff(t)
	s.environ[1] = "REDIS_URL=" + redistest.EmptyDatabaseURL(t)
	for range 2 {
		e := ports.Event{ID: servicetest.NewID(), PartnerID: s.PartnerID, Name: "deposit.unheard_of", Data: []byte(`{}`),
			CreatedAt: time.Now()}
		s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Outbox.Append(ctx, e) })
		_, err := s.NewDispatchStore().SetEventAside(t.Context(), e.ID, "violates events_name_check")
		require.NoError(t, err)
	}
	type event struct{ ID, Event, PartnerID, Reason string }
	var listed struct{ Events []event }
	s.must(&listed, "outbox", "list")
	require.Len(t, listed.Events, 2)
	first, second := listed.Events[0], listed.Events[1]
	require.Regexp(t, `^evt_[0-9a-z]{26}$`, first.ID)
	require.Equal(t,
		event{first.ID, "deposit.unheard_of", id.Partner.Of(s.PartnerID), "violates events_name_check"}, first)
	doctor := s.run("doctor")
	require.Equal(t, 1, doctor.exit)
	require.Contains(t, doctor.stdout, "2 events could not be filed")

	var ended event
	s.must(&ended, "outbox", "retry", first.ID)
	require.Equal(t, first, ended)
	require.Equal(t, 1, s.Count("outbox", ""), "a dispatcher tries again")
	s.must(&ended, "outbox", "drop", "--id", second.ID)
	require.Equal(t, second, ended)
	var left struct{ Events []event }
	s.must(&left, "outbox", "list")
	require.Empty(t, left.Events)
	s.refused("event_not_set_aside: no event "+second.ID+" is set aside", "outbox", "drop", second.ID)
	require.Equal(t, 2, s.Count("audit_log", "action IN ('outbox.retry', 'outbox.drop')"))
}

// Following waits with a replay that no dispatcher makes. Interrupted, the command stops nothing.
func TestProgress_Followed_IsInterruptedAlone(t *testing.T) {
	s := newStaff(t)
	webhookID, now := s.subscription(), time.Now().UTC()
	var replay struct {
		ReplayID string
		Matched  int
	}
	s.must(&replay, "webhook", "replay", webhookID, "--from", now.Add(-time.Hour).Format(time.RFC3339), "--to",
		now.Add(time.Hour).Format(time.RFC3339))
	require.Regexp(t, `^rpl_[0-9a-z]{26}$`, replay.ReplayID)
	stderr, interrupted := s.begin("webhook", "progress", replay.ReplayID, "--follow")
	require.Eventually(t, func() bool { return stderr.String() != "" }, soon, often)
	require.Equal(t, 130, interrupted())
	require.Contains(t, stderr.String(), "the dispatchers go on with the replay")
	type progress struct {
		Made       int
		FinishedAt *string
	}
	var shown, ended progress
	s.must(&shown, "webhook", "progress", replay.ReplayID)
	require.Nil(t, shown.FinishedAt)
	s.Clock.Set(time.Now())
	_, err := s.Webhooks.ReplayJob().Run(t.Context()) // as a dispatcher does
	require.NoError(t, err)
	s.must(&ended, "webhook", "progress", replay.ReplayID, "--follow")
	require.NotNil(t, ended.FinishedAt)
}
