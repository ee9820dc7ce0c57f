package deposits

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func TestActsOfAnOperator_OnlyOnDepositsOfTheAccount_AsTheyWereShown(t *testing.T) {
	t.Parallel()
	d := &deposit.Deposit{AccountID: id.ID{2}, Version: 3}
	require.NoError(t, owned(d, id.ID{2}))
	require.ErrorIs(t, owned(d, id.ID{9}), deposit.ErrNotFound)
	for version, want := range map[int]error{3: nil, 2: ErrDepositChanged, 4: ErrDepositChanged, 0: ErrDepositChanged} {
		require.ErrorIs(t, ActForm{Version: version}.unchanged(d), want, version)
	}
}

func TestVerified_IsAskedWhereMailsAreSent(t *testing.T) {
	t.Parallel()
	verified := OperatorCaller{Operator: connect.Operator{VerifiedAt: now}}
	withAddress := OperatorDeposit{Tenant: tenant.Person{Email: "ada@b.example"}}
	for name, c := range map[string]struct {
		only bool
		by   OperatorCaller
		want error
	}{
		"verified":                     {true, verified, nil},
		"not verified":                 {true, desk, connect.ErrEmailUnverified},
		"nothing is verified here":     {false, desk, nil},
		"verified where nothing needs": {false, verified, nil},
	} {
		s := &Service{deps: Deps{VerifyAddresses: c.only}}
		for _, act := range OperatorActs {
			want := c.want
			if !act.NeedsVerifiedEmail() {
				want = nil
			}
			require.ErrorIs(t, s.verified(c.by, act), want, "%s: %s", name, act)
		}
		require.ErrorIs(t, s.mayCreate(c.by, withAddress), c.want, name)
		require.NoError(t, s.mayCreate(c.by, OperatorDeposit{}), "a deposit without a mail: %s", name)
	}
}

func TestNeedsVerified_ActsThatChargeOrMailATenant(t *testing.T) {
	t.Parallel()
	needs := map[OperatorAct]bool{ActCapture: true, ActSendLink: true, ActRemind: true}
	for _, act := range OperatorActs {
		require.Equal(t, needs[act], act.NeedsVerifiedEmail(), act)
	}
}

func TestPossible_AsTheDepositAllows(t *testing.T) {
	t.Parallel()
	covered := []deposit.Status{deposit.Active}
	inCheckout := []deposit.Status{deposit.Pending, deposit.Incomplete, deposit.PaymentIssue}
	for act, c := range map[OperatorAct]struct {
		on      []deposit.Status
		refusal error
	}{
		ActCapture: {covered, deposit.ErrNotCapturable}, ActRelease: {covered, deposit.ErrNotReleasable},
		ActCancel: {inCheckout, deposit.ErrNotCancellable}, ActSendLink: {inCheckout, deposit.ErrLinkNotSendable},
		ActAddFiles: {[]deposit.Status{deposit.Active, deposit.Captured}, ErrTakesNoFiles},
	} {
		for _, status := range deposit.Statuses {
			d := &deposit.Deposit{Status: status, ExpiresAt: now.Add(1), CheckoutExpiresAt: now.Add(1)}
			d.ContractEndAt = now.Add(1)
			want := c.refusal
			if slices.Contains(c.on, status) {
				want = nil
			}
			require.ErrorIs(t, act.CheckPossible(d, nil, now), want, "%s of a deposit that is %s", act, status)
		}
	}
}

func TestPossible_AfterTheCover_AReleaseAndNoCapture(t *testing.T) {
	t.Parallel()
	d := &deposit.Deposit{Status: deposit.Active, ExpiresAt: now}
	require.ErrorIs(t, ActCapture.CheckPossible(d, nil, now), deposit.ErrNotCapturable)
	require.NoError(t, ActRelease.CheckPossible(d, nil, now))
}

func TestPossible_OnAClaim_AsItsCollectionAllows(t *testing.T) {
	t.Parallel()
	erased := &deposit.Deposit{Status: deposit.Captured}
	d := &deposit.Deposit{Status: deposit.Captured, Client: &deposit.ClientDetails{Email: "grace@example.com"}}
	awaited := deposit.Debt{State: deposit.CollectionAwaitingTenant, CapturedAt: now}
	mailed, charged, paid := awaited, awaited, awaited
	mailed.AskedAt, charged.State, paid.State = now, deposit.CollectionScheduled, deposit.CollectionPaid
	for name, c := range map[string]struct {
		d           *deposit.Deposit
		debt        *deposit.Debt
		remind, end error
	}{
		"nothing is claimed":    {d, nil, deposit.ErrCollectionNotPayable, deposit.ErrCollectionNotPayable},
		"the tenant has to pay": {d, &awaited, nil, nil},
		"mailed just now":       {d, &mailed, deposit.ErrRemindedRecently, nil},
		"the card is charged":   {d, &charged, deposit.ErrCollectionNotPayable, nil},
		"paid":                  {d, &paid, deposit.ErrCollectionOver, deposit.ErrCollectionOver},
		"a tenant erased since": {erased, &awaited, deposit.ErrNobodyToRemind, nil},
		"paid, and erased":      {erased, &paid, deposit.ErrCollectionOver, deposit.ErrCollectionOver},
	} {
		require.ErrorIs(t, ActRemind.CheckPossible(c.d, c.debt, now), c.remind, name)
		for _, act := range []OperatorAct{ActMarkSettledElsewhere, ActWithdrawClaim} {
			require.ErrorIs(t, act.CheckPossible(c.d, c.debt, now), c.end, name)
		}
	}
}

