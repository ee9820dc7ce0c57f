//go:build !unit

package clients_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/servicetest"
)

// A tenant whom an operator entered on the desk, or who came by a checkout of the desk, belongs to no partner.
func TestEraseByAdmin_OfATenantOfTheDesk_RemovesThePersonAndTheirMails(t *testing.T) {
	f := setup(t)
	draft := deposit.Draft{Amount: 50_000, ContractStartAt: f.Clock.Now(), ContractEndAt: f.Clock.Now(),
		Metadata: map[string]string{"note": "Ada's dog"}}
	d, _ := f.CreateDeposit(deposit.Origin{AccountID: f.account}, draft, func(d *deposit.Deposit) {
		d.ClientID, d.Client = servicetest.NewID(), &deposit.ClientDetails{Email: email, FirstName: "Ada", LastName: "Love"}
	})
	// its link was mailed to an address that was typed in
	beforeCheckout, _ := f.CreateDeposit(deposit.Origin{AccountID: f.account}, draft)
	elsewhere, _ := f.CreateDeposit(deposit.Origin{AccountID: f.CreateAccount("Chalet").ID}, draft)
	for _, about := range []*deposit.Deposit{d, beforeCheckout, elsewhere} {
		_, err := f.Pool.Exec(t.Context(), `INSERT INTO mails (id, recipient, subject, body, link_of, created_at, due_at)
			VALUES (gen_random_uuid(), $1, 'link', 'b', $2, now(), now())`, email, about.ID)
		require.NoError(t, err)
	}

	erased, err := f.Clients.EraseByAdmin(t.Context(), d.ClientID)
	require.NoError(t, err)
	require.True(t, erased)
	require.Zero(t, f.Count("clients", "id = $1 AND (email <> '' OR first_name <> '' OR last_name <> '')", d.ClientID))
	require.Zero(t, f.Count("mails", "link_of = ANY ($1)", []id.ID{d.ID, beforeCheckout.ID}))
	require.Equal(t, 1, f.Count("mails", "link_of = $1", elsewhere.ID), "a mail of another account")
	require.Equal(t, 1, f.Count("audit_log", "action = 'client.erase' AND actor = 'admin'"))
	got, err := f.Postgres.Deposits.DepositByReference(t.Context(), d.Reference)
	require.NoError(t, err)
	require.Nil(t, got.Client)

	done, err := f.Clients.EraseTextOfClient(t.Context(), d.ClientID, func(clients.TextErasureProgress) {})
	require.NoError(t, err)
	require.Equal(t, clients.TextErasureProgress{Total: 1, Read: 1, Erased: 1}, done)

	// The partner to which the account is linked does not erase a tenant of the desk: the partner never had the record.
	f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Clients.Insert(ctx, tenant.Client{ID: servicetest.NewID(), AccountID: f.account,
			CreatedAt: f.Clock.Now(), Person: tenant.Person{Email: "eve@personal.example", FirstName: "Eve", LastName: "Love"}})
	})
	var eve [16]byte
	require.NoError(t,
		f.Pool.QueryRow(t.Context(), "SELECT id FROM clients WHERE email = 'eve@personal.example'").Scan(&eve))
	require.ErrorIs(t, f.Clients.Erase(t.Context(), f.by, eve), tenant.ErrNotFound)
}
