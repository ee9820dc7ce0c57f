package postgres_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

func insertClient(t testing.TB, store *postgres.Store, from deposit.Origin) tenant.Client {
	t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: from.AccountID, PartnerID: from.PartnerID,
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
		Person:    tenant.Person{Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace"}}
	require.NoError(t,
		store.WithinTx(t.Context(), func(ctx context.Context) error { return store.Clients.Insert(ctx, c) }))
	return c
}

func TestSecrets_InADumpOfEveryTable_AreNowhereToBeRead(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	now := time.Now()
	from := storetest.Origin(t, store)
	plain := map[string]string{
		"api key": "svc_pk_test_Aplain1", "connect secret": "svc_cs_Bplain2", "webhook secret": "svc_whsec_Cplain3",
		"rotated secret": "svc_whsec_Dplain4",
		"checkout token": "Eplain5token", "link in a mail": "https://d/checkout/Gplain7",
		"link in HTML":    "https://d/checkout/Hplain8",
		"stored response": `{"data":{"depositUrl":"https://d/checkout/Fplain6"}}`,
	}
	k := ports.IdempotencyKey{Owner: from.PartnerID, Route: "POST /deposits", Key: uuid.New()}
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: from.PartnerID, URL: "https://pms.example",
		Events: webhook.EventNames, Enabled: true, CreatedAt: now}
	rotated := sub
	rotated.ID = portstest.NewID()
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		key := partner.APIKey{ID: portstest.NewID(), PartnerID: from.PartnerID, Name: "k", Prefix: "svc_pk_test_",
			Last4: "ain1", CreatedAt: now}
		require.NoError(t, store.Keys.InsertKey(ctx, key, partner.HashKey(plain["api key"])))
		require.NoError(t, store.Partners.SetConnectSecret(ctx, from.PartnerID, secret.Text(plain["connect secret"])))
		require.NoError(t, store.Subscriptions.Insert(ctx, sub, secret.Text(plain["webhook secret"])))
		require.NoError(t, store.Subscriptions.Insert(ctx, rotated, "svc_whsec_x"))
		require.NoError(t, store.Subscriptions.SetSecret(ctx, rotated.ID, secret.Text(plain["rotated secret"])))
		require.NoError(t, store.Deposits.Insert(ctx, draft(from, now), secret.Text(plain["checkout token"])))
		link := ports.Mail{ID: portstest.NewID(), To: "a@b.example", Body: plain["link in a mail"],
			HTML: plain["link in HTML"], CreatedAt: now, LinkOf: portstest.NewID()}
		require.NoError(t, store.Mails.Enqueue(ctx, link))
		_, err := store.Idempotency.Claim(ctx, k, now)
		require.NoError(t, err)
		return store.Idempotency.Store(ctx, k,
			ports.StoredResponse{Code: 201, Body: []byte(plain["stored response"]), CreatedAt: now})
	}))

	rows, err := pool.Query(t.Context(),
		`SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'
			AND c.relkind IN ('r', 'p')`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "deposits")
	var dump strings.Builder
	for _, table := range tables {
		var text string
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT coalesce(string_agg(t::text, E'\n'), '') FROM `+pgx.Identifier{table}.Sanitize()+` t`).Scan(&text))
		dump.WriteString(text)
	}
	require.Contains(t, dump.String(), sub.URL, "the dump holds what was written")
	for what, value := range plain {
		require.NotContains(t, dump.String(), value, what)
		require.NotContains(t, dump.String(), hex.EncodeToString([]byte(value)), what)
	}
}

func TestSecrets_MovedToAnotherRow_DoNotOpen(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from, other := storetest.Origin(t, store), storetest.Origin(t, store)
	now := time.Now()
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
		return store.Partners.SetConnectSecret(ctx, from.PartnerID, "svc_cs_mine")
	}))
	first, err := create(t.Context(), store, from, now)
	require.NoError(t, err)
	second, err := create(t.Context(), store, from, now)
	require.NoError(t, err)

	for _, swap := range []string{
		`UPDATE partners SET connect_secret = (SELECT connect_secret FROM partners WHERE id = '` + from.PartnerID.String() +
			`')`,
		`UPDATE deposits SET checkout_token = (SELECT checkout_token FROM deposits WHERE id = '` + first.String() + `')`,
	} {
		_, err = pool.Exec(t.Context(), swap)
		require.NoError(t, err)
	}
	got, err := store.Partners.ConnectSecret(t.Context(), from.PartnerID)
	require.NoError(t, err)
	require.Equal(t, "svc_cs_mine", got.Reveal())
	_, err = store.Partners.ConnectSecret(t.Context(), other.PartnerID)
	require.Error(t, err)
	_, err = store.Deposits.CheckoutTokens(t.Context(), []id.ID{first})
	require.NoError(t, err)
	_, err = store.Deposits.CheckoutTokens(t.Context(), []id.ID{second})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "svc_cs_")
}