func TestCeiling_OfTheAccount_OrTheDefault(t *testing.T) {
	t.Parallel()
	for own, want := range map[money.Cents]money.Cents{0: 250_000, 7_000: 7_000, 400_000: 400_000} {
		require.Equal(t, want, OperatorCaller{Account: connect.Account{MaxAmountCents: own}}.DepositCeiling())
	}
}

func TestCreateByOperator_ChecksTheDraftThenTheTenant(t *testing.T) {
	t.Parallel()
	ada := tenant.Person{Email: "ada@b.example", FirstName: "Ada", LastName: "Love"}
	with := func(change func(*tenant.Person)) tenant.Person {
		p := ada
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		draft  deposit.Draft
		tenant tenant.Person
		want   error
		field  string
	}{
		"named":            {draft(), ada, nil, ""},
		"an address alone": {draft(), tenant.Person{Email: "ada@b.example", Locale: "fr"}, nil, ""},
		"nobody":           {draft(), tenant.Person{}, nil, ""},
		"too much, and no address": {draft(func(d *deposit.Draft) { d.Amount = 250_001 }), tenant.Person{FirstName: "Ada"},
			deposit.ErrAboveMaximum, "amount"},
		"a stay that is over": {draft(func(d *deposit.Draft) { d.ContractStartAt, d.ContractEndAt = now.Add(-1), now }), ada,
			deposit.ErrDateRange, "contractEndAt"},
		"a stay of which a second is left": {draft(func(d *deposit.Draft) {
			d.ContractStartAt, d.ContractEndAt = now.Add(-time.Hour), now.Add(time.Second)
		}), ada, nil, ""},
		"a name without an address": {draft(), with(func(p *tenant.Person) { p.Email = "" }), fault.ErrMissingField, "email"},
		"a first name alone":        {draft(), with(func(p *tenant.Person) { p.LastName = "" }), fault.ErrMissingField, "lastName"},
		"a last name alone":         {draft(), with(func(p *tenant.Person) { p.FirstName = "" }), fault.ErrMissingField, "firstName"},
		"no address, and no name":   {draft(), tenant.Person{Email: "ada"}, fault.ErrInvalidField, "email"},
		"an address, unknown locale": {draft(), tenant.Person{Email: "ada@b.example", Locale: "french"},
			fault.ErrInvalidField, "locale"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := OperatorDeposit{Draft: c.draft, Tenant: c.tenant}.validate(250_000, now)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.True(t, strings.HasPrefix(fault.FromError(err).Message, c.field+": "), err)
			}
		})
	}
}

func TestOrigin_OnTheDesk_NamesThePartnerThatIsLinkedNow(t *testing.T) {
	t.Parallel()
	require.Equal(t, deposit.Origin{AccountID: id.ID{2}}, originOnDesk(id.ID{2}, nil))
	require.Equal(t, deposit.Origin{AccountID: id.ID{2}, PartnerID: id.ID{3}, ExternalID: "op-1"},
		originOnDesk(id.ID{2}, &connect.Link{PartnerID: id.ID{3}, AccountID: id.ID{2}, ExternalID: "op-1"}))
}

func TestFormKey_TellsOneContentFromAnother(t *testing.T) {
	t.Parallel()
	key := func(what ...string) ports.IdempotencyKey { return *formKey(desk, [16]byte{7}, what) }
	require.Equal(t, key("release", "a"), key("release", "a"))
	for name, other := range map[string]ports.IdempotencyKey{
		"another comment": key("release", "b"), "another act": key("cancel", "a"), "another cut": key("release a"),
		"a quote that looks like a cut": key(`release" "a`),
	} {
		require.NotEqual(t, key("release", "a").Fingerprint, other.Fingerprint, name)
	}
	require.Equal(t, []any{id.ID{2}, formRoute, [16]byte{7}}, []any{key().Owner, key().Route, key().Key})
	require.Equal(t, id.Deposit.Of(id.ID{1}), string(formResponse(id.ID{1}).Body))
}

func TestFileSender_NeedsATokenOfASession(t *testing.T) {
	t.Parallel()
	_, err := NewUploadSession("x", id.ID{1})
	require.ErrorIs(t, err, connect.ErrBadCredentials)
	from, err := NewUploadSession(strings.Repeat("A", 43), id.ID{1})
	require.NoError(t, err)
	require.Equal(t, id.ID{1}, from.DepositID)
	require.NotZero(t, from.Session)
}

