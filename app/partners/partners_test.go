//go:build !unit

package partners_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/partners"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

type bundle struct {
	*partners.Service
	kit *servicetest.Kit
}

func setup(t *testing.T) bundle {
	t.Helper()
	kit := servicetest.New(t, func(s *servicetest.Setup) {
		s.Config.Environment, s.Store.KeysKeptFor = partner.Staging, time.Nanosecond
	})
	return bundle{Service: kit.Partners, kit: kit}
}

// audited gives the audit log, oldest first, each entry as "actor action".
func (b bundle) audited(t *testing.T) (out []string) {
	t.Helper()
	rows, err := b.kit.Pool.Query(t.Context(), `SELECT actor || ' ' || action FROM audit_log ORDER BY id`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		out = append(out, s)
	}
	return out
}

func TestCreate_GivesWhatIsNeededToBegin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.Create(t.Context(), partners.NewPartner{
		Slug: "acme", Name: "Acme PMS", ContactEmail: "dev@acme.example",
		ReturnOrigins: []string{"https://PMS.acme.example/back?x=1", "http://localhost:3000"},
	})
	require.NoError(t, err)
	require.Regexp(t, `^svc_cs_`, made.ConnectSecret.Reveal())
	require.Regexp(t, `^svc_pk_test_`, made.APIKey.Reveal())

	caller, err := b.Authenticate(t.Context(), made.APIKey.Reveal(), "", "")
	require.NoError(t, err)
	require.Equal(t, made.Partner.ID, caller.Partner.ID)
	require.Equal(t, made.Key.ID, caller.Key.ID)
	shown, err := b.Show(t.Context(), "acme")
	require.NoError(t, err)
	require.Equal(t, []string{"https://pms.acme.example", "http://localhost:3000"}, shown.ReturnOrigins)
	require.True(t, shown.HasConnectSecret)
	kept, err := b.kit.Postgres.Partners.ConnectSecret(t.Context(), made.Partner.ID)
	require.NoError(t, err)
	require.True(t, kept.Equal(made.ConnectSecret.Reveal()))
	require.Equal(t, []string{"admin partner.create"}, b.audited(t))

	_, err = b.Create(t.Context(), partners.NewPartner{Slug: "acme", Name: "Another"})
	require.ErrorIs(t, err, partner.ErrSlugTaken)
	all, err := b.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestConnectSecret_RotateAndClear(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.Create(t.Context(), partners.NewPartner{Slug: "acme", Name: "Acme"})
	require.NoError(t, err)
	fresh, err := b.RotateConnectSecret(t.Context(), "acme")
	require.NoError(t, err)
	require.False(t, fresh.Equal(made.ConnectSecret.Reveal()))
	kept, err := b.kit.Postgres.Partners.ConnectSecret(t.Context(), made.Partner.ID)
	require.NoError(t, err)
	require.True(t, kept.Equal(fresh.Reveal()))
	require.NoError(t, b.ClearConnectSecret(t.Context(), "acme"))
	shown, err := b.Show(t.Context(), "acme")
	require.NoError(t, err)
	require.False(t, shown.HasConnectSecret)
	_, err = b.RotateConnectSecret(t.Context(), "nobody")
	require.ErrorIs(t, err, partner.ErrNotFound)
	require.Equal(t, []string{"admin partner.create", "admin connect_secret.rotate", "admin connect_secret.clear"},
		b.audited(t))
}

func TestKeys_CreateListRevoke(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, err := b.Create(t.Context(), partners.NewPartner{Slug: "acme", Name: "Acme"})
	require.NoError(t, err)
	key, plain, err := b.CreateKey(t.Context(), "acme", "second")
	require.NoError(t, err)
	_, err = b.Authenticate(t.Context(), "", "Bearer "+plain.Reveal(), "")
	require.NoError(t, err)

	for range 2 { // the second call changes nothing
		revoked, err := b.RevokeKey(t.Context(), id.APIKey.Of(key.ID))
		require.NoError(t, err)
		require.True(t, revoked.Revoked())
	}
	_, err = b.Authenticate(t.Context(), plain.Reveal(), "", "")
	require.ErrorIs(t, err, partner.ErrAPIKeyRevoked)
	_, err = b.Authenticate(t.Context(), made.APIKey.Reveal(), "", "")
	require.NoError(t, err)

	require.Equal(t, []string{"admin partner.create", "admin api_key.create", "admin api_key.revoke"}, b.audited(t))
	require.Zero(t, b.kit.Count("mails", ""), "a partner without a contact gets no mail")

	keys, err := b.ListKeys(t.Context(), "acme")
	require.NoError(t, err)
	require.Len(t, keys, 2)
	require.Equal(t, []any{"second", true, partners.FirstKeyName, false},
		[]any{keys[0].Name, keys[0].Revoked(), keys[1].Name, keys[1].Revoked()})
	for _, unknown := range []string{"", "nonsense", "key_01jb2m0c4f7t9y2v5r8k1p3d6g"} {
		_, err = b.RevokeKey(t.Context(), unknown)
		require.ErrorIs(t, err, partner.ErrAPIKeyNotFound)
	}
	_, _, err = b.CreateKey(t.Context(), "nobody", "x")
	require.ErrorIs(t, err, partner.ErrNotFound)
	_, _, err = b.CreateKey(t.Context(), "acme", "")
	require.Equal(t, "invalid_field", fault.Of(err).Code)
}
