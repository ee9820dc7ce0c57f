package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	operatordeposits "partnerdeposits/app/deposits"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/connecttest"
)

// unverifiedDesk is a desk whose operator has not opened the mail of the sign-up.
func unverifiedDesk(t *testing.T) (s *connecttest.Server, b *connecttest.Browser, references []string) {
	t.Helper()
	t.Parallel()
	s = connecttest.New(t, connecttest.Options{Mails: true})
	p := s.CreatePartner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	return s, b, deposits(t, s, p, account, 4)
}

func TestUnverified_NeitherChargesNorMailsATenant(t *testing.T) {
	s, b, made := unverifiedDesk(t)
	secured(t, s, made[0], time.Hour)
	secured(t, s, made[1], time.Hour)
	refusedClaim(t, s, made[3])
	change(t, s, `UPDATE collections SET asked_at = NULL`)
	known(t, s, made[2], "t@x.example")
	ticked := strings.TrimPrefix(pathOf(t, s, made[2]), "/dashboard/deposits/")
	token := b.Get("/dashboard").InputAttribute("csrf_token", "value")
	sent := s.Count("mails", "")
	for _, c := range []struct {
		path   string
		fields url.Values
	}{
		{pathOf(t, s, made[0]), url.Values{"intent": {"capture"}, "amount": {"80"}}},
		{pathOf(t, s, made[2]), url.Values{"intent": {"send_link"}, "email": {"x@y.example"}}},
		{pathOf(t, s, made[3]), url.Values{"intent": {"remind"}}},
		{"/dashboard/deposits", url.Values{"intent": {"send_links"}, "deposit": {ticked}}},
		{"/dashboard/deposits", url.Values{"intent": {"remind_all"}, "deposit": {ticked}}},
		{"/dashboard/deposits/new", url.Values{"intent": {"create"}, "amount": {"300"}, "startsOn": {"2031-07-01"},
			"endsOn": {"2031-07-02"}, "email": {"x@y.example"}}},
	} {
		c.fields.Set("csrf_token", token)
		for _, confirm := range []string{"", "yes"} {
			c.fields.Set("confirm", confirm)
			refused := b.Post(c.path, c.fields)
			require.Equal(t, http.StatusForbidden, refused.Status, "%s %v", c.path, c.fields)
			require.Equal(t, "email_not_verified", refused.ErrorCode())
			require.Contains(t, refused.Body, `value="resend_verification"`, "the page offers the mail")
		}
	}
	require.Equal(t, sent, s.Count("mails", ""))
	require.Equal(t, 4, s.Count("deposits", ""))
	require.Equal(t, deposit.Active, depositOf(t, s, made[0]).Status)

	for path, fields := range map[string]url.Values{
		pathOf(t, s, made[1]): {"intent": {"release"}, "confirm": {"yes"}},
		pathOf(t, s, made[2]): {"intent": {"cancel"}, "confirm": {"yes"}},
		pathOf(t, s, made[3]): {"intent": {"withdraw_claim"}, "confirm": {"yes"}},
		"/dashboard/deposits/new": {"intent": {"create"}, "amount": {"300"}, "startsOn": {"2031-07-01"},
			"endsOn": {"2031-07-02"}},
	} {
		fields.Set("csrf_token", token)
		require.Equal(t, http.StatusSeeOther, b.Post(path, fields).Status, "what neither charges nor mails works: %s", path)
	}
}

// The use cases refuse too, whichever page calls them.
func TestUnverified_IsRefusedByTheUseCases(t *testing.T) {
	s, _, made := unverifiedDesk(t)
	secured(t, s, made[0], time.Hour)
	o, a, err := s.Postgres.Operators.OperatorByEmail(t.Context(), "a@b.example")
	require.NoError(t, err)
	by, amount := operatordeposits.OperatorCaller{Operator: o, Account: a}, depositOf(t, s, made[0]).Amount
	active, pending := depositOf(t, s, made[0]), depositOf(t, s, made[1])
	capture := func(by operatordeposits.OperatorCaller) error {
		return s.Services.Deposits.CaptureByOperator(t.Context(), by,
			operatordeposits.ActForm{DepositID: active.ID, Version: active.Version, Key: [16]byte{1}},
			operatordeposits.CaptureRequest{DepositID: active.ID, Amount: &amount}, operatordeposits.TwoFactorProof{})
	}
	send := func(by operatordeposits.OperatorCaller) error {
		return s.Services.Deposits.SendLinkByOperator(t.Context(), by, operatordeposits.ActForm{DepositID: pending.ID,
			Version: pending.Version, Key: [16]byte{2}}, tenant.MailContact{Email: "x@y.example"})
	}
	create := func(by operatordeposits.OperatorCaller) error {
		now := s.Clock.Now()
		_, err := s.Services.Deposits.CreateByOperator(t.Context(), by, operatordeposits.OperatorDeposit{
			Draft:  deposit.Draft{Amount: 30_000, ContractStartAt: now, ContractEndAt: now.Add(time.Hour)},
			Tenant: tenant.Person{Email: "x@y.example"}, Form: [16]byte{3},
		})
		return err
	}
	known(t, s, made[2], "x@y.example")
	several := func(by operatordeposits.OperatorCaller) error {
		_, err := s.Services.Deposits.MailTenants(t.Context(), by, operatordeposits.BulkForm{
			Act: operatordeposits.ActSendLinks, IDs: []id.ID{depositOf(t, s, made[2]).ID}, Key: [16]byte{4},
		}, func() error { return nil })
		return err
	}
	for name, act := range map[string]func(operatordeposits.OperatorCaller) error{"capture": capture, "send": send,
		"create": create, "several": several} {
		require.ErrorIs(t, act(by), connect.ErrEmailUnverified, name)
		verified := by
		verified.Operator.VerifiedAt = s.Clock.Now()
		require.NoError(t, act(verified), name)
	}
}

