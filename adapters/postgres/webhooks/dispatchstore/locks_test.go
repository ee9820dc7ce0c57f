package dispatchstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	webhookports "partnerdeposits/ports/webhooks"
)

// Requests for tests, redeliveries and replays lock their subscription, and a partner can send many. The relay works
// for all partners, so it does not wait for that lock. A change of the subscription waits.
func TestRelay_BesideARequestThatHoldsASubscription_GoesOn(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := dispatchOver(t, pool.Config().ConnString())
	claim, partnerID := claimed(t, store, s, 1)[0], id.ID{}
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT partner_id FROM webhook_subscriptions`).Scan(&partnerID))
	for name, hold := range map[string]func(ctx context.Context) error{
		"test": func(ctx context.Context) error {
			_, err := store.Subscriptions.LockRowShared(ctx, partnerID, claim.SubscriptionID)
			return err
		},
		"redelivery": func(ctx context.Context) error {
			copies := []webhookports.Redelivery{{Of: claim.DeliveryID, As: portstest.NewID()}}
			_, err := store.Deliveries.InsertRedeliveries(ctx, claim.SubscriptionID, copies)
			return err
		},
		"replay": func(ctx context.Context) error {
			r, err := webhook.NewReplay(portstest.NewID(), claim.SubscriptionID, time.Now().Add(-time.Hour), time.Now(), "",
				time.Now())
			if err == nil {
				_, err = store.Subscriptions.LockRowShared(ctx, partnerID, claim.SubscriptionID)
			}
			return errors.Join(err, store.Replays.Insert(ctx, r, webhook.MaxUnfinishedReplays))
		},
	} {
		storetest.RunInTransaction(t, store, func(ctx context.Context, _ *postgres.Store) error {
			if err := hold(ctx); err != nil {
				return err
			}
			appended(t, store, partnerID)
			brief, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			relayed, _, err := s.Relay(brief, 1, time.Hour, nothing)
			require.NoError(t, err, name)
			require.Equal(t, 1, relayed, name)
			_, err = pool.Exec(t.Context(), `SELECT FROM webhook_subscriptions WHERE id = $1 FOR UPDATE NOWAIT`,
				claim.SubscriptionID)
			require.ErrorContains(t, err, "could not obtain lock", name)
			return nil
		})
	}
}
