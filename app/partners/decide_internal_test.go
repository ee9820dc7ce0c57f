package partners

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

func value[T any](v T) *T { return &v }

// requireField checks that err is invalid_field of a field; "" for no error.
func requireField(t *testing.T, field string, err error) {
	t.Helper()
	if field == "" {
		require.NoError(t, err)
		return
	}
	require.Equal(t, "invalid_field", fault.FromError(err).Code)
	require.True(t, strings.HasPrefix(fault.FromError(err).Message, field+": "), err)
}

func TestCreate_ChecksSlugNameContactAndOrigins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    NewPartner
		env   partner.Environment
		field string
	}{
		"everything": {NewPartner{Slug: "acme", Name: "Acme", ContactEmail: "dev@acme.example",
			ReturnOrigins: []string{"https://pms.example/x"}}, partner.EnvironmentProduction, ""},
		"the fields that must": {NewPartner{Slug: "acme", Name: strings.Repeat("é", 120)}, partner.EnvironmentProduction, ""},
		"localhost, while building": {NewPartner{Slug: "acme", Name: "A", ReturnOrigins: []string{"http://localhost:3000"}},
			partner.EnvironmentStaging, ""},
		"slug, before the name": {NewPartner{Slug: "a.b"}, partner.EnvironmentStaging, "slug"},
		"no name, before contact": {NewPartner{Slug: "acme", Name: " ", ContactEmail: "x"}, partner.EnvironmentStaging,
			"name"},
		"name with a newline": {NewPartner{Slug: "acme", Name: "a\nb"}, partner.EnvironmentStaging, "name"},
		"name with a turn":    {NewPartner{Slug: "acme", Name: "\u202e"}, partner.EnvironmentStaging, "name"},
		"name with a control": {NewPartner{Slug: "acme", Name: "a\u0085b"}, partner.EnvironmentStaging, "name"},
		"name of 121 characters": {NewPartner{Slug: "acme", Name: strings.Repeat("é", 121)}, partner.EnvironmentStaging,
			"name"},
		"e-mail, before origins": {NewPartner{Slug: "acme", Name: "A", ContactEmail: "nobody",
			ReturnOrigins: []string{"x"}}, partner.EnvironmentStaging, "contact-email"},
		"origin": {NewPartner{Slug: "acme", Name: "A",
			ReturnOrigins: []string{"https://ok.example", "http://pms.example.com"}}, partner.EnvironmentStaging,
			"return-origin"},
		"localhost, in production": {NewPartner{Slug: "acme", Name: "A", ReturnOrigins: []string{"http://localhost:3000"}},
			partner.EnvironmentProduction, "return-origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.in.validate(c.env)
			requireField(t, c.field, err)
		})
	}
	origins, err := NewPartner{Slug: "acme", Name: "A",
		ReturnOrigins: []string{"https://PMS.acme.example/back?x=1",
			"http://localhost:3000"}}.validate(partner.EnvironmentStaging)
	require.NoError(t, err)
	require.Equal(t, []string{"https://pms.acme.example", "http://localhost:3000"}, origins)
}

func TestUpdate_ChecksTheFieldsThatAreGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    PartnerUpdate
		field string
	}{
		"nothing": {PartnerUpdate{}, ""},
		"everything": {PartnerUpdate{Name: value("B"), ContactEmail: value("dev@b.example"),
			ReturnOrigins: value([]string{"https://ok.example/x"})}, ""},
		"no contact any more":  {PartnerUpdate{ContactEmail: value("")}, ""},
		"name, before contact": {PartnerUpdate{Name: value(" "), ContactEmail: value("x")}, "name"},
		"contact, before the origin": {PartnerUpdate{Name: value("B"), ContactEmail: value("nobody"),
			ReturnOrigins: value([]string{"x"})}, "contact-email"},
		"origin": {PartnerUpdate{ReturnOrigins: value([]string{"https://ok.example", "http://pms.example.com"})},
			"return-origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.in.validate(partner.EnvironmentStaging)
			requireField(t, c.field, err)
		})
	}
}

