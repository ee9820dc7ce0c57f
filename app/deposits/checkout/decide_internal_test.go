package checkout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
)

const day = 24 * time.Hour

var (
	now   = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	grace = tenant.Person{Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper", Phone: "+33612345678"}
	known = deposit.ClientDetails{ID: id.ID{6}, Email: "Grace@Example.com", FirstName: "Grace", LastName: "Hopper"}
)

// upcoming is a deposit of 500 euros for a stay of a week that begins now.
func upcoming(change ...func(*deposit.Deposit)) *deposit.Deposit {
	draft := deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(7 * day)}
	d := deposit.New(id.ID{1}, "D-7K3M-9Q2X", deposit.Origin{AccountID: id.ID{2}, PartnerID: id.ID{3}, ByPartnerAPI: true},
		draft, nil, now)
	for _, c := range change {
		c(d)
	}
	return d
}

func in(status deposit.Status, reason string) func(*deposit.Deposit) {
	return func(d *deposit.Deposit) { d.Status, d.StatusReason = status, reason }
}

func TestView_TellsTheTenantWhetherToPay(t *testing.T) {
	t.Parallel()
	s := New(Deps{Timers: deposit.DefaultTimerDurations()})
	for name, c := range map[string]struct {
		d                       *deposit.Deposit
		open, expired, stayOver bool
		outcome                 deposit.CheckoutOutcome
	}{
		"new": {upcoming(), true, false, false, deposit.OutcomeAbandoned},
		"after a refused payment": {upcoming(in(deposit.PaymentIssue, "fee_failed")), true, false, false,
			deposit.OutcomeDeclined},
		"after its time, not cancelled yet": {upcoming(func(d *deposit.Deposit) { d.CheckoutExpiresAt = now }), false,
			true, false, deposit.OutcomeAbandoned},
		"cancelled by the timer": {upcoming(in(deposit.Cancelled, "checkout_expired")), false, true, false,
			deposit.OutcomeAbandoned},
		"cancelled by the partner": {upcoming(in(deposit.Cancelled, "by_partner")), false, false, false,
			deposit.OutcomeAbandoned},
		"declined": {upcoming(in(deposit.Cancelled, "tenant_declined")), false, false, false, deposit.OutcomeDeclined},
		"after the stay, not cancelled yet": {upcoming(func(d *deposit.Deposit) { d.ContractEndAt = now }), false, true,
			true, deposit.OutcomeAbandoned},
		"secured, after the stay": {upcoming(in(deposit.Active, ""),
			func(d *deposit.Deposit) { d.ContractEndAt = now }), false, false, false, deposit.OutcomeSecured},
		"captured": {upcoming(in(deposit.Captured, "claim")), false, false, false, deposit.OutcomeSecured},
		"closed after the cover, without claim": {upcoming(in(deposit.Closed, "coverage_elapsed")), false, false, false,
			deposit.OutcomeSecured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := s.viewOf(c.d, connect.Account{CompanyName: "Chalets"}, now)
			require.Equal(t, []bool{c.open, c.expired, c.stayOver}, []bool{v.Open, v.Expired, v.StayOver})
			require.Equal(t, []any{"Chalets", money.Cents(1_750), c.outcome, tenant.Person{}},
				[]any{v.CompanyName, v.Fee, v.ReturnOutcome(), v.Person})
		})
	}
	require.Equal(t, tenant.Person{Email: "Grace@Example.com", FirstName: "Grace", LastName: "Hopper"},
		s.viewOf(upcoming(func(d *deposit.Deposit) { d.Client = &known }), connect.Account{}, now).Person)
}

func TestTerms_TellHowLongTheCoverLasts_AndWhetherItReachesTheEndOfTheStay(t *testing.T) {
	t.Parallel()
	s := New(Deps{Timers: deposit.DefaultTimerDurations(), Imprint: agreement.Imprint{SupportEmail: "help@example.com"}})
	for name, c := range map[string]struct {
		stay, cover time.Duration
		days        int
		covers      bool
	}{
		"a week, and the time for claims":   {7 * day, 21 * day, 0, true},
		"the time for claims is cut":        {50 * day, 60 * day, 60, true},
		"the cover ends with the stay":      {60 * day, 60 * day, 60, true},
		"the cover ends before the stay":    {61 * day, 60 * day, 60, false},
		"just all of the time for claims":   {46*day - time.Second, 60*day - time.Second, 0, true},
		"the stay is over: a day, at least": {-20 * day, day, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := s.viewOf(upcoming(func(d *deposit.Deposit) { d.ContractEndAt = now.Add(c.stay) }),
				connect.Account{CompanyName: "Chalets"}, now)
			require.Equal(t, agreement.Terms{
				Company: "Chalets", Amount: 50_000, Fee: 1_750, Until: now.Add(c.cover), Days: c.days,
				Imprint: agreement.Imprint{SupportEmail: "help@example.com"},
			}, v.Terms)
			require.Equal(t, c.covers, v.CoversStay)
		})
	}
}

func TestPayable_WhileTheDebtWaitsForTheTenant(t *testing.T) {
	t.Parallel()
	require.False(t, View{}.DebtPayable())
	for _, state := range deposit.CollectionStates {
		require.Equal(t, state == deposit.CollectionAwaitingTenant, View{Debt: &deposit.Debt{State: state}}.DebtPayable(),
			state)
		require.False(t, View{Debt: &deposit.Debt{State: state, CancelAt: now}}.DebtPayable(), "staff cancels it: %s", state)
	}
}

