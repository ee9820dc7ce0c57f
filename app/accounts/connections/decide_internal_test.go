package connections

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

var at = time.Unix(1_790_000_000, 0)

func in(env partner.Environment) *Service { return &Service{deps: Deps{Environment: env}} }

func TestRefused_TellsTheRulesFromOtherErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]*fault.Error{
		nil: nil, errors.New("broken"): nil, connect.ErrURLExpired: nil,
		connect.ErrAlreadyLinked: connect.ErrAlreadyLinked, connect.ErrExternalIDConflict: connect.ErrExternalIDConflict,
	} {
		refusal, ok := refused(err)
		require.Equal(t, want != nil, ok, "%v", err)
		require.Equal(t, want, refusal)
	}
}

func TestOffer_IsRefusedByTheAccountsLinkFirst_ThenByThatOfTheExternalID(t *testing.T) {
	t.Parallel()
	other := &connect.Link{ID: id.ID{1}}
	for name, c := range map[string]struct {
		decided error
		other   *connect.Link
		want    *fault.Error
	}{
		"nothing rules it out":                   {nil, nil, nil},
		"linked to another partner":              {connect.ErrAlreadyLinked, nil, connect.ErrAlreadyLinked},
		"linked under another number":            {connect.ErrExternalIDConflict, nil, connect.ErrExternalIDConflict},
		"the number is another's":                {nil, other, connect.ErrExternalIDConflict},
		"linked elsewhere, and number another's": {connect.ErrAlreadyLinked, other, connect.ErrAlreadyLinked},
	} {
		require.Equal(t, c.want, refusalOf(c.decided, c.other), name)
	}
}

func TestRevocation_ByTheOperator_EndsTheLinkThatWasSeen(t *testing.T) {
	t.Parallel()
	r := revocation{partner: partner.Partner{ID: id.ID{3}}, by: connect.RevokedByOperator, only: id.ID{1}}
	require.True(t, r.ends(&connect.Link{ID: id.ID{1}}))
	require.False(t, r.ends(&connect.Link{ID: id.ID{2}}), "made since then")
	require.False(t, r.ends(nil))
	require.Equal(t, map[string]string{"partnerId": id.Partner.Of(id.ID{3}), "by": "operator"}, r.detail())
}

func TestCeiling_IsTheDefaultOrBetweenTheBounds(t *testing.T) {
	t.Parallel()
	for maximum, want := range map[money.Cents]error{
		0: nil, 7_000: nil, 400_000: nil, 10_000_000: nil,
		-1: fault.ErrInvalidField, 1: fault.ErrInvalidField, 6_999: fault.ErrInvalidField, 10_000_001: fault.ErrInvalidField,
	} {
		require.ErrorIs(t, validCeiling(maximum), want, maximum)
	}
	require.Equal(t, deposit.DefaultMaxAmount, AccountView{}.DepositCeiling())
	require.Equal(t, money.Cents(400_000), AccountView{Account: connect.Account{MaxAmountCents: 400_000}}.DepositCeiling())
}

func TestConnectURL_ForWhatThePagesWouldRefuse_IsNotMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env     partner.Environment
		request ConnectURLRequest
		want    error
		field   string
	}{
		"good": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "a.b +&ü",
			Email: "a@b.example", Name: "N & Co", ReturnURL: "https://pms.example/?a=1&b"}, nil, ""},
		"the parts that must": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x"}, nil, ""},
		"localhost, while building": {partner.EnvironmentDevelopment,
			ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x", ReturnURL: "http://localhost/"}, nil, ""},
		"no slug": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "no.slug"}, connect.ErrPartnerNotFound, ""},
		"no id":   {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo"}, fault.ErrInvalidField, "externalId"},
		"long id": {partner.EnvironmentProduction,
			ConnectURLRequest{PartnerSlug: "demo", ExternalID: strings.Repeat("x", 256)}, fault.ErrInvalidField, "externalId"},
		"zero byte": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "\x00"},
			fault.ErrInvalidField, "externalId"},
		"no UTF-8": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "\xff"},
			fault.ErrInvalidField, "externalId"},
		"e-mail": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x", Email: "nope"},
			fault.ErrInvalidField, "email"},
		"name of two lines": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x", Name: "a\nb"},
			fault.ErrInvalidField, "name"},
		"localhost, in production": {partner.EnvironmentProduction, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x",
			ReturnURL: "http://localhost/"}, fault.ErrInvalidField, "returnUrl"},
		"javascript:": {partner.EnvironmentDevelopment, ConnectURLRequest{PartnerSlug: "demo", ExternalID: "x",
			ReturnURL: "javascript:alert(1)"}, fault.ErrInvalidField, "returnUrl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := in(c.env).checkURLRequest(c.request)
			require.ErrorIs(t, err, c.want)
			if c.field != "" {
				require.True(t, strings.HasPrefix(fault.FromError(err).Message, c.field+": "), err)
			}
		})
	}
}

