package admin

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

type shownPartner struct {
	Slug, Name, ContactEmail  string
	ReturnOrigins             []string
	HasConnectSecret, Changed bool
	RateLimitPerMinute        *int
	Keys                      []shownKey
}

type shownKey struct{ ID, Name, Last4, RevokedAt string }

func TestPartner_IsCreatedChangedAndShown(t *testing.T) {
	s := newStaff(t)
	var made struct{ PartnerID, Slug, ConnectSecret, APIKey string }
	s.must(&made, "partner", "create", "--slug", "acme", "--name", "Acme Stays")
	require.Regexp(t, `^prt_[0-9a-z]{26} acme svc_cs_\S+ svc_pk_test_\S+$`,
		made.PartnerID+" "+made.Slug+" "+made.ConnectSecret+" "+made.APIKey)
	_, err := s.Partners.Authenticate(t.Context(), made.APIKey, "", "192.0.2.1")
	require.NoError(t, err)
	var all struct{ Partners []shownPartner }
	s.must(&all, "partner", "list")
	require.Len(t, all.Partners, 2)
	secrets := map[string]bool{}
	for _, p := range all.Partners {
		secrets[p.Slug] = p.HasConnectSecret
	}
	require.Equal(t, map[string]bool{"demo": false, "acme": true}, secrets)

	var limit struct{ PerMinute int }
	s.must(&limit, "partner", "rate-limit", "acme", "--per-minute", "77")
	require.Equal(t, 77, limit.PerMinute)
	var shown, updated, again shownPartner
	s.must(&shown, "partner", "show", "--partner", "acme")
	require.Equal(t, 77, *shown.RateLimitPerMinute)
	require.Len(t, shown.Keys, 1)
	require.Equal(t, []string{"default", made.APIKey[len(made.APIKey)-4:]},
		[]string{shown.Keys[0].Name, shown.Keys[0].Last4})

	s.must(&updated, "partner", "update", "acme", "--name", "Acme PMS", "--contact-email", "dev@acme.example",
		"--return-origin", "https://a.example/x", "--return-origin", "https://b.example")
	require.Equal(t, []any{"Acme PMS", "dev@acme.example", []string{"https://a.example", "https://b.example"}, true},
		[]any{updated.Name, updated.ContactEmail, updated.ReturnOrigins, updated.Changed})
	s.must(&shown, "partner", "show", "acme")
	require.Equal(t, []any{"Acme PMS", "dev@acme.example", updated.ReturnOrigins, 77},
		[]any{shown.Name, shown.ContactEmail, shown.ReturnOrigins, *shown.RateLimitPerMinute})
	s.must(&updated, "partner", "update", "acme", "--contact-email", "", "--return-origin", "")
	require.Equal(t, []any{"Acme PMS", "", []string{}}, []any{updated.Name, updated.ContactEmail, updated.ReturnOrigins})
	s.must(&again, "partner", "update", "acme", "--name", "Acme PMS")
	require.False(t, again.Changed)
	require.Equal(t, map[string]int{"partner.create": 1, "partner.rate_limit": 1, "partner.update": 2},
		s.actions(made.PartnerID))
}

func TestKeys_AreCreatedListedAndRevoked(t *testing.T) {
	s := newStaff(t)
	var key struct{ ID, Key string }
	var ended shownKey
	s.must(&key, "key", "create", "demo", "--name", "first")
	s.must(&key, "key", "create", "--partner", "demo", "--name", "second")
	for range 2 { // the second time changes nothing
		s.must(&ended, "key", "revoke", key.ID)
		require.NotEmpty(t, ended.RevokedAt)
	}
	require.Equal(t, map[string]int{"api_key.create": 1, "api_key.revoke": 1}, s.actions(key.ID))
	require.Zero(t, s.Count("mails", "subject LIKE '%API key%'"), "a partner without a contact gets no mail")
	_, err := s.Partners.Authenticate(t.Context(), key.Key, "", "192.0.2.1")
	require.ErrorIs(t, err, partner.ErrAPIKeyRevoked)
	var listed struct{ Keys []shownKey }
	s.must(&listed, "key", "list", "demo")
	require.Len(t, listed.Keys, 2)
	require.Equal(t, ended, listed.Keys[0], "the newest first")
	require.Empty(t, listed.Keys[1].RevokedAt)
}

