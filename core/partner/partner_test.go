package partner_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

func TestPresentedKey_Carriers(t *testing.T) {
	const good = "svc_pk_test_abc"
	cases := []struct {
		name, apiKey, authorization, want string
		err                               error
	}{
		{"x-api-key", good, "", good, nil},
		{"x-api-key wins", good, "Bearer svc_pk_test_other", good, nil},
		{"bearer", "", "Bearer " + good, good, nil},
		{"bearer in any case", "", "bEARER " + good, good, nil},
		{"bare", "", good, good, nil},
		{"neither", "", "", "", partner.ErrMissingAPIKey},
		{"basic", "", "Basic " + good, "", partner.ErrInvalidAPIKey},
		{"other environment", "svc_pk_live_abc", "", "", partner.ErrInvalidAPIKey},
		{"connect secret", "svc_cs_abc", "", "", partner.ErrInvalidAPIKey},
		{"wrong x-api-key is not rescued", "nonsense", "Bearer " + good, "", partner.ErrInvalidAPIKey},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := partner.APIKeyFromHeaders(partner.EnvironmentStaging, c.apiKey, c.authorization)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestNewAPIKey_IsFoundByItsHash(t *testing.T) {
	key, plain, hash := partner.NewAPIKey(id.ID{1}, id.ID{2}, partner.EnvironmentProduction, "main",
		bytes.Repeat([]byte{9}, secret.MinRandomBytes), time.Unix(0, 0))
	require.Equal(t, hash, partner.HashAPIKey(plain.Reveal()))
	require.Regexp(t, `^svc_pk_live_[A-Za-z0-9_-]{32}$`, plain.Reveal())
	require.Equal(t, plain.Reveal()[len(plain.Reveal())-4:], key.Last4)
}

func TestValidSlug(t *testing.T) {
	for s, want := range map[string]bool{"demo": true, "a": false, "a.b": false, "A-b": false, "a-1": true, "": false} {
		require.Equal(t, want, partner.ValidSlug(s), s)
	}
}

func TestRevoked_FromTheTimeOfTheRevocation(t *testing.T) {
	require.False(t, partner.APIKey{}.Revoked())
	require.True(t, partner.APIKey{RevokedAt: time.Unix(1, 0)}.Revoked())
}
