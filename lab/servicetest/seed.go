package servicetest

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	ports "partnerdeposits/ports/platform"
)

// ConnectSecret is the connect secret of tests' partners.
const ConnectSecret = secret.Text("svc_cs_0123456789abcdef0123456789abcdef")

func NewID() id.ID { return system.Entropy{}.NewID() }

// RunInTransaction runs fn in a database transaction that must commit, also after the end of the test.
func (k *Kit) RunInTransaction(fn func(context.Context, *postgres.Store) error) {
	k.t.Helper()
	require.NoError(k.t, k.Postgres.WithinTx(context.WithoutCancel(k.t.Context()), func(ctx context.Context) error {
		return fn(ctx, k.Postgres)
	}))
}

// Count counts the rows of a table that fulfil an SQL condition; "": all.
func (k *Kit) Count(table, where string, args ...any) int {
	k.t.Helper()
	query := "SELECT count(*) FROM " + table
	if where != "" {
		query += " WHERE " + where
	}
	var n int
	require.NoError(k.t, k.Pool.QueryRow(context.WithoutCancel(k.t.Context()), query, args...).Scan(&n))
	return n
}

// ListMails returns the stored mails to an address in plain text, oldest first; "": all.
func (k *Kit) ListMails(to string) []ports.Mail {
	k.t.Helper()
	newest, err := k.Postgres.Mails.NewestMails(k.t.Context(), 1000)
	require.NoError(k.t, err)
	slices.Reverse(newest)
	return slices.DeleteFunc(newest, func(m ports.Mail) bool { return to != "" && m.To != to })
}

// CreatePartner creates a partner with a slug, the name "Partner " and the slug, and ConnectSecret.
func (k *Kit) CreatePartner(slug string, change ...func(*partner.Partner)) partner.Partner {
	k.t.Helper()
	return k.CreatePartnerWithSecret(slug, ConnectSecret, change...)
}

// CreatePartnerWithSecret creates a partner with a connect secret; "": none.
func (k *Kit) CreatePartnerWithSecret(slug string, connectSecret secret.Text,
	change ...func(*partner.Partner)) partner.Partner {
	k.t.Helper()
	p := partner.Partner{ID: NewID(), Slug: slug, Name: "Partner " + slug, CreatedAt: k.Clock.Now()}
	for _, c := range change {
		c(&p)
	}
	k.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Partners.Insert(ctx, p, connectSecret)
	})
	return p
}

// CreateCaller creates a partner with an API key. It returns both as the API's authentication does, and the key in
// plain text.
func (k *Kit) CreateCaller(slug string, change ...func(*partner.Partner)) (partner.Caller, secret.Text) {
	k.t.Helper()
	p := k.CreatePartner(slug, change...)
	key, plain, hash := partner.NewAPIKey(NewID(), p.ID, k.setup.Config.Environment, "test",
		system.Entropy{}.Bytes(secret.MinRandomBytes), k.Clock.Now())
	k.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Keys.InsertKey(ctx, key, hash) })
	return partner.Caller{Partner: p, Key: key}, plain
}

// CreateAccount creates the account of an operator who cannot log in with any password.
func (k *Kit) CreateAccount(company string) connect.Account {
	k.t.Helper()
	now := k.Clock.Now()
	operator := connect.Operator{ID: NewID(), PasswordHash: "-", CreatedAt: now}
	operator.Email = operator.ID.Encode() + "@example.com"
	account := connect.Account{ID: NewID(), OperatorID: operator.ID, CompanyName: company, CreatedAt: now}
	k.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		return r.Operators.Insert(ctx, operator, account)
	})
	return account
}

// LinkAccount links an account to a partner; externalID is the partner's name for it.
func (k *Kit) LinkAccount(partnerID, accountID id.ID, externalID string) connect.Link {
	k.t.Helper()
	link := connect.Link{ID: NewID(), PartnerID: partnerID, AccountID: accountID, ExternalID: externalID,
		LinkedAt: k.Clock.Now()}
	k.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Links.Insert(ctx, link) })
	return link
}

// CreateDeposit creates a deposit, and its client if change sets one. The second result is the token of the
// checkout.
func (k *Kit) CreateDeposit(origin deposit.Origin, draft deposit.Draft,
	change ...func(*deposit.Deposit)) (*deposit.Deposit, secret.Text) {
	k.t.Helper()
	entropy, now := system.Entropy{}, k.Clock.Now()
	d := deposit.New(NewID(), deposit.NewReference(entropy.Bytes(deposit.ReferenceBytes)), origin, draft, nil, now)
	for _, c := range change {
		c(d)
	}
	token := secret.FromRandom("", entropy.Bytes(secret.MinRandomBytes))
	k.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		if d.Client != nil {
			person := tenant.Person{Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
			client := tenant.Client{ID: d.ClientID, AccountID: d.AccountID, PartnerID: d.PartnerID, CreatedAt: now,
				Person: person}
			if err := r.Clients.Insert(ctx, client); err != nil {
				return err
			}
		}
		return r.Deposits.Insert(ctx, d, token)
	})
	return d, token
}