func TestConnectSecret_IsRotatedAndCleared_AndConnectURLsFollow(t *testing.T) {
	s := newStaff(t)
	var made, fresh struct{ PartnerID, ConnectSecret string }
	s.must(&made, "partner", "create", "--slug", "acme", "--name", "Acme")
	read := func(raw string) (connections.ConnectParams, connections.SignUpPrefill) {
		u, err := url.Parse(raw)
		require.NoError(t, err)
		request, prefill, connected := connections.ParseConnectQuery(u.RawQuery)
		require.True(t, connected, raw)
		return request, prefill
	}
	verify := func(raw string) error {
		request, _ := read(raw)
		_, err := s.Connections.VerifyURL(t.Context(), request)
		return err
	}
	link := func() string {
		var signed struct{ URL string }
		s.must(&signed, "connect-url", "acme", "--external-id", "a.b +&ü", "--email", "o@villa.example", "--name", "N & Co",
			"--return-url", "https://pms.example/?a=1&b")
		return signed.URL
	}
	old := link()
	require.NoError(t, verify(old))
	request, prefill := read(old)
	require.NoError(t, request.URLParams.Verify(secret.Text(made.ConnectSecret), s.Clock.Now()))
	require.Equal(t, []string{"a.b +&ü", "https://pms.example/?a=1&b"}, []string{request.ExternalID, request.ReturnURL})
	require.Equal(t, connections.SignUpPrefill{Email: "o@villa.example", Name: "N & Co"}, prefill)
	s.must(&fresh, "connect-secret", "rotate", "acme")
	require.Regexp(t, `^svc_cs_`, fresh.ConnectSecret)
	require.ErrorIs(t, verify(old), connect.ErrInvalidSignature)
	require.NoError(t, verify(link()))
	request, _ = read(link())
	require.NoError(t, request.URLParams.Verify(secret.Text(fresh.ConnectSecret), s.Clock.Now()))
	s.must(&struct{}{}, "connect-secret", "clear", "--partner", "acme")
	require.ErrorIs(t, verify(old), connect.ErrMissingConnectSecret)
	s.refused("missing_connect_secret: ", "connect-url", "acme", "--external-id", "x")
	require.Equal(t, map[string]int{"partner.create": 1, "connect_secret.rotate": 1, "connect_secret.clear": 1},
		s.actions(made.PartnerID))
}

func TestAccounts_AreShownByEveryName_AndTheirLinksEnd(t *testing.T) {
	s := newStaff(t)
	accountID := id.Account.Of(s.AccountID)
	var all struct {
		Accounts []struct{ AccountID, CompanyName string }
	}
	s.must(&all, "account", "list")
	require.Len(t, all.Accounts, 1)
	require.Equal(t, accountID, all.Accounts[0].AccountID)
	var ceiling struct{ MaxAmountCents int }
	for euros, want := range map[string]int{"4000.00": 400_000, "0": 250_000} {
		s.must(&ceiling, "account", "ceiling", accountID, "--max-eur", euros)
		require.Equal(t, want, ceiling.MaxAmountCents)
	}

	type view struct{ AccountID, OperatorID, Email, Partner, ExternalID string }
	var shown view
	s.must(&shown, "account", "show", accountID)
	require.Equal(t, []string{accountID, "demo", "ext-1"}, []string{shown.AccountID, shown.Partner, shown.ExternalID})
	for _, args := range [][]string{{shown.Email}, {shown.OperatorID}, {"ext-1", "--partner", "demo"},
		{"--account", accountID}} {
		var same view
		s.must(&same, append([]string{"account", "show"}, args...)...)
		require.Equal(t, shown, same, args)
	}
	s.CreatePartner("other")
	s.refused("account_not_found: ", "link", "revoke", "other", accountID)
	for _, want := range []bool{true, false} {
		var revoked struct{ Changed bool }
		s.must(&revoked, "link", "revoke", "demo", accountID)
		require.Equal(t, want, revoked.Changed)
	}
	var after view
	s.must(&after, "account", "show", accountID)
	require.Empty(t, after.Partner)
	require.Equal(t, 1, s.Count("account_links", "revoked_by = 'admin'"))
	require.Equal(t, map[string]int{"account.ceiling": 2, "link.revoke": 1}, s.actions(accountID))
	told := s.ListMails(shown.Email)
	require.Len(t, told, 1)
	require.Contains(t, told[0].Body, "by our support")
}