func TestPaidFee_IsThePaymentThatSucceeded(t *testing.T) {
	t.Parallel()
	refused := deposit.Payment{Kind: deposit.PaymentKindFee, Status: deposit.PaymentFailed, Amount: 1, SettledAt: now}
	collected := deposit.Payment{Kind: deposit.PaymentKindCollection, Status: deposit.PaymentSucceeded, Amount: 2,
		SettledAt: now}
	paid := deposit.Payment{Kind: deposit.PaymentKindFee, Status: deposit.PaymentSucceeded, Amount: 1_750,
		SettledAt: now.Add(time.Minute)}
	for name, c := range map[string]struct {
		payments []deposit.Payment
		fee      money.Cents
		at       time.Time
	}{
		"paid":     {[]deposit.Payment{refused, collected, paid}, 1_750, now.Add(time.Minute)},
		"not paid": {[]deposit.Payment{refused, collected}, 0, time.Time{}},
		"none":     {nil, 0, time.Time{}},
	} {
		fee, at := paidFee(c.payments)
		require.Equal(t, c.fee, fee, name)
		require.Equal(t, c.at, at, name)
	}
}

func TestSamePerson_ByNameAndAddressInAnyCase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client *deposit.ClientDetails
		typed  tenant.Person
		want   bool
	}{
		"the same, address in other letters": {&known, grace, true},
		"another phone":                      {&known, tenant.Person{Email: grace.Email, FirstName: "Grace", LastName: "Hopper"}, true},
		"another address":                    {&known, tenant.Person{Email: "g@example.com", FirstName: "Grace", LastName: "Hopper"}, false},
		"another first name":                 {&known, tenant.Person{Email: grace.Email, FirstName: "grace", LastName: "Hopper"}, false},
		"another last name":                  {&known, tenant.Person{Email: grace.Email, FirstName: "Grace", LastName: "Hooper"}, false},
		"nobody yet":                         {nil, grace, false},
	} {
		require.Equal(t, c.want, samePerson(c.client, c.typed), name)
	}
}

func TestAcceptedBefore_WhoIsPaying_UnlessThePartnerChangedTheClient(t *testing.T) {
	t.Parallel()
	require.True(t, acceptedBefore(true, time.Time{}))
	require.False(t, acceptedBefore(true, now))
	require.False(t, acceptedBefore(false, time.Time{}))
	require.False(t, acceptedBefore(false, now))
}

func TestHasClient_ThePresentOneOrTheOneOfTheForm(t *testing.T) {
	t.Parallel()
	with := func(client *deposit.ClientDetails, clientID id.ID) *deposit.Deposit {
		return upcoming(func(d *deposit.Deposit) { d.Client, d.ClientID = client, clientID })
	}
	for name, c := range map[string]struct {
		d, begun *deposit.Deposit
		want     bool
	}{
		"no client":                         {with(nil, id.ID{}), with(nil, id.ID{}), false},
		"a client":                          {with(&known, id.ID{6}), with(&known, id.ID{6}), true},
		"a client that came meanwhile":      {with(&known, id.ID{6}), with(nil, id.ID{}), true},
		"erased meanwhile":                  {with(nil, id.ID{6}), with(&known, id.ID{6}), true},
		"erased before the form was opened": {with(nil, id.ID{6}), with(nil, id.ID{6}), false},
		"another that is erased":            {with(nil, id.ID{7}), with(&known, id.ID{6}), false},
	} {
		require.Equal(t, c.want, hasClient(c.d, c.begun), name)
	}
}

func TestNewClient_BelongsToThePartnerThatCreatedTheDeposit(t *testing.T) {
	t.Parallel()
	want := tenant.Client{ID: id.ID{7}, AccountID: id.ID{2}, PartnerID: id.ID{3}, Person: grace, CreatedAt: now}
	require.Equal(t, want, newClient(id.ID{7}, upcoming(), grace, now))
	want.PartnerID = id.ID{}
	require.Equal(t, want, newClient(id.ID{7}, upcoming(func(d *deposit.Deposit) { d.ByPartnerAPI = false }), grace, now),
		"of the desk")
}

func TestBegunAt_IsTheTimeOfThePaymentInFlight(t *testing.T) {
	t.Parallel()
	require.Zero(t, begunAt(nil))
	require.Equal(t, now, begunAt(&deposit.Payment{CreatedAt: now}))
}

func TestReturned_OnlyWithTheDepositsOwnReturnToken(t *testing.T) {
	t.Parallel()
	const token = secret.Text("checkout-token")
	good := deposit.ReturnPageToken(id.ID{1}, token)
	for name, c := range map[string]struct {
		tokens map[id.ID]secret.Text
		shown  secret.Text
		want   secret.Text
		err    error
	}{
		"its own":               {map[id.ID]secret.Text{{1}: token}, good, token, nil},
		"of another secret":     {map[id.ID]secret.Text{{1}: "other"}, good, "", deposit.ErrNotFound},
		"altered":               {map[id.ID]secret.Text{{1}: token}, good + "A", "", deposit.ErrNotFound},
		"of an unknown deposit": {map[id.ID]secret.Text{}, good, "", deposit.ErrNotFound},
	} {
		got, err := returned(id.ID{1}, c.tokens, c.shown)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, c.want, got, name)
	}
}
