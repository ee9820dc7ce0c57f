//go:build !unit

package webhooks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

func TestChanges_ThatAreRefused_AreAnsweredAtOnce(t *testing.T) {
	f := newFixture(t)
	unknown, no := servicetest.NewID(), false
	_, err := f.Webhooks.Update(t.Context(), f.by, unknown, webhooks.Changes{Enabled: &no})
	require.ErrorIs(t, err, webhook.ErrNotFound)
	_, err = f.Webhooks.RotateSecret(t.Context(), f.by, unknown)
	require.ErrorIs(t, err, webhook.ErrNotFound)
	require.ErrorIs(t, f.Webhooks.Delete(t.Context(), f.by, unknown), webhook.ErrNotFound)
	require.Empty(t, f.waited())
}

// The dispatcher may use the state that a subscription had webhook.Freshness ago. A wait before the commit would be
// useless.
func TestChanges_AreCommittedBeforeTheWait(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		do        func(s *webhooks.Service, sub id.ID) error
		committed string
	}{
		"disable": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.Update(t.Context(), f.by, sub, webhooks.Changes{Enabled: new(bool)})
			return err
		}, `NOT enabled`},
		"move": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.Update(t.Context(), f.by, sub, webhooks.Changes{URL: new("https://pms.example/moved")})
			return err
		}, `url LIKE '%moved'`},
		"rotate": {func(s *webhooks.Service, sub id.ID) error {
			_, err := s.RotateSecret(t.Context(), f.by, sub)
			return err
		}, `secret <> (SELECT secret FROM webhook_subscriptions WHERE id = $2)`},
		"delete": {func(s *webhooks.Service, sub id.ID) error { return s.Delete(t.Context(), f.by, sub) },
			`deleted_at IS NOT NULL`},
	} {
		sub, looked := f.subscribe(f.by), false
		err := c.do(f.waiting(func() {
			looked = true
			var there bool
			require.NoError(t, f.Pool.QueryRow(t.Context(), `SELECT `+c.committed+
				` FROM webhook_subscriptions WHERE id = $1 AND $2::uuid IS NOT NULL`, sub, f.sub).Scan(&there), name)
			require.True(t, there, name)
		}), sub)
		require.NoError(t, err, name)
		require.True(t, looked, name)
		require.Equal(t, []time.Duration{webhook.Freshness}, f.waited(), name)
	}
}

// The audit log is kept for ever, and a partner may put a secret of its own into the query.
func TestURLs_InTheAuditLog_HaveNoQuery(t *testing.T) {
	f := newFixture(t)
	_, err := f.Webhooks.Create(t.Context(), f.by,
		webhooks.NewSubscription{URL: "https://pms.example/created?key=hunter2"},
		idempotent.Call[webhooks.WithSecret]{
			Encode: func(webhooks.WithSecret) (idempotent.Response, error) { return idempotent.Response{Code: 201}, nil }})
	require.NoError(t, err)
	_, err = f.Webhooks.Update(t.Context(), f.by, f.sub,
		webhooks.Changes{URL: new("https://pms.example/changed?key=hunter2&a=1")})
	require.NoError(t, err)
	for action, want := range map[string]string{"webhook.create": "https://pms.example/created?…",
		"webhook.update": "https://pms.example/changed?…"} {
		require.Equal(t, 1, f.Count("audit_log", "action = $1 AND detail ->> 'url' = $2", action, want), action)
	}
	require.Zero(t, f.Count("audit_log", "audit_log::text LIKE '%hunter2%'"))
}
