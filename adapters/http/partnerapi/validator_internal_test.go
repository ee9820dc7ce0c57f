package partnerapi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/money"
)

// checked has the check of an operation in front of a handler that keeps the body that the check has let through.
type checked struct {
	handler fasthttp.RequestHandler
	body    any
}

func newChecked(t *testing.T) *checked {
	t.Helper()
	doc, err := OpenAPIDocument()
	require.NoError(t, err)
	validator, err := NewValidator(doc)
	require.NoError(t, err)
	require.Panics(t, func() { validator.HandlerFor("GET", PathPrefix+"/nothing") }, "the document has no such route")
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{
		ErrorHandler: problem.Handler(problem.Config{Logger: slog.New(slog.DiscardHandler)})}))
	app.Use(middleware.RequestID(), jsonbody.ParseBody)
	c := &checked{}
	for _, route := range slices.Backward(slices.Sorted(maps.Keys(validator.operations))) { // /events/feed before an id
		method, path, _ := strings.Cut(route, " ")
		app.Add(method, path, validator.HandlerFor(method, path), func(ctx *fiber.Ctx) error {
			c.body = ctx.Locals(validatedBodyLocalsKey)
			return ctx.SendStatus(http.StatusNoContent)
		})
	}
	c.handler = app.Handler()
	return c
}

// refusal sends a request, and gives "code: message"; "" for one that is let through.
func (c *checked) refusal(t *testing.T, method, target, body string) string {
	t.Helper()
	var ctx fasthttp.RequestCtx
	ctx.Request.Header.SetMethod(method)
	ctx.Request.Header.SetHost("api.test")
	ctx.Request.SetRequestURI(PathPrefix + target)
	if body != "" {
		ctx.Request.Header.SetContentType("application/json")
		ctx.Request.SetBodyString(body)
	}
	c.body = nil
	c.handler(&ctx)
	if ctx.Response.StatusCode() == http.StatusNoContent {
		return ""
	}
	require.Nil(t, c.body, "the handler was called")
	var e problem.ErrorEnvelope
	require.NoError(t, json.Unmarshal(ctx.Response.Body(), &e))
	return e.Error.Code + ": " + e.Error.Message
}

