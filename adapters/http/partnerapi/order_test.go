package partnerapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// defect is a fault of a request, with the answer that names it.
type defect struct {
	name   string
	status int
	code   string
	spoil  func(o *ordered)
}

// ordered is a creation that a test spoils in several ways at once.
type ordered struct {
	apiKey, key string
	body        object
	raw         string // sent instead of body
	limited     bool   // the partner has no request left
}

// defects stand in the order in which the API checks them (api.md §1, "Codes").
var defects = []defect{
	{"API key", 401, "invalid_api_key", func(o *ordered) { o.apiKey = "svc_pk_test_unknown" }},
	{"rate limit", 429, "rate_limited", func(o *ordered) { o.limited = true }},
	{"JSON", 400, "invalid_json", func(o *ordered) { o.raw = `{"broken` }},
	{"form of the idempotency key", 400, "invalid_idempotency_key", func(o *ordered) { o.key = "no-uuid" }},
	{"names of fields", 400, "unknown_field", func(o *ordered) { o.body["colour"] = "blue" }},
	{"field shapes", 400, "invalid_field", func(o *ordered) { o.body["amount"] = "x" }},
	{"link", 403, "account_not_linked", func(o *ordered) { o.body["accountId"] = "acct_x" }},
	{"dates", 400, "invalid_date_range", func(o *ordered) { o.body["contractEndAt"] = "2020-08-08T10:00:00Z" }},
	{"client", 400, "invalid_client", func(o *ordered) { o.body["clientId"] = "cli_x" }},
}

// fieldDefects is the number of defects, the last of the list, that another body makes.
const fieldDefects = 5

func (c *caller) sent(o ordered) reply {
	c.t.Helper()
	if o.limited {
		require.NoError(c.t, c.Partners.SetRateLimit(c.t.Context(), c.partner.Slug, 1))
		defer func() { require.NoError(c.t, c.Partners.SetRateLimit(c.t.Context(), c.partner.Slug, 0)) }()
	}
	body := any(o.body)
	if o.raw != "" {
		body = o.raw
	}
	return c.post("/deposits", body, "x-api-key", o.apiKey, "idempotency-key", o.key)
}

// A key that holds a response comes before the later checks.
func TestCreate_SeveralDefectsAtOnce_TheFirstInTheOrderOfChecksAnswers(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	c.post("/deposits", draft(account)).ok(201) // a limit of 1 is used up from here on
	for _, holding := range []bool{false, true} {
		for i, first := range defects {
			o := ordered{apiKey: c.key, key: newKey(), body: draft(account)}
			if holding {
				c.post("/deposits", o.body, "idempotency-key", o.key).ok(201)
			}
			before := c.Count("deposits", "")
			for _, d := range defects[i:] {
				d.spoil(&o)
			}
			status, code := first.status, first.code
			if holding && i >= len(defects)-fieldDefects {
				status, code = 422, "idempotency_key_reused"
			}
			answer := c.sent(o)
			require.Equal(t, []any{status, code}, []any{answer.status, answer.parsed().Error.Code}, "%v: %s", holding,
				first.name)
			require.Equal(t, before, c.Count("deposits", ""))
		}
	}
}
