//go:build !unit

package partners_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

func pointer[T any](v T) *T { return &v }

func (b bundle) lastDetail(t *testing.T) (detail map[string]string) {
	t.Helper()
	var text string
	require.NoError(t,
		b.kit.Pool.QueryRow(t.Context(), `SELECT detail::text FROM audit_log ORDER BY id DESC LIMIT 1`).Scan(&text))
	require.NoError(t, json.Unmarshal([]byte(text), &detail))
	return detail
}

func TestUpdate_ChangesTheGivenFields_AndAuditsThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.Create(t.Context(), partners.NewPartner{
		Slug: "acme", Name: "Acme", ContactEmail: "dev@acme.example", ReturnOrigins: []string{"https://pms.acme.example"},
	})
	require.NoError(t, err)
	require.NoError(t, b.SetRateLimit(t.Context(), "acme", 77))

	got, changed, err := b.Update(t.Context(), "acme", partners.PartnerUpdate{Name: pointer("Acme PMS")})
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, []any{made.Partner.ID, "Acme PMS", "dev@acme.example", 77},
		[]any{got.ID, got.Name, got.ContactEmail, got.RateLimitPerMinute})
	require.Equal(t, map[string]string{"name": "Acme PMS", "nameBefore": "Acme"}, b.lastDetail(t))

	_, _, err = b.Update(t.Context(), "acme", partners.PartnerUpdate{
		ContactEmail: pointer(""), ReturnOrigins: pointer([]string{"https://New.acme.example/path", "http://localhost:3000"}),
	})
	require.NoError(t, err)
	shown, err := b.Show(t.Context(), "acme")
	require.NoError(t, err)
	require.Equal(t, partner.Partner{
		ID: made.Partner.ID, Slug: "acme", Name: "Acme PMS",
		ReturnOrigins:      []string{"https://new.acme.example", "http://localhost:3000"},
		RateLimitPerMinute: 77, HasConnectSecret: true, CreatedAt: shown.CreatedAt,
	}, shown)
	require.Equal(t, map[string]string{
		"contactEmail": "", "contactEmailBefore": "dev@acme.example",
		"returnOrigins": "https://new.acme.example http://localhost:3000", "returnOriginsBefore": "https://pms.acme.example",
	}, b.lastDetail(t))

	_, changed, err = b.Update(t.Context(), "acme",
		partners.PartnerUpdate{ReturnOrigins: &[]string{"https://new.acme.example", "http://localhost:3000"}})
	require.NoError(t, err)
	require.False(t, changed, "the same values change nothing")
	_, _, err = b.Update(t.Context(), "acme", partners.PartnerUpdate{Name: pointer("B"), ContactEmail: pointer("nobody")})
	require.ErrorIs(t, err, fault.ErrInvalidField)
	_, _, err = b.Update(t.Context(), "nobody", partners.PartnerUpdate{Name: pointer("B")})
	require.ErrorIs(t, err, partner.ErrNotFound)
	require.Equal(t, []string{"admin partner.create", "admin partner.rate_limit", "admin partner.update",
		"admin partner.update"}, b.audited(t))
	require.Equal(t, 4, b.kit.Count("audit_log", "subject = $1", id.Partner.Of(made.Partner.ID)))
}
