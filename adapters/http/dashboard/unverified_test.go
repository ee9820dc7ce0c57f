package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	operatordeposits "partnerdeposits/app/deposits"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/connecttest"
)

// unverifiedDesk is a desk whose operator has not opened the mail of the sign-up.
func unverifiedDesk(t *testing.T) (s *connecttest.Server, b *connecttest.Browser, references []string) {
	t.Helper()
	s = connecttest.New(t, connecttest.Options{Mails: true})
	p := s.Partner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	return s, b, deposits(t, s, p, account, 3)
}

func TestUnverified_NeitherChargesNorMailsATenant(t *testing.T) {
	t.Parallel()
	s, b, made := unverifiedDesk(t)
	secured(t, s, made[0], time.Hour)
	secured(t, s, made[1], time.Hour)
	token := b.Get("/dashboard").Input("csrf_token", "value")
	sent := s.Count("mails", "")
	for path, fields := range map[string]url.Values{
		pathOf(t, s, made[0]):     {"intent": {"capture"}, "amount": {"80"}},
		pathOf(t, s, made[2]):     {"intent": {"send_link"}, "email": {"x@y.example"}},
		"/dashboard/deposits/new": {"intent": {"create"}, "amount": {"300"}, "startsOn": {"2027-07-01"}, "endsOn": {"2027-07-02"}, "email": {"x@y.example"}},
	} {
		fields.Set("csrf_token", token)
		for _, confirm := range []string{"", "yes"} {
			fields.Set("confirm", confirm)
			refused := b.Post(path, fields)
			require.Equal(t, http.StatusForbidden, refused.Status, "%s %v", path, fields)
			require.Equal(t, "email_not_verified", refused.Code())
			require.Contains(t, refused.Body, `value="resend_verification"`, "the page offers the mail")
		}
	}
	require.Equal(t, sent, s.Count("mails", ""))
	require.Equal(t, 3, s.Count("deposits", ""))
	require.Equal(t, deposit.Active, depositOf(t, s, made[0]).Status)

	for path, fields := range map[string]url.Values{
		pathOf(t, s, made[1]):     {"intent": {"release"}, "confirm": {"yes"}},
		pathOf(t, s, made[2]):     {"intent": {"cancel"}, "confirm": {"yes"}},
		"/dashboard/deposits/new": {"intent": {"create"}, "amount": {"300"}, "startsOn": {"2027-07-01"}, "endsOn": {"2027-07-02"}},
	} {
		fields.Set("csrf_token", token)
		require.Equal(t, http.StatusSeeOther, b.Post(path, fields).Status, "what neither charges nor mails works: %s", path)
	}
}

// The use cases refuse too, whichever page calls them.
func TestUnverified_IsRefusedByTheUseCases(t *testing.T) {
	t.Parallel()
	s, _, made := unverifiedDesk(t)
	secured(t, s, made[0], time.Hour)
	o, a, err := s.Postgres.OperatorByEmail(t.Context(), "a@b.example")
	require.NoError(t, err)
	by, amount := operatordeposits.OperatorCaller{Operator: o, Account: a}, depositOf(t, s, made[0]).Amount
	active, pending := depositOf(t, s, made[0]), depositOf(t, s, made[1])
	capture := func(by operatordeposits.OperatorCaller) error {
		return s.Services.Deposits.CaptureByOperator(t.Context(), by, operatordeposits.Seen{DepositID: active.ID, Version: active.Version, Form: [16]byte{1}}, operatordeposits.CaptureRequest{DepositID: active.ID, Amount: &amount}, operatordeposits.Proof{})
	}
	send := func(by operatordeposits.OperatorCaller) error {
		return s.Services.Deposits.SendLinkByOperator(t.Context(), by, operatordeposits.Seen{DepositID: pending.ID, Version: pending.Version, Form: [16]byte{2}}, tenant.Contact{Email: "x@y.example"})
	}
	create := func(by operatordeposits.OperatorCaller) error {
		now := s.Clock.Now()
		_, err := s.Services.Deposits.CreateByOperator(t.Context(), by, operatordeposits.OperatorDeposit{
			Draft: deposit.Draft{Amount: 30_000, ContractStartAt: now, ContractEndAt: now.Add(time.Hour)}, Tenant: tenant.Person{Email: "x@y.example"}, Form: [16]byte{3},
		})
		return err
	}
	for name, act := range map[string]func(operatordeposits.OperatorCaller) error{"capture": capture, "send": send, "create": create} {
		require.ErrorIs(t, act(by), connect.ErrUnverified, name)
		verified := by
		verified.Operator.VerifiedAt = s.Clock.Now()
		require.NoError(t, act(verified), name)
	}
}

func TestUnverified_IsAskedOnTheFirstPageAndOnceMoreByMail(t *testing.T) {
	t.Parallel()
	s, b, _ := unverifiedDesk(t)
	today := b.Get("/dashboard")
	require.Contains(t, today.Body, "Please verify that a@b.example is your address.")
	mails := len(s.Mails("a@b.example"))
	sent := b.Send(today, form(t, today, "resend_verification"), nil)
	require.Equal(t, "/dashboard/settings?done=resend_verification", sent.Location)
	require.Contains(t, b.Get(sent.Location).Body, "The e-mail is on its way.")
	require.Len(t, s.Mails("a@b.example"), mails+1)
	change(t, s, `UPDATE operators SET verified_at = now()`)
	require.NotContains(t, b.Get("/dashboard").Body, "Please verify")
	require.NotContains(t, b.Get("/dashboard/settings").Body, "resend_verification")
}

// Nothing that a stranger enters at the sign-up is mailed to the address that the stranger enters.
func TestUnverified_AddressesGetNoWordsOfACaller(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Mails: true})
	s.Partner("demo")
	b := s.Browser(t)
	query := connecttest.Query(key, "demo", "win-a-prize.example", unix(s), "")
	sent := b.Submit("/register?"+query, map[string]string{"email": "victim@b.example", "password": "correct horse battery", "companyName": "Call +33 1 23 45 now"})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	b.Unlink()
	today := b.Get("/dashboard")
	b.Send(today, form(t, today, "resend_verification"), nil)
	b.Submit("/password/forgot", map[string]string{"email": "victim@b.example"})
	_, err := s.Operators.MailResets(t.Context())
	require.NoError(t, err)
	all := s.Mails("victim@b.example")
	require.GreaterOrEqual(t, len(all), 5, "verification twice, reset, link made, link removed")
	for _, m := range all {
		for _, words := range []string{"+33 1 23", "win-a-prize"} {
			require.False(t, strings.Contains(m.Subject+m.Body+m.HTML, words), "%s: %s", m.Subject, words)
		}
	}
}
