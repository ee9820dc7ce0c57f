package partnerapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

// client creates a client and returns its id.
func (c *caller) client(accountID, email string) string {
	c.t.Helper()
	return text(c.t, c.post("/clients", object{"accountId": accountID, "email": email, "firstName": "Ada",
		"lastName": "Love", "phone": "+33612345678", "locale": "fr"}).ok(201), "id")
}

func (c *caller) erase(clientID string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusNoContent, c.do(http.MethodDelete, "/clients/"+clientID, nil).status)
}

func ids(list []object) (all []any) {
	for _, o := range list {
		all = append(all, o["id"])
	}
	return all
}

func TestListClients_Filters(t *testing.T) {
	t.Parallel()
	c, hotel := newStory(t)
	chalet := c.link("chalet")
	first, second := c.client(hotel, "Ada@example.com"), c.client(chalet, "ada@EXAMPLE.com")
	third := c.client(hotel, "bob@example.com")
	gone := c.client(hotel, "ada@example.com")
	c.erase(gone)
	other := c.world.caller(t, "other")
	other.client(other.link("theirs"), "ada@example.com")

	require.Equal(t, []any{third, second, first}, ids(c.get("/clients").list()))
	require.Equal(t, []any{third, first}, ids(c.get("/clients?accountId="+hotel).list()))
	require.Equal(t, []any{second, first}, ids(c.get("/clients?email=aDa%40example.com").list()))
	require.Equal(t, []any{first}, ids(c.get("/clients?email=ada@example.com&accountId="+hotel).list()))
	require.Empty(t, c.get("/clients?email=nobody@example.com").list())
	require.Empty(t, c.get("/clients?email=%25").list(), "no pattern")

	c.get("/clients?email="+strings.Repeat("a", 255)).refused(400, "invalid_field")

	c.revoke(chalet)
	require.NotContains(t, ids(c.get("/clients").list()), any(second), "clients of a revoked link are not listed")
	require.Equal(t, []any{first}, ids(c.get("/clients?email=ada@example.com").list()))
}

func TestUpdateClient_ChangesWhatIsSent(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	client := c.client(account, "ada@example.com")
	path := "/clients/" + client
	before := c.get(path).ok(200)
	patch := func(body any) reply { return c.do(http.MethodPatch, path, body) }

	c.leavesNothing(t, func() {
		require.Equal(t, before, patch(object{}).ok(200))
		require.Equal(t, before, patch(object{"firstName": "Ada"}).ok(200), "no change, no audit entry")
		patch(object{"firstName": "Eve", "unknown": 1}).refused(400, "unknown_field")
		require.True(t, strings.HasPrefix(patch(object{"phone": "0612"}).refused(400, "invalid_field"), "phone: "))
		patch(object{"email": nil}).refused(400, "invalid_field")
		patch(object{"email": ""}).refused(400, "missing_field")
	})
	require.Equal(t, before, c.get(path).ok(200))

	dep := c.created(account, "clientId", client)
	require.Equal(t, "New", patch(object{"lastName": "New", "email": "new@example.com"}).ok(200)["lastName"])
	require.Equal(t, object{"id": client, "email": "new@example.com", "firstName": "Ada", "lastName": "New"},
		c.get("/deposits/" + dep).ok(200)["client"])
	cleared := patch(object{"phone": nil, "locale": ""}).ok(200)
	require.NotContains(t, cleared, "phone")
	require.NotContains(t, cleared, "locale")
	require.Equal(t, []string{"email, lastName", "phone, locale"}, c.audited(t, client, "client.update", "fields"))
}

// audited gives a detail of the audit entries about a client, oldest first.
func (c *caller) audited(t *testing.T, clientID, action, detail string) (values []string) {
	t.Helper()
	require.NoError(t, c.Pool.QueryRow(t.Context(),
		`SELECT coalesce(array_agg(detail->>$3 ORDER BY id), '{}') FROM audit_log WHERE subject = $1 AND action = $2`,
		clientID, action, detail).Scan(&values))
	return values
}