// Every refusal is a sentence with a code, and names what a member of staff typed.
func TestRefusals_SayCodeAndMessage(t *testing.T) {
	s := newStaff(t)
	for want, lines := range map[string][][]string{
		"partner_slug_taken: ":      {{"partner", "create", "--slug", "demo", "--name", "Again"}},
		"invalid_field: slug":       {{"partner", "create", "--slug", "A.b", "--name", "Dots"}},
		"invalid_field: name":       {{"key", "create", "demo", "--name", ""}},
		"api_key_not_found: ":       {{"key", "revoke", "--id", "key_nonsense"}},
		"invalid_field: max-eur: ":  {{"account", "ceiling", "acct" + nobody, "--max-eur", "lots"}},
		"invalid_field: email":      {{"connect-url", "demo", "--external-id", "x", "--email", "nobody"}},
		"invalid_field: return-url": {{"connect-url", "demo", "--external-id", "x", "--return-url", "http://far.example"}},
		"invalid_field: external-id": {{"connect-url", "--partner", "demo",
			"--external-id", ""}},
		"invalid_field: max-eur: must be 0 or between 70.00 and 100000.00": {
			{"account", "ceiling", "acct" + nobody, "--max-eur", "69.99"},
			{"account", "ceiling", "acct" + nobody, "--max-eur", "100000.01"}},
		"partner_not_found: There is no such partner. `admin partner list` lists them all.": {
			{"partner", "show", "nobody"}, {"webhook", "probe", "--partner", "nobody"},
			{"connect-url", "nobody", "--external-id", "x"}, {"link", "revoke", "nobody", "acct" + nobody},
			{"connect-secret", "rotate", "nobody"}, {"partner", "update", "nobody", "--name", "B"},
			{"key", "create", "nobody", "--name", "x"}},
		"account_not_found: There is no such account, or it was never linked to demo. `admin account show": {
			{"link", "revoke", "demo", "acct" + nobody}},
		"account_not_found: ": {{"account", "show", "acct" + nobody}, {"account", "show", "opr" + nobody},
			{"account", "show", "nobody@example.com"}, {"account", "show", "nonsense"},
			{"operator", "show", "opr_01jzzzzzzzzzzzzzzzzzzzzzzz"}, {"operator", "reset", "nobody@villa.example"}},
		"deposit_not_found: ": {{"deposit", "show", "dep" + nobody}, {"deposit", "show", "D-7K3M-9Q2X"},
			{"deposit", "show", "'; DROP TABLE deposits"}, {"deposit", "show", "acct" + nobody},
			{"deposit", "erase-text", "acct" + nobody}, {"collection", "show", "dep_nobody"}},
		"client_not_found: ": {{"client", "show", "cli" + nobody}, {"client", "show", "nobody@example.com"},
			{"client", "show", "nonsense"}},
		"webhook_not_found: ": {{"webhook", "show", "pwh" + nobody}, {"webhook", "show", "nonsense"},
			{"webhook", "probe", "pwh_nonsense"}, {"webhook", "replay", "nonsense", "--from", "2026-08-01T16:00:00Z", "--to",
				"2026-08-01T17:00:00Z"}},
		"delivery_not_found: ": {{"delivery", "show", "dlv" + nobody}, {"delivery", "show", "nonsense"}},
		"event_not_found: ":    {{"event", "show", "evt" + nobody}, {"event", "show", "nonsense"}},
		"wrong_usage: ":        {{"collection", "list", "--state", "lost"}},
		"invalid_period: ": {{"payments", "reconcile", "--from", "2026-08-02T00:00:00Z",
			"--to", "2026-08-01T00:00:00Z"}},
		"invalid_date_range: to: ": {{"webhook", "replay", s.subscription(), "--from", "2026-08-01T16:00:00Z",
			"--to", "2026-08-01T17:00:00+02:00"}},
		"event_not_set_aside: no ev": {{"outbox", "drop", "evt" + nobody}, {"outbox", "retry", "evt" + nobody}},
	} {
		for _, args := range lines {
			s.refused(want, args...)
		}
	}
	got := s.run("partner", "show", "--partner", "nobody")
	require.Equal(t, ran{1, "", "partner_not_found: There is no such partner. `admin partner list` lists them all.\n"}, got)
	for _, name := range []string{"req" + nobody, "dep" + nobody} {
		require.Equal(t, ran{0, "{\"entries\":[]}\n", ""}, s.run("audit", "show", name, "--json"), "an action on nothing")
	}
}