func TestUnverified_IsAskedOnTheFirstPageAndOnceMoreByMail(t *testing.T) {
	s, b, _ := unverifiedDesk(t)
	today := b.Get("/dashboard")
	require.Contains(t, today.Body, "We mailed a link to a@b.example")
	require.Contains(t, b.Get("/dashboard/settings").Body, "We mailed a link to a@b.example")
	mails := len(s.ListMails("a@b.example"))
	sent := b.Send(today, form(t, today, "resend_verification"), nil)
	require.Equal(t, "/dashboard/settings?done=resend_verification", sent.Location)
	require.Contains(t, b.Get(sent.Location).Body, "The e-mail is on its way.")
	require.Len(t, s.ListMails("a@b.example"), mails+1)
	change(t, s, `UPDATE operators SET verified_at = now()`)
	require.NotContains(t, b.Get("/dashboard").Body, "We mailed a link to")
	require.NotContains(t, b.Get("/dashboard/settings").Body, "resend_verification")
}

// Nothing that a stranger enters at the sign-up is mailed to the address that the stranger enters.
func TestUnverified_AddressesGetNoWordsOfACaller(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.CreatePartner("demo")
	b := s.NewBrowser(t)
	query := connecttest.SignedQuery(key, "demo", "win-a-prize.example", unix(s), "")
	sent := b.Submit("/register?"+query, map[string]string{"email": "victim@b.example",
		"password": "correct horse battery", "companyName": "Call +33 1 23 45 now"})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	b.UnlinkPartner()
	today := b.Get("/dashboard")
	b.Send(today, form(t, today, "resend_verification"), nil)
	b.Submit("/password/forgot", map[string]string{"email": "victim@b.example"})
	_, err := s.Operators.MailPasswordResets(t.Context())
	require.NoError(t, err)
	all := s.ListMails("victim@b.example")
	require.GreaterOrEqual(t, len(all), 5, "verification twice, reset, link made, link removed")
	for _, m := range all {
		for _, words := range []string{"+33 1 23", "win-a-prize"} {
			require.False(t, strings.Contains(m.Subject+m.Body+m.HTML, words), "%s: %s", m.Subject, words)
		}
	}
}

// However many deposits an account makes, an address gets ten of its mails a day.
func TestLinks_AnAccountMailsAnAddressTenTimesADay(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b, other := registered(t, s, "a@b.example"), registered(t, s, "c@d.example")
	create := func(b *connecttest.Browser, email string) connecttest.Answer {
		return b.Submit("/dashboard/deposits/new",
			map[string]string{"amount": "300", "startsOn": "2031-07-01", "endsOn": "2031-07-08", "email": email})
	}
	var first connecttest.Answer
	for i := range 10 {
		sent := create(b, "victim@cold.example")
		require.Equal(t, http.StatusSeeOther, sent.Status, "%d %s", i, sent.Body)
		if i == 0 {
			first = sent
		}
	}
	deposits := s.Count("deposits", "")
	refused := create(b, "Victim@cold.example")
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, "rate_limited", refused.ErrorCode())
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	page := b.Get(strings.Split(first.Location, "?")[0])
	asked := b.Send(page, form(t, page, "send_link"), map[string]string{"email": "victim@cold.example"})
	require.Equal(t, "rate_limited", b.Send(asked, form(t, asked, "send_link"), nil).ErrorCode(),
		"the link of a deposit that exists")
	require.Equal(t, deposits, s.Count("deposits", ""), "a refused form makes none")
	require.Len(t, s.ListMails("victim@cold.example"), 10)
	require.Equal(t, http.StatusSeeOther, create(b, "somebody@else.example").Status)
	require.Equal(t, http.StatusSeeOther, create(other, "victim@cold.example").Status, "another account")
}

// Ten forms that arrive together count one another.
func TestLinks_ToAnAddress_AtOnce_AreCounted(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := registered(t, s, "a@b.example")
	const path = "/dashboard/deposits/new"
	forms := make([]url.Values, 14)
	for i := range forms {
		page := b.Get(path)
		forms[i] = url.Values{"amount": {"300"}, "startsOn": {"2031-07-01"}, "endsOn": {"2031-07-08"},
			"email": {"victim@cold.example"}}
		for _, name := range []string{"csrf_token", "intent", "form"} {
			forms[i].Set(name, page.InputAttribute(name, "value"))
		}
		forms[i].Set("intent", "create")
	}
	var wg sync.WaitGroup
	for _, fields := range forms {
		wg.Go(func() { b.Post(path, fields) })
	}
	wg.Wait()
	require.Len(t, s.ListMails("victim@cold.example"), 10)
	require.Equal(t, 10, s.Count("deposits", ""))
}