func TestDeleteClient_InEveryStatus_ErasesAtOnce(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for status, outcomes := range map[string][]string{
		"pending": nil, "payment_issue": {"fail_payment"}, "active": {"activate"}, "cancelled": {"abandon"},
		"close": {"activate", "expire"},
	} {
		client := c.client(account, status+"@example.com")
		dep := c.created(account, "clientId", client)
		for _, outcome := range outcomes {
			c.simulated(dep, outcome)
		}
		c.erase(client)
		c.erase(client)
		got := c.get("/deposits/" + dep).ok(200)
		require.Equal(t, []any{status, client}, []any{got["status"], got["clientId"]})
		require.NotContains(t, got, "client")
		c.get("/clients/"+client).refused(404, "client_not_found")
		c.do(http.MethodPatch, "/clients/"+client, object{"firstName": "B"}).refused(404, "client_not_found")
		c.post("/deposits", draft(account, "clientId", client)).refused(400, "invalid_client")
		require.Equal(t, []string{c.keyID}, c.audited(t, client, "client.erase", "keyId"), "once")
		require.Empty(t, c.get("/clients?email="+status+"@example.com").list())
		require.Equal(t, []any{dep}, ids(c.get("/deposits?clientId="+client).list()))
		if status == "pending" {
			c.simulated(dep, "activate")
			require.Equal(t, 1, c.Count("outbox", `data::jsonb->>'id' = $1 AND data::jsonb->'client' = 'null'`, dep),
				"later events tell of nobody")
		}
	}
	unlinked := c.client(account, "ada@example.com")
	c.revoke(account)
	c.erase(unlinked)
	c.get("/clients/"+unlinked).refused(404, "client_not_found")
	require.Zero(t, c.Count("clients", `row(email, first_name, last_name, phone, locale) <> row('', '', '', '', '')`))
	require.Zero(t, c.Count("audit_log", `audit_log::text LIKE '%@example.com%' AND subject LIKE 'cli_%'`))
}

// A tenant who types other details at checkout becomes a new client, whom the partner may see and erase: its deposit
// names the client.
func TestClientOfACheckout_BelongsToThePartnerOfTheDeposit(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	dep := c.created(account)
	parsed, _ := id.Deposit.Parse(dep)
	tokens, err := c.Postgres.Deposits.CheckoutTokens(t.Context(), []id.ID{parsed})
	require.NoError(t, err)
	_, err = c.Checkout.Submit(t.Context(), tokens[parsed],
		tenant.Person{Email: "ada@example.com", FirstName: "Ada", LastName: "Love"}, agreement.SubmittedForm{Agreed: true})
	require.NoError(t, err)

	client := text(t, c.get("/deposits/"+dep).ok(200), "clientId")
	require.Equal(t, "ada@example.com", c.get("/clients/" + client).ok(200)["email"])
	require.Equal(t, []any{client}, ids(c.get("/clients").list()))
	_, err = c.Pool.Exec(t.Context(), `UPDATE clients SET partner_id = NULL`) // as checkouts left clients before
	require.NoError(t, err)
	require.Equal(t, "ada@example.com", c.get("/clients/" + client).ok(200)["email"])
	c.world.caller(t, "other").do(http.MethodDelete, "/clients/"+client, nil).refused(404, "client_not_found")
	c.erase(client)
	c.erase(client)
	require.NotContains(t, c.get("/deposits/"+dep).ok(200), "client")

	operators, _ := id.Deposit.Parse(c.dashboardDeposit(account))
	_, err = c.Pool.Exec(t.Context(), `INSERT INTO clients (id, account_id, email, first_name, last_name, created_at)
		VALUES ($1, $2, 'x@y.example', 'X', 'Y', now())`, id.ID{9}, mustAccount(t, account))
	require.NoError(t, err)
	_, err = c.Pool.Exec(t.Context(), `UPDATE deposits SET client_id = $1 WHERE id = $2`, id.ID{9}, operators)
	require.NoError(t, err)
	c.do(http.MethodDelete, "/clients/"+id.Client.Of(id.ID{9}), nil).refused(404, "client_not_found")
}