func TestUpdate_NamesTheFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	before := partner.Partner{Slug: "acme", Name: "Acme", ContactEmail: "dev@acme.example",
		ReturnOrigins: []string{"https://a.example"}, RateLimitPerMinute: 7}
	for name, c := range map[string]struct {
		in     PartnerUpdate
		want   partner.Partner
		detail map[string]string
	}{
		"nothing": {PartnerUpdate{}, before, map[string]string{}},
		"the same values": {PartnerUpdate{Name: value("Acme"), ContactEmail: value("dev@acme.example"),
			ReturnOrigins: value([]string{"https://a.example"})}, before, map[string]string{}},
		"a name": {
			PartnerUpdate{Name: value("Acme PMS")},
			partner.Partner{Slug: "acme", Name: "Acme PMS", ContactEmail: "dev@acme.example",
				ReturnOrigins: []string{"https://a.example"}, RateLimitPerMinute: 7},
			map[string]string{"name": "Acme PMS", "nameBefore": "Acme"},
		},
		"contact and origins": {
			PartnerUpdate{ContactEmail: value(""), ReturnOrigins: value([]string{"https://b.example", "https://c.example"})},
			partner.Partner{Slug: "acme", Name: "Acme", ReturnOrigins: []string{"https://b.example", "https://c.example"},
				RateLimitPerMinute: 7},
			map[string]string{"contactEmail": "", "contactEmailBefore": "dev@acme.example",
				"returnOrigins": "https://b.example https://c.example", "returnOriginsBefore": "https://a.example"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := before
			require.Equal(t, c.detail, c.in.apply(&p))
			require.Equal(t, c.want, p)
		})
	}
}

func TestRulesOf_WritesCountTwice_ForEachPartner(t *testing.T) {
	t.Parallel()
	s := New(Deps{Limits: RateLimits{PerMinute: 3000, WritesPerMinute: 1200}})
	p := partner.Partner{ID: id.ID{1}, RateLimitPerMinute: 600}
	all := ports.LimitRule{Name: "default", Key: ports.PartnerLimitKey(p.ID), PerMinute: 600, Tallied: true}
	writes := ports.LimitRule{Name: "writes", Key: all.Key, PerMinute: 240, Tallied: true}
	require.Equal(t, []ports.LimitRule{all}, s.LimitRulesOf(p, false))
	require.Equal(t, []ports.LimitRule{all, writes}, s.LimitRulesOf(p, true))
	require.NotEqual(t, all.Key, s.LimitRulesOf(partner.Partner{ID: id.ID{2}}, false)[0].Key,
		"each partner has a count of its own")
}

func TestLimits_OwnAndDefault(t *testing.T) {
	t.Parallel()
	usual := RateLimits{PerMinute: 3000, WritesPerMinute: 1200}
	for name, c := range map[string]struct {
		usual RateLimits
		own   int
		want  RateLimits
	}{
		"the default":                      {usual, 0, usual},
		"the same share of writes":         {usual, 600, RateLimits{600, 240}},
		"at least a write":                 {usual, 1, RateLimits{1, 1}},
		"without a default, all may write": {RateLimits{}, 600, RateLimits{600, 600}},
		"without any":                      {RateLimits{}, 0, RateLimits{}},
	} {
		require.Equal(t, c.want, New(Deps{Limits: c.usual}).RateLimitsOf(partner.Partner{RateLimitPerMinute: c.own}), name)
	}
	for perMinute, field := range map[int]string{0: "", 1: "", 1_000_000: "", -1: "per-minute", 1_000_001: "per-minute"} {
		requireField(t, field, validRateLimit(perMinute))
	}
}

func TestRevocable_KeysOfTheCaller_Once(t *testing.T) {
	t.Parallel()
	live, revoked := partner.APIKey{}, partner.APIKey{RevokedAt: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		key     partner.APIKey
		only    *id.ID
		changes bool
		want    error
	}{
		"its own":                    {live, &id.ID{3}, true, nil},
		"its own, revoked":           {revoked, &id.ID{3}, false, nil},
		"another partner's":          {live, &id.ID{9}, false, partner.ErrAPIKeyNotFound},
		"another partner's, revoked": {revoked, &id.ID{9}, false, partner.ErrAPIKeyNotFound},
		"a caller without an id":     {live, &id.ID{}, false, partner.ErrAPIKeyNotFound},
		"any, for an admin":          {live, nil, true, nil},
		"any, revoked, for an admin": {revoked, nil, false, nil},
	} {
		changes, err := revocable(c.key, id.ID{3}, c.only)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.changes, changes, name)
	}
}

func TestAuthors_OfAKey_AnAdminOrAPartnersKey(t *testing.T) {
	t.Parallel()
	byKey := authorOf(
		partner.Caller{Partner: partner.Partner{ID: id.ID{3}}, Key: partner.APIKey{ID: id.ID{4}, Name: "first"}})
	require.Equal(t, actor.Partner(id.ID{3}, id.ID{4}), byKey.actor)
	require.Equal(t, actor.Staff, admin.actor)
}

func TestUnknownKeys_BeyondTheLimitOfANetwork_AreRefusedForASecondAtLeast(t *testing.T) {
	t.Parallel()
	require.NoError(t, tooManyUnknown(ports.LimitDecision{Allowed: true}))
	for after, want := range map[time.Duration]time.Duration{0: time.Second, time.Minute: time.Minute} {
		err := tooManyUnknown(ports.LimitDecision{RetryAfter: after})
		require.ErrorIs(t, err, fault.ErrRateLimited)
		require.Equal(t, want, fault.FromError(err).RetryAfter)
	}
}
