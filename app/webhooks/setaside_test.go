//go:build !unit

package webhooks_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// setAside puts an event on the outbox and aside, as a dispatcher does.
func setAside(t *testing.T, kit *servicetest.Kit, partnerID id.ID) ports.Event {
	t.Helper()
	e := ports.Event{ID: servicetest.NewID(), PartnerID: partnerID, Name: webhook.DepositExpired,
		DepositID: servicetest.NewID(), Data: []byte(`{"a":1}`), CreatedAt: time.Now()}
	kit.Write(func(ctx context.Context, r *postgres.Store) error { return r.Outbox.Append(ctx, e) })
	moved, err := kit.DispatchStore().SetAside(t.Context(), e.ID, "no such name\x00")
	require.NoError(t, err)
	require.True(t, moved)
	return e
}

// audited gives the action and detail of the only audit entry about an event.
func audited(t *testing.T, kit *servicetest.Kit, eventID string) (action string, detail map[string]string) {
	t.Helper()
	var raw []byte
	require.NoError(t, kit.Pool.QueryRow(t.Context(),
		`SELECT action, detail FROM audit_log WHERE subject = $1 AND actor = 'admin'`, eventID).Scan(&action, &raw))
	require.NoError(t, json.Unmarshal(raw, &detail))
	return action, detail
}

func TestRetrySetAside_PutsTheEventBackOnTheOutbox_AndTheAuditLogKeepsIt(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	p := kit.Partner("acme")
	e, other := setAside(t, kit, p.ID), setAside(t, kit, p.ID)
	listed, err := kit.Webhooks.ListSetAside(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, []id.ID{e.ID, other.ID}, []id.ID{listed[0].ID, listed[1].ID}, "the oldest first")
	require.Equal(t, "no such name�", listed[0].Reason)

	eventID := id.Event.Of(e.ID)
	_, err = kit.Webhooks.RetrySetAside(t.Context(), eventID)
	require.NoError(t, err)
	var got []ports.Event
	_, _, err = kit.DispatchStore().Relay(t.Context(), 10, time.Minute,
		func(events []ports.Event, _ []webhookports.Subscription) []webhookports.Delivery {
			got = events
			return nil
		}, nil)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, e.Data, got[0].Data)
	require.Equal(t, e.ID, got[0].ID)
	action, detail := audited(t, kit, eventID)
	require.Equal(t, "outbox.retry", action)
	require.Equal(t, id.Deposit.Of(e.DepositID), detail["depositId"])
	require.Equal(t, "deposit.expired", detail["event"])

	_, err = kit.Webhooks.RetrySetAside(t.Context(), eventID)
	require.ErrorIs(t, err, webhookports.ErrNotSetAside, "an event is put back once")
}

func TestDropSetAside_DeletesTheEvent_AndTheAuditLogKeepsItsFactsWithoutItsData(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	e := setAside(t, kit, kit.Partner("acme").ID)
	eventID := id.Event.Of(e.ID)
	dropped, err := kit.Webhooks.DropSetAside(t.Context(), eventID)
	require.NoError(t, err)
	require.Equal(t, e.Name, dropped.Name)
	listed, err := kit.Webhooks.ListSetAside(t.Context())
	require.NoError(t, err)
	require.Empty(t, listed)
	action, detail := audited(t, kit, eventID)
	require.Equal(t, "outbox.drop", action)
	require.Equal(t, "no such name�", detail["reason"])
	require.NotContains(t, detail, "data")
	for _, unknown := range []string{eventID, "evt_nonsense", ""} {
		_, err = kit.Webhooks.DropSetAside(t.Context(), unknown)
		require.ErrorIs(t, err, webhookports.ErrNotSetAside)
	}
}