func TestReturn_OfAURLThatIsAllowed_IsDirectWhereThePartnerRegisteredIt(t *testing.T) {
	t.Parallel()
	p := partner.Partner{ReturnOrigins: []string{"https://pms.example"}}
	for name, c := range map[string]struct {
		env     partner.Environment
		raw     string
		allowed bool
		direct  bool
	}{
		"registered":                {partner.EnvironmentProduction, "https://pms.example/back?x=1", true, true},
		"not registered":            {partner.EnvironmentProduction, "https://other.example/", true, false},
		"not registered, elsewhere": {partner.EnvironmentStaging, "https://other.example/", true, true},
		"localhost, in production":  {partner.EnvironmentProduction, "http://localhost/", false, false},
		"localhost, elsewhere":      {partner.EnvironmentDevelopment, "http://localhost/", true, true},
		"none":                      {partner.EnvironmentProduction, "", false, false},
	} {
		got := in(c.env).allowedReturn(c.raw, p)
		require.Equal(t, c.allowed, got != nil, name)
		if got != nil {
			require.Equal(t, c.direct, got.Direct, name)
		}
	}
}

func TestReturnURL_CarriesTheSignedResult(t *testing.T) {
	t.Parallel()
	const key = secret.Text("svc_cs_test")
	v := VerifiedConnectURL{ExternalID: "op 1", connectSecret: key, Return: &ReturnURL{raw: "https://pms.example/?a=1"}}
	for name, c := range map[string]struct {
		outcome connect.LinkResult
		account id.ID
		code    string
	}{
		"linked": {connect.OutcomeLinked, id.ID{2}, ""}, "linked before": {connect.OutcomeAlreadyLinked, id.ID{2}, ""},
		"refused": {connect.OutcomeFailed, id.ID{}, "account_already_linked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(v.returnURL(c.outcome, c.account, c.code, at))
			require.NoError(t, err)
			account := ""
			if !c.account.IsZero() {
				account = id.Account.Of(c.account)
			}
			want := url.Values{
				"a": {"1"}, "connectStatus": {string(c.outcome)}, "accountId": {account}, "externalId": {"op 1"},
				"returnTs":  {"1790000000"},
				"returnSig": {connect.SignReturnURL(key, c.outcome, account, "1790000000", "op 1")},
			}
			if c.code != "" {
				want.Set("connectError", c.code)
			}
			require.Equal(t, want, u.Query())
		})
	}
	require.Empty(t, VerifiedConnectURL{}.returnURL(connect.OutcomeLinked, id.ID{2}, "", at),
		"the operator ends on the desk")
}

func TestResults_OfALinkAndOfARefusal(t *testing.T) {
	t.Parallel()
	v, session := VerifiedConnectURL{ExternalID: "x"}, SignInResult{Token: "t"}
	require.Equal(t, ConnectResult{Verified: v, SignedIn: session, Outcome: connect.OutcomeLinked},
		v.linked(connect.OutcomeLinked, id.ID{2}, session, at))
	require.Equal(t, ConnectResult{Verified: v, SignedIn: session, Outcome: connect.OutcomeFailed,
		Refusal: connect.ErrAlreadyLinked,
		Sides:   LinkConflict{LinkedPartner: "P"}},
		v.refused(connect.ErrAlreadyLinked, LinkConflict{LinkedPartner: "P"}, session, at))
}

func TestQuery_ReadsEachParameterOnce(t *testing.T) {
	t.Parallel()
	r, prefill, connected := ParseConnectQuery("partner=a&external_id=b%20c&ts=1&sig=s&return_url=u&email=e&name=n")
	require.True(t, connected)
	require.Equal(t, connect.URLParams{Partner: "a", ExternalID: "b c", TS: "1", Sig: "s"}, r.URLParams)
	require.Equal(t, "u", r.ReturnURL)
	require.Equal(t, SignUpPrefill{Email: "e", Name: "n"}, prefill)
	for _, raw := range []string{"", "x=1", "email=e&name=n", "&&=", "lang=fr", "%zz=1"} {
		_, _, connected := ParseConnectQuery(raw)
		require.False(t, connected, raw)
	}
	for _, raw := range []string{"sig", "ts=", "partner=%zz", "external%5fid=1", "return_url=x"} {
		_, _, connected := ParseConnectQuery(raw)
		require.True(t, connected, raw)
	}
	r, _, _ = ParseConnectQuery("ts=1&ts=1&sig=%zz&external_id=a%00&partner=%ff")
	require.Equal(t, connect.URLParams{}, r.URLParams)
}
