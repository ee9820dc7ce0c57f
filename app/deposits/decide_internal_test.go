package deposits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

var (
	now     = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	acme    = partner.Partner{ID: id.ID{3}, Name: "Acme PMS"}
	asks    = partner.Caller{Partner: acme, Key: partner.APIKey{ID: id.ID{4}}}
	account = connect.Account{ID: id.ID{2}, CompanyName: "Chalets"}
	desk    = OperatorCaller{Operator: connect.Operator{ID: id.ID{5}}, Account: account}
)

func draft(change ...func(*deposit.Draft)) deposit.Draft {
	d := deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(7 * 24 * time.Hour)}
	for _, c := range change {
		c(&d)
	}
	return d
}

func linked(change ...func(*connect.Link)) *ports.LinkedAccount {
	l := &ports.LinkedAccount{Link: connect.Link{PartnerID: id.ID{3}, AccountID: id.ID{2}, ExternalID: "op-1"},
		MaxAmountCents: 250_000}
	for _, c := range change {
		c(&l.Link)
	}
	return l
}

func TestCreate_ChecksLinkThenDraftThenClient(t *testing.T) {
	t.Parallel()
	revoked := linked(func(l *connect.Link) { l.RevokedAt = now })
	ada := &tenant.Client{ID: id.ID{6}, Person: tenant.Person{Email: "ada@b.example", FirstName: "Ada", LastName: "Love"}}
	tooMuch := func(d *deposit.Draft) { d.Amount = 250_001 }
	ended := func(d *deposit.Draft) { d.ContractEndAt = now }
	for name, c := range map[string]struct {
		draft  deposit.Draft
		client *id.ID
		found  ports.FoundRows
		want   error
	}{
		"without a client":             {draft(), nil, ports.FoundRows{Link: linked()}, nil},
		"with its client":              {draft(), &id.ID{6}, ports.FoundRows{Link: linked(), Client: ada}, nil},
		"not linked, everything wrong": {draft(tooMuch), &id.ID{7}, ports.FoundRows{}, connect.ErrAccountNotLinked},
		"link revoked, too much": {draft(tooMuch), &id.ID{7}, ports.FoundRows{Link: revoked},
			connect.ErrAccountLinkRevoked},
		"above the ceiling, bad client": {draft(tooMuch), &id.ID{7}, ports.FoundRows{Link: linked()},
			deposit.ErrAboveMaximum},
		"client of another account": {draft(), &id.ID{7}, ports.FoundRows{Link: linked()}, deposit.ErrInvalidClient},
		"stay is over, bad client":  {draft(ended), &id.ID{7}, ports.FoundRows{Link: linked()}, deposit.ErrDateRange},
		"stay is over, not linked":  {draft(ended), nil, ports.FoundRows{}, connect.ErrAccountNotLinked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := NewDeposit{AccountID: id.ID{2}, ClientID: c.client, Draft: c.draft}.decide(c.found, acme, id.ID{1},
				"D-7K3M-9Q2X", now)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.Nil(t, d)
				return
			}
			require.Equal(t,
				[]any{deposit.Pending, 1, id.ID{1}, "D-7K3M-9Q2X", id.ID{2}, id.ID{3}, "Acme PMS", "op-1", true, now, c.draft},
				[]any{d.Status, d.Version, d.ID, d.Reference, d.AccountID, d.PartnerID, d.PartnerName, d.ExternalID, d.ByPartnerAPI,
					d.CreatedAt, d.Draft})
			if c.client == nil {
				require.Nil(t, d.Client)
				return
			}
			require.Equal(t, &deposit.ClientDetails{ID: id.ID{6}, Email: "ada@b.example", FirstName: "Ada", LastName: "Love"},
				d.Client)
			require.Equal(t, id.ID{6}, d.ClientID)
		})
	}
}

func TestCreate_NegotiatedCeiling_IsThatOfTheLink(t *testing.T) {
	t.Parallel()
	high := linked()
	high.MaxAmountCents = 400_000
	for amount, want := range map[money.Cents]error{400_000: nil, 400_001: deposit.ErrAboveMaximum,
		6_999: deposit.ErrBelowMinimum} {
		_, err := NewDeposit{Draft: draft(func(d *deposit.Draft) { d.Amount = amount })}.check(ports.FoundRows{Link: high},
			now)
		require.ErrorIs(t, err, want, amount)
	}
}

func TestCreate_Locale_IsCheckedBeforeTheLink(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]error{"": nil, "fr": nil, "en-GB": nil, "french": fault.ErrInvalidField} {
		require.ErrorIs(t, NewDeposit{Draft: draft(func(d *deposit.Draft) { d.Locale = locale })}.validate(), want, locale)
	}
}

