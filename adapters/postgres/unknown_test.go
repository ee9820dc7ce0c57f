package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	accountports "partnerdeposits/ports/accounts"
)

// last gives the error among the results of a call.
func last(results ...any) error {
	err, _ := results[len(results)-1].(error)
	return err
}

func TestWhatIsNotThere_OrIsAnothers_IsNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other, a := w.partner().ID, w.partner().ID, w.account().ID
	link := w.link(p, a, "op-1", at0)
	client, ofCheckout := w.client(p, a).ID, w.client(id.ID{}, a).ID
	s := w.subscribe(p)
	delivery, none := w.testDelivery(s, at0).ID, portstest.NewID()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		for name, c := range map[string]struct{ want, got error }{
			"operator by e-mail": {connect.ErrBadCredentials, last(r.Operators.OperatorByEmail(ctx, "nobody@example.com"))},
			"operator":           {connect.ErrBadCredentials, last(r.Operators.LockRow(ctx, none))},
			"session": {connect.ErrBadCredentials,
				last(r.Sessions.OperatorBySession(ctx, [32]byte{9}, at0, longIdle))},
			"account": {connect.ErrAccountNotFound, last(r.Operators.AccountByID(ctx, none))},
			"ceiling": {connect.ErrAccountNotFound, r.Operators.SetDepositCeiling(ctx, none, 400_000)},
			"change of an account": {connect.ErrAccountNotFound,
				r.Operators.ChangeAccount(ctx, none, accountports.AccountChange{CompanyName: new("X")})},
			"linked account":     {connect.ErrAccountNotFound, last(r.Links.LinkedAccount(ctx, p, none))},
			"account of another": {connect.ErrAccountNotFound, last(r.Links.LinkedAccount(ctx, other, a))},
			"link":               {connect.ErrAccountNotLinked, last(r.Links.LockNewestShared(ctx, p, none))},
			"link of another":    {connect.ErrAccountNotLinked, last(r.Links.LockNewestShared(ctx, other, a))},

			"client":                       {tenant.ErrNotFound, last(r.Clients.LockRowShared(ctx, a, none))},
			"client of another account":    {tenant.ErrNotFound, last(r.Clients.LockRowShared(ctx, none, client))},
			"client of another partner":    {tenant.ErrNotFound, last(r.Clients.Client(ctx, other, client))},
			"client of a checkout":         {tenant.ErrNotFound, last(r.Clients.Client(ctx, p, ofCheckout))},
			"deposit":                      {deposit.ErrNotFound, last(r.Deposits.Deposit(ctx, none))},
			"deposit by token":             {deposit.ErrNotFound, last(r.Deposits.DepositByToken(ctx, "unknown"))},
			"deposit for update":           {deposit.ErrNotFound, last(r.Deposits.LockRow(ctx, none))},
			"deposit for update, by token": {deposit.ErrNotFound, last(r.Deposits.LockRowByToken(ctx, "unknown"))},

			"partner":        {partner.ErrNotFound, last(r.Partners.PartnerByID(ctx, none))},
			"slug":           {partner.ErrNotFound, last(r.Partners.PartnerBySlug(ctx, "nobody"))},
			"connect secret": {partner.ErrNotFound, r.Partners.SetConnectSecret(ctx, none, "svc_cs_x")},
			"rate limit":     {partner.ErrNotFound, r.Partners.SetRateLimit(ctx, none, 5)},
			"key to revoke":  {partner.ErrAPIKeyNotFound, last(r.Keys.RevokeKey(ctx, none, at0))},
			"key for update": {partner.ErrAPIKeyNotFound, last(r.Keys.LockKeyRow(ctx, none))},

			"subscription":                     {webhook.ErrNotFound, last(r.Subscriptions.Subscription(ctx, p, none))},
			"subscription of any partner":      {webhook.ErrNotFound, last(r.Subscriptions.SubscriptionByID(ctx, none))},
			"subscription of another":          {webhook.ErrNotFound, last(r.Subscriptions.Subscription(ctx, other, s.ID))},
			"subscription of another, to lock": {webhook.ErrNotFound, last(r.Subscriptions.LockRow(ctx, other, s.ID))},
			"subscription to change": {webhook.ErrNotFound,
				r.Subscriptions.Update(ctx, newSubscription(p, at0), webhook.UnparkedDeliveriesPerSecond)},
			"delivery":            {webhook.ErrDeliveryNotFound, last(r.Deliveries.Delivery(ctx, s.ID, none))},
			"delivery of another": {webhook.ErrDeliveryNotFound, last(r.Deliveries.Delivery(ctx, none, delivery))},
		} {
			require.ErrorIs(t, c.got, c.want, name)
		}
		linked, err := r.Links.ActiveLink(ctx, none)
		require.NoError(t, err)
		require.Nil(t, linked)
		linked, err = r.Links.LockActiveLink(ctx, none)
		require.NoError(t, err)
		require.Nil(t, linked)
		linked, err = r.Links.LockActiveLink(ctx, a)
		require.Equal(t, link.ID, linked.ID, "the transaction is usable")
		return err
	})
}
