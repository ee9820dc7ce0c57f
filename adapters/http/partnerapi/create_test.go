package partnerapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// raw is a valid deposit request with a field replaced by raw JSON.
func raw(account, field, value string) string {
	fields := map[string]string{
		"accountId": `"` + account + `"`, "amount": "100", "contractStartAt": `"2030-08-01T15:00:00Z"`,
		"contractEndAt": `"2030-08-08T10:00:00Z"`,
	}
	fields[field] = value
	var members []string
	for k, v := range fields {
		members = append(members, fmt.Sprintf("%q: %s", k, v))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestCreate_Amounts(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	negotiated := c.link("hotel-2")
	c.ceiling(negotiated, 400_000)
	const below, above = "amount_below_minimum", "amount_above_maximum"
	cases := []struct{ account, amount, code, message string }{
		{account, "70", "", "70"},
		{account, "70.00", "", "70"},
		{account, "70.01", "", "70.01"},
		{account, "99.9", "", "99.9"},
		{account, "2500", "", "2500"},
		{negotiated, "4000", "", "4000"},
		{account, "69.99", below, "amount: 69.99 EUR is below the minimum of 70.00 EUR"},
		{account, "-1e400", below, "amount: is below the minimum of 70.00 EUR"},
		{account, "2500.01", above, "amount: 2500.01 EUR exceeds this operator's maximum of 2500.00 EUR"},
		{account, "1e400", above, "amount: exceeds this operator's maximum of 2500.00 EUR"},
		{negotiated, "4000.01", above, "amount: 4000.01 EUR exceeds this operator's maximum of 4000.00 EUR"},
		{account, "70.001", "invalid_field", "amount: must be a whole number of cents"},
		{account, `070`, "invalid_json", "The request body is not valid JSON."},
	}
	for _, k := range cases {
		if k.code == "" {
			made := c.post("/deposits", raw(k.account, "amount", k.amount)).ok(201)
			require.Contains(t, string(c.get("/deposits/"+text(t, made, "id")).body), `"amount":`+k.message+`,`, k.amount)
			continue
		}
		c.leavesNothing(t, func() {
			require.Equal(t, k.message, c.post("/deposits", raw(k.account, "amount", k.amount)).refused(400, k.code), k.amount)
		})
	}
}

func TestCreate_Fields(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	const invalid = "invalid_field"
	keys := func(n, length int) object {
		m := object{}
		for i := range n {
			m[fmt.Sprintf("%0*d", length, i)] = "v"
		}
		return m
	}
	cases := []struct {
		name    string
		body    object
		code    string
		message string
	}{
		{"the end may equal the start", draft(account, "contractEndAt", "2030-08-01T15:00:00Z"), "", ""},
		{"+00:00 is UTC", draft(account, "contractStartAt", "2030-08-01T15:00:00+00:00"), "", ""},
		{"past dates", draft(account, "contractStartAt", "2001-01-01T00:00:00Z", "contractEndAt", "2001-01-02T00:00:00Z"), "",
			""},
		{"far ends", draft(account, "contractStartAt", "0001-01-01T00:00:00.000001Z", "contractEndAt",
			"9999-12-31T23:59:59.999999999Z"), "", ""},
		{"unknown fields", draft(account, "status", "active", "partnerId", "prt_x", "somethingNew", object{"a": []int{1}}),
			"", ""},
		{"rentalContract of 255 characters", draft(account, "rentalContract", strings.Repeat("é", 255)), "", ""},
		{"no rentalContract", draft(account, "rentalContract", nil), "", ""},
		{"20 metadata keys of 40 characters", draft(account, "metadata", keys(20, 40)), "", ""},
		{"metadata value of 500", draft(account, "metadata", object{"k": strings.Repeat("😀", 500)}), "", ""},
		{"returnUrl without depositUrlGeneration", draft(account, "returnUrl", "https://pms.example.com/"), "", ""},
		{"returnUrl on localhost", draft(account, "returnUrl", "http://localhost:3000/back?x=1"), "", ""},

		{"the year 1", draft(account, "contractStartAt", "0001-01-01T00:00:00Z"), invalid,
			"contractStartAt: lies too far in the past"},
		{"the year 0", draft(account, "contractEndAt", "0000-12-31T23:59:59Z"), invalid,
			"contractEndAt: lies too far in the past"},
		{"clientId unknown", draft(account, "clientId", "cli_01jb2m3v9h6k8n0p5r7t2w4y1c"), "invalid_client",
			"clientId: is not a client of this account."},
		{"clientId nonsense", draft(account, "clientId", "nonsense"), "invalid_client",
			"clientId: is not a client of this account."},
		{"clientId empty", draft(account, "clientId", ""), "invalid_client", "clientId: is not a client of this account."},
	}
	for _, k := range cases {
		if k.code == "" {
			made := c.post("/deposits", k.body)
			require.Equal(t, 201, made.status, "%s: %s", k.name, made.body)
			continue
		}
		c.leavesNothing(t, func() {
			require.Equal(t, k.message, c.post("/deposits", k.body).refused(400, k.code), k.name)
		})
	}
}

func TestCreate_ReturnURLs(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	const malformed = "returnUrl: is not an absolute URL"
	for url, message := range map[string]string{
		"https://pms.example.com:8443/a?b=c&d": "",
		"http://localhost/back":                "",
		"javascript:alert(1)":                  malformed,
		"":                                     "returnUrl: must not be empty",
	} {
		for _, generation := range []bool{true, false} {
			body := draft(account, "returnUrl", url, "depositUrlGeneration", generation)
			if message == "" {
				made := c.post("/deposits", body).ok(201)
				require.Equal(t, generation, made["depositUrl"] != nil)
				got := c.get("/deposits/" + text(t, made, "id")).ok(200)
				require.Equal(t, []any{url, generation}, []any{got["returnUrl"], got["depositUrl"] != nil})
				continue
			}
			c.leavesNothing(t, func() {
				require.Equal(t, message, c.post("/deposits", body).refused(400, "invalid_return_url"), url)
			})
		}
	}
}

func TestCreate_Links(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	other := c.world.caller(t, "other")
	foreign := other.link("theirs")
	revoked := c.link("hotel-2")
	c.revoke(revoked)
	c.leavesNothing(t, func() {
		for _, unknown := range []string{foreign, "acct_01jb2m1r6d9f4h8k3n5p7s2v0w", "nonsense", "", strings.ToUpper(account),
			"dep_" + account[len("acct_"):]} {
			c.post("/deposits", draft(unknown)).refused(403, "account_not_linked")
		}
		c.post("/deposits", draft(revoked)).refused(403, "account_revoked")
		// Field shapes are checked before the link, and the link before ceiling, dates and client.
		c.post("/deposits", draft(foreign, "amount", 1, "contractEndAt", "2000-01-01T00:00:00Z", "clientId", "x")).
			refused(403, "account_not_linked")
		c.post("/deposits", draft(foreign, "amount", "1")).refused(400, "invalid_field")
		c.post("/deposits", draft(foreign, "locale", "xxx")).refused(400, "invalid_field")
	})
}

func TestCreate_ClientOfAnotherAccountOrPartner_IsInvalid(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	second := c.link("hotel-2")
	client := text(t, c.post("/clients",
		object{"accountId": second, "email": "a@b.example", "firstName": "A", "lastName": "B"}).ok(201), "id")
	require.Equal(t, 201, c.post("/deposits", draft(second, "clientId", client)).status)
	c.leavesNothing(t, func() {
		c.post("/deposits", draft(account, "clientId", client)).refused(400, "invalid_client")
	})
	_, err := c.Pool.Exec(t.Context(),
		`UPDATE clients SET erased_at = now(), email = '', first_name = '', last_name = '', phone = ''`)
	require.NoError(t, err)
	c.post("/deposits", draft(second, "clientId", client)).refused(400, "invalid_client")
	c.get("/clients/"+client).refused(404, "client_not_found")
}