// depositWith is a deposit request with a field replaced by raw JSON; "" removes the field.
func depositWith(field, raw string) string {
	fields := map[string]string{"accountId": `"acct_1"`, "amount": `500`, "contractStartAt": `"2026-08-01T15:00:00Z"`,
		"contractEndAt": `"2026-08-08T10:00:00Z"`}
	fields[field] = raw
	var members []string
	for k, v := range fields {
		if v != "" {
			members = append(members, fmt.Sprintf("%q:%s", k, v))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// The contract walk tries a missing field and a wrong type of every field. Here are the words.
func TestCheck_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const utc = "must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"
	const names = "must be one of rental_operator.linked, deposit.status_changed, deposit.activated, deposit.captured, deposit.expired, deposit.cancelled"
	const hook, deposits, capture = "/webhooks", "/deposits", "/deposits/dep_1/capture"
	with := depositWith
	keys := make([]string, 21)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	c := newChecked(t)
	for _, k := range []struct{ method, path, body, want string }{
		{"POST", deposits, with("amount", ``), "missing_field: amount: is required"},
		{"POST", deposits, with("amount", `"100"`), "invalid_field: amount: must be a number"},
		{"POST", deposits, with("amount", `null`), "invalid_field: amount: must be a number, not null"},
		{"POST", deposits, with("accountId", `7`), "invalid_field: accountId: must be a string"},
		{"POST", deposits, with("accountId", `null`), "invalid_field: accountId: must be a string, not null"},
		{"POST", deposits, with("contractStartAt", `"2026-08-01T15:00:00+02:00"`), "invalid_field: contractStartAt: " + utc},
		{"POST", deposits, with("contractStartAt", `""`), "invalid_field: contractStartAt: " + utc},
		{"POST", deposits, with("contractEndAt", `1785596400`), "invalid_field: contractEndAt: must be a string"},
		{"POST", deposits, with("rentalContract", `"`+strings.Repeat("é", 256)+`"`),
			"invalid_field: rentalContract: is longer than 255 characters"},
		{"POST", deposits, with("depositUrlGeneration", `"true"`),
			"invalid_field: depositUrlGeneration: must be true or false"},
		{"POST", deposits, with("metadata", `[]`), "invalid_field: metadata: must be an object"},
		{"POST", deposits, with("metadata", `{"a":1}`), "invalid_field: metadata.a: must be a string"},
		{"POST", deposits, with("metadata", `{"0":1}`), "invalid_field: metadata.0: must be a string"},
		{"POST", deposits, with("metadata", `{"a":"`+strings.Repeat("x", 501)+`"}`),
			"invalid_field: metadata.a: is longer than 500 characters"},
		{"POST", deposits, with("metadata", `{`+strings.Join(keys, ",")+`}`),
			"invalid_field: metadata: has more than 20 keys"},
		{"POST", deposits, with("metadata", `{"a":"\u0000"}`),
			"invalid_field: metadata.a: must not contain the NUL character"},
		{"POST", deposits, ``, "invalid_json: The request body is missing. Send a JSON object."},
		{"POST", capture, `{"reason":"greed"}`,
			"invalid_field: reason: must be one of damage, cleaning, missing_items, unpaid_charges, other"},
		{"POST", capture, `{"amount":null}`, "invalid_field: amount: must be a number, not null"},
		{"POST", hook, `{"url":null}`, "invalid_field: url: must be a string, not null"},
		{"POST", hook, `{"url":"https://a.example","events":[]}`, "invalid_field: events: must not be empty"},
		{"POST", hook, `{"url":"https://a.example","events":"x"}`, "invalid_field: events: must be a list"},
		{"POST", hook, `{"url":"https://a.example","events":["deposit.activated","deposit.refused"]}`,
			"invalid_field: events[1]: " + names},
		{"POST", hook, `{"url":"https://a.example","events":[1]}`, "invalid_field: events[0]: " + names},
		{"POST", hook, `{"url":"https://a.example/` + strings.Repeat("a", 2048) + `"}`,
			"invalid_field: url: is longer than 2048 characters"},
		{"PATCH", hook + "/pwh_1", `{"events":null}`, "invalid_field: events: must be a list, not null"},
		{"POST", "/test/deposits/dep_1/simulate", `{"outcome":"explode"}`,
			"invalid_field: outcome: must be one of start, activate, decline, abandon, fail_payment, expire"},
		{"POST", "/deposits/d/send-link/batch", `{"recipients":[{"email":"a@b.example"},{}]}`,
			"missing_field: recipients[1].email: is required"},
		{"POST", "/deposits/d/send-link/batch", `{"recipients":[` + strings.Repeat(`{"email":"a@b.example"},`, 20) +
			`{"email":"a@b.example"}]}`, "invalid_field: recipients: has more than 20 items"},
		{"POST", "/deposits/d/cancel", `{"comment":"` + strings.Repeat("x", 2001) + `"}`,
			"invalid_field: comment: is longer than 2000 characters"},
	} {
		require.Equal(t, k.want, c.refusal(t, k.method, k.path, k.body), k.body)
	}
	for _, body := range []string{"", "{}"} {
		require.Empty(t, c.refusal(t, "POST", capture, body))
	}
	require.Empty(t, c.refusal(t, "PATCH", hook+"/pwh_1", `{}`))
	require.Equal(t, "route_not_found: There is no such route.", c.refusal(t, "GET", "/deposits/%zz", ""))
}

func TestCheck_WhatIsMissing_IsSaidFirstAndInOrder(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	for range 20 {
		require.Equal(t, "missing_field: amount: is required",
			c.refusal(t, "POST", "/deposits", `{"accountId":7,"contractEndAt":"x","metadata":1}`))
		require.Equal(t, "invalid_field: clientId: must be a string",
			c.refusal(t, "POST", "/deposits", `{"clientId":1,`+depositWith("metadata", `1`)[1:]))
	}
}

// The domain checks the bounds of an amount. The HTTP layer must neither bound nor round an amount.
func TestCheck_AnAmount_ArrivesToTheDigit(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	for raw, want := range map[string]money.Cents{"70": 7000, "70.000": 7000, "7e1": 7000, "69.99": 6999,
		"2500.01": 250001, "0.1e3": 10000, "-70": -7000, "0": 0, "9999999999999.99": 999999999999999,
		"1e400":  money.MaxParsedCents,
		"-1e400": -money.MaxParsedCents, "70.001": -1, "70.000000000000000000000000001": -1, "1e-400": -1} {
		require.Empty(t, c.refusal(t, "POST", "/deposits", depositWith("amount", raw)))
		var e Euros
		text := c.body.(map[string]any)["amount"].(json.Number)
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		got, err := e.Cents()
		if want == -1 {
			require.ErrorIs(t, err, money.ErrFractionCents, raw)
			continue
		}
		require.NoError(t, err, raw)
		require.Equal(t, want, max(min(got, money.MaxParsedCents), -money.MaxParsedCents), raw)
	}
}

func TestCheck_OfAQuery(t *testing.T) {
	t.Parallel()
	const limit = "limit: must be a whole number from 1 to 100"
	const status = "status: must be one of pending, incomplete, active, cancelled, payment_issue, close, captured"
	const utc = ": must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"
	c := newChecked(t)
	for query, want := range map[string]string{
		"limit=0": limit, "limit=101": limit, "limit=100000000000": limit, "limit=ten": limit, "limit=1.5": limit,
		"limit=": limit, "limit=1&limit=2": "limit: must be given once",
		"status=": status, "status=active,gone": status,
		"createdFrom=yesterday":                   "createdFrom" + utc,
		"createdTo=2026-08-01T00:00:00%2B02:00":   "createdTo" + utc,
		"externalId=a%00b":                        "externalId: must be UTF-8 text without the NUL character",
		"externalId=%ff":                          "externalId: must be UTF-8 text without the NUL character",
		"externalId=" + strings.Repeat("a", 256):  "externalId: is longer than 255 characters",
		"externalId=%zz":                          "query: is not a well-formed query string",
		"limit=7&status=active,close":             "",
		"createdTo=2026-06-02T00:00:00.5%2B00:00": "",
	} {
		if want != "" {
			want = "invalid_field: " + want
		}
		require.Equal(t, want, c.refusal(t, "GET", "/deposits?"+query, ""), query)
	}
}