func TestActsOfAPartner_OnWhoseDeposit(t *testing.T) {
	t.Parallel()
	own := &deposit.Deposit{PartnerID: id.ID{3}, ByPartnerAPI: true}
	ofTheDesk := &deposit.Deposit{PartnerID: id.ID{3}}
	foreign := &deposit.Deposit{PartnerID: id.ID{9}, ByPartnerAPI: true}
	for name, c := range map[string]struct {
		d            *deposit.Deposit
		read, change error
	}{
		"its own":             {own, nil, nil},
		"made on the desk":    {ofTheDesk, nil, deposit.ErrAccessDenied},
		"of another partner":  {foreign, deposit.ErrAccessDenied, deposit.ErrAccessDenied},
		"of no partner":       {&deposit.Deposit{}, deposit.ErrAccessDenied, deposit.ErrAccessDenied},
		"that does not exist": {nil, nil, deposit.ErrNotFound},
	} {
		if c.d != nil {
			require.ErrorIs(t, readable(c.d, id.ID{3}), c.read, name)
		}
		require.ErrorIs(t, changeable(c.d, id.ID{3}), c.change, name)
	}
}

func TestCancel_DecidesWithoutATransaction_UnlessTheTenantMayBePaying(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d    *deposit.Deposit
		want error
	}{
		"pending, untouched":      {&deposit.Deposit{Status: deposit.Pending}, nil},
		"after a refused payment": {&deposit.Deposit{Status: deposit.PaymentIssue}, nil},
		"checkout begun": {&deposit.Deposit{Status: deposit.Pending, CheckoutStartedAt: now},
			ports.ErrNeedsMoreRows},
		"secured, checkout begun": {&deposit.Deposit{Status: deposit.Active, CheckoutStartedAt: now},
			deposit.ErrNotCancellable},
		"cancelled already": {&deposit.Deposit{Status: deposit.Cancelled}, deposit.ErrNotCancellable},
		"of another, being paid": {&deposit.Deposit{Status: deposit.Pending, CheckoutStartedAt: now, PartnerID: id.ID{9}},
			deposit.ErrAccessDenied},
		"no deposit of this id": {nil, deposit.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.d != nil {
				c.d.Version, c.d.ByPartnerAPI = 1, true
				if c.d.PartnerID.IsZero() {
					c.d.PartnerID = id.ID{3}
				}
			}
			encoded := 0
			cancel := &cancelling{
				Service: &Service{deps: Deps{Timers: deposit.DefaultTimerDurations()}}, by: asks, now: now, eventID: id.ID{8},
				in: Cancellation{Reason: "duplicate"},
				call: idempotent.KeyAndEncoder[PartnerView]{Encode: func(v PartnerView) (idempotent.Response, error) {
					encoded++
					return idempotent.Response{Code: 200, Body: []byte(v.Status)}, nil
				}},
			}
			writes, response, err := cancel.decide(ports.FoundRows{Deposit: c.d})
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				require.True(t, writes.IsEmpty())
				require.Zero(t, encoded)
				return
			}
			require.Equal(t, "cancelled", string(response.Body))
			require.Equal(t, deposit.Transition{
				Version: 2, From: cancel.step.From, To: deposit.Cancelled, Trigger: deposit.TriggerCancelledByPartner, At: now,
				EventID: id.ID{8},
				Actor:   actor.Partner(id.ID{3}, id.ID{4}),
				Detail:  map[string]string{"keyId": id.APIKey.Of(id.ID{4}), "reason": "duplicate"},
			}, writes.Transition.Transition)
			require.Equal(t, []any{deposit.EventCancelled, id.ID{3}}, []any{string(writes.Event.Name), writes.Event.PartnerID})
		})
	}
}

func TestView_ShowsTheURLThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := New(Deps{Timers: deposit.DefaultTimerDurations(), DashboardURL: "https://desk.example/"})
	for name, c := range map[string]struct {
		asked bool
		token secret.Text
		url   string
	}{
		"asked for":       {true, "abc", "https://desk.example/checkout/abc"},
		"not asked for":   {false, "abc", ""},
		"token not known": {true, "", ""},
	} {
		d := &deposit.Deposit{Draft: draft(func(d *deposit.Draft) { d.URLGeneration = c.asked }), CheckoutToken: c.token}
		v := s.view(d, now)
		require.Equal(t, c.url, v.CheckoutURL, name)
		require.True(t, v.CoversContract)
	}
	far := &deposit.Deposit{Draft: draft(func(d *deposit.Draft) { d.ContractEndAt = now.AddDate(0, 3, 0) })}
	require.False(t, s.view(far, now).CoversContract)
}

func TestHistory_OfAnAct_NamesItsAuthorAndTheDetailsThatWereGiven(t *testing.T) {
	t.Parallel()
	require.Equal(t, lifecycle.TransitionAuthor{Actor: actor.Partner(id.ID{3}, id.ID{4}),
		Detail: map[string]string{"keyId": id.APIKey.Of(id.ID{4}), "reason": "damage"}},
		partnerAct(asks, map[string]string{"reason": "damage", "comment": ""}))
	require.Equal(t, lifecycle.TransitionAuthor{Actor: actor.Operator(id.ID{5}),
		Detail: map[string]string{"comment": "x"}},
		desk.act(map[string]string{"comment": "x", "reason": ""}))
}