func TestSendLink_ChecksEveryRecipient(t *testing.T) {
	t.Parallel()
	ada, bob := tenant.MailContact{Email: "ada@b.example", Locale: "fr"}, tenant.MailContact{Email: "bob@b.example"}
	for name, c := range map[string]struct {
		request SendLinkRequest
		message string
	}{
		"one":             {SendLinkRequest{Recipients: []tenant.MailContact{ada}}, ""},
		"several":         {SendLinkRequest{Recipients: []tenant.MailContact{ada, bob}, Batch: true}, ""},
		"one, no address": {SendLinkRequest{Recipients: []tenant.MailContact{{}}}, "email: is required"},
		"one, no locale": {SendLinkRequest{Recipients: []tenant.MailContact{{Email: "ada@b.example", Locale: "french"}}},
			"locale: must look like fr or en-GB"},
		"the second is none": {SendLinkRequest{Recipients: []tenant.MailContact{ada, {Email: "x"}}, Batch: true},
			"recipients[1].email: is not an e-mail address"},
		"twice, in other letters": {
			SendLinkRequest{Recipients: []tenant.MailContact{ada, bob, {Email: "ADA@b.example"}}, Batch: true},
			"recipients[2].email: is the address of recipients[0] too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.request.validate()
			if c.message == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.message, fault.FromError(err).Message)
		})
	}
	require.Equal(t, []string{"ada@b.example", "bob@b.example"},
		SendLinkRequest{Recipients: []tenant.MailContact{ada, bob}}.addresses())
}

// oneID makes the same id at each call.
type oneID struct{ ports.Entropy }

func (oneID) NewID() id.ID { return id.ID{8} }

func TestAudit_OfAMail_CountsAndNamesNobody(t *testing.T) {
	t.Parallel()
	sending := linkSending{Service: New(Deps{Entropy: oneID{}}), by: asks, now: now}
	require.Equal(t, ports.AuditEntry{
		ID: id.ID{8}, At: now, Actor: actor.Partner(id.ID{3}, id.ID{4}), Action: "deposit.send_link",
		Subject: id.Deposit.Of(id.ID{1}),
		Detail:  map[string]string{"mails": "2", "keyId": id.APIKey.Of(id.ID{4})},
	}, sending.audit(id.ID{1}, 2))
	require.Equal(t, ports.AuditEntry{
		ID: id.ID{8}, At: now, Actor: actor.Operator(id.ID{5}), Action: "deposit.send_link",
		Subject: id.Deposit.Of(id.ID{1}),
		Detail:  map[string]string{"mails": "1"},
	}, sending.Service.audit(desk, now, audit.DepositSendLink, id.ID{1}, map[string]string{"mails": "1"}))
}

func TestCoverRound_FromSixInTheMorning_InUTC(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("", 2*60*60)
	today := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for _, early := range []time.Time{today, today.Add(6*time.Hour - 1), today.Add(6*time.Hour - 1).In(paris)} {
		_, tells := coverRound(early, true)
		require.False(t, tells, early)
	}
	last := today.Add(24*time.Hour - 1)
	for _, at := range []time.Time{today.Add(6 * time.Hour), last, last.In(paris)} {
		round, tells := coverRound(at, true)
		require.True(t, tells, at)
		before := at.UTC().Add(7 * 24 * time.Hour)
		require.Equal(t, depositports.EndingCoverQuery{Now: at.UTC(), Before: before, Today: today, VerifyAddresses: true},
			round)
	}
	round, _ := coverRound(today.Add(9*time.Hour), false)
	require.False(t, round.VerifyAddresses)
}

func TestDecideSecured_WhoIsTold(t *testing.T) {
	t.Parallel()
	const grace, sealed = "grace@example.com", "sealed@example.com"
	for name, c := range map[string]struct {
		words, address, sealed string
		verified, unchecked    bool
		tenant                 string
		operator               bool
	}{
		"both":                         {"I agree", grace, "", true, false, grace, true},
		"an address without a check":   {"I agree", grace, "", false, false, grace, false},
		"a service without checks":     {"I agree", grace, "", false, true, grace, true},
		"a tenant erased since":        {"I agree", "", sealed, true, false, sealed, true},
		"a tenant without any address": {"I agree", "", "", true, false, "", true},
		"the present address first":    {"I agree", grace, sealed, true, false, grace, true},
		"a simulated payment":          {"", grace, sealed, true, false, "", true},
		"nobody":                       {"", grace, "", false, false, "", false},
	} {
		about := depositports.SecuredMailData{Words: c.words, Verified: c.verified,
			Tenant: tenant.MailContact{Email: c.address}}
		tenantMail, tellsOperator := decideSecured(about, c.sealed, !c.unchecked)
		require.Equal(t, []any{c.tenant, c.operator}, []any{tenantMail, tellsOperator}, name)
	}
}
