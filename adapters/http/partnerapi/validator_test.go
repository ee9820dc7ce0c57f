package partnerapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/servetest"
)

func TestCreateDeposit_BadShapes_AreRefusedWithOurWords(t *testing.T) {
	t.Parallel()
	const utc = "must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"
	cases := []struct{ field, raw, code, message string }{
		{"accountId", ``, "missing_field", "accountId: is required"},
		{"amount", ``, "missing_field", "amount: is required"},
		{"contractStartAt", ``, "missing_field", "contractStartAt: is required"},
		{"contractEndAt", ``, "missing_field", "contractEndAt: is required"},
		{"amount", `"100"`, "invalid_field", "amount: must be a number"},
		{"amount", `null`, "invalid_field", "amount: must be a number, not null"},
		{"amount", `true`, "invalid_field", "amount: must be a number"},
		{"amount", `[70]`, "invalid_field", "amount: must be a number"},
		{"amount", `{}`, "invalid_field", "amount: must be a number"},
		{"accountId", `7`, "invalid_field", "accountId: must be a string"},
		{"accountId", `null`, "invalid_field", "accountId: must be a string, not null"},
		{"contractStartAt", `"2026-08-01"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01T15:00:00"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01 15:00:00Z"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01T15:00:00+02:00"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01T15:00:00-00:00"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-02-30T15:00:00Z"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01T5:00:00Z"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `"2026-08-01T24:00:00Z"`, "invalid_field", "contractStartAt: " + utc},
		{"contractStartAt", `""`, "invalid_field", "contractStartAt: " + utc},
		{"contractEndAt", `1785596400`, "invalid_field", "contractEndAt: must be a string"},
		{"rentalContract", `17`, "invalid_field", "rentalContract: must be a string"},
		{"rentalContract", `"` + strings.Repeat("é", 256) + `"`, "invalid_field",
			"rentalContract: is longer than 255 characters"},
		{"depositUrlGeneration", `"true"`, "invalid_field", "depositUrlGeneration: must be true or false"},
		{"depositUrlGeneration", `1`, "invalid_field", "depositUrlGeneration: must be true or false"},
		{"returnUrl", `false`, "invalid_field", "returnUrl: must be a string"},
		{"clientId", `{}`, "invalid_field", "clientId: must be a string"},
		{"metadata", `[]`, "invalid_field", "metadata: must be an object"},
		{"metadata", `{"a":1}`, "invalid_field", "metadata.a: must be a string"},
		{"metadata", `{"0":1}`, "invalid_field", "metadata.0: must be a string"},
		{"metadata", `{"a":"` + strings.Repeat("x", 501) + `"}`, "invalid_field",
			"metadata.a: is longer than 500 characters"},
		{"metadata", `{` + manyKeys(21) + `}`, "invalid_field", "metadata: has more than 20 keys"},
		{"metadata", `{"a":"\u0000"}`, "invalid_field", "metadata.a: must not contain the NUL character"},
	}
	s := setup(t)
	for _, c := range cases {
		status, e := s.refused(t, "POST", "/deposits", valid(c.field, c.raw))
		require.Equal(t, []any{400, c.code, c.message}, []any{status, e.Code, e.Message}, "%s: %s", c.field, c.raw)
	}
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return strings.Join(keys, ",")
}

func TestCreateDeposit_WhatIsMissing_IsSaidFirstAndInOrder(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for range 20 {
		_, e := s.refused(t, "POST", "/deposits", `{"accountId":7,"contractEndAt":"x","metadata":1}`)
		require.Equal(t, "amount: is required", e.Message)
		_, e = s.refused(t, "POST", "/deposits", valid("metadata", `1`)[:1]+`"clientId":1,`+valid("metadata", `1`)[1:])
		require.Equal(t, "clientId: must be a string", e.Message)
	}
}

// The domain checks the bounds of an amount. The HTTP layer must neither bound nor round an amount.
func TestCreateDeposit_Amount_ArrivesToTheDigit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	cases := []struct {
		raw   string
		cents money.Cents
		err   error
	}{
		{"70", 7000, nil},
		{"70.000", 7000, nil},
		{"7e1", 7000, nil},
		{"69.99", 6999, nil},
		{"2500.01", 250001, nil},
		{"0.1e3", 10000, nil},
		{"-70", -7000, nil},
		{"0", 0, nil},
		{"70.001", 0, money.ErrFractionCents},
		{"70.000000000000000000000000001", 0, money.ErrFractionCents},
		{"90071992547409.93", 9007199254740993, nil},
		{"1e-400", 0, money.ErrFractionCents},
		{"1e400", money.Limit, nil},
		{"-1e400", -money.Limit, nil},
	}
	for _, c := range cases {
		status, body, _ := s.do(t, "POST", "/deposits", valid("amount", c.raw))
		require.Equal(t, 201, status, body)
		got, err := s.take().(partnerapi.CreateDepositRequest).Amount.Cents()
		require.ErrorIs(t, err, c.err, c.raw)
		if c.cents < money.Limit && c.cents > -money.Limit {
			require.Equal(t, c.cents, got, c.raw)
		}
	}
}

func TestCreateDeposit_IsBoundFieldByField(t *testing.T) {
	t.Parallel()
	s := setup(t)
	status, body, header := s.do(t, "POST", "/deposits",
		`{"accountId":"acct_x","ACCOUNTID":"acct_y","amount":70.5,"Amount":"not ours",
		"contractStartAt":"2026-08-01T15:00:00.123456Z","contractEndAt":"2026-08-01T15:00:00+00:00",
		"rentalContract":" <Ünïcode> 😀 ","clientId":"",
		"depositUrlGeneration":true,"returnUrl":"no url at all","metadata":{"k":"v"},
		"locale":"fr","somethingNew":[{"deep":[1]}]}`)
	require.Equal(t, 201, status, body)
	require.JSONEq(t, `{"data":{"id":"dep_1","reference":"","status":"pending"}}`, body)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	str, yes := func(v string) *string { return &v }, true
	amount := partnerapi.EurosOf(7050)
	want := partnerapi.CreateDepositRequest{
		AccountID: "acct_x", Amount: amount,
		ContractStartAt:      partnerapi.TimestampOf(time.Date(2026, 8, 1, 15, 0, 0, 123456000, time.UTC)),
		ContractEndAt:        partnerapi.TimestampOf(time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC)),
		RentalContract:       str(" <Ünïcode> 😀 "),
		ClientID:             str(""),
		DepositURLGeneration: &yes,
		ReturnURL:            str("no url at all"),
		Metadata:             &partnerapi.Metadata{"k": "v"},
		Locale:               str("fr"),
	}
	require.Empty(t, cmp.Diff(want, s.take(), cmp.Comparer(func(a, b partnerapi.Euros) bool { return a == b })))
}

func TestOptionalBody_MayBeAbsentOrEmpty(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, body := range []string{"", "{}", `{"somethingNew":1}`} {
		s.do(t, "POST", "/deposits/dep_1/capture", body)
		require.Equal(t, partnerapi.CaptureDepositRequest{}, s.take())
	}
	s.do(t, "POST", "/deposits/dep_1/capture", `{"amount":1.5,"reason":"damage"}`)
	got := s.take().(partnerapi.CaptureDepositRequest)
	require.Equal(t, "1.5", got.Amount.String())

	_, e := s.refused(t, "POST", "/deposits/dep_1/capture", `{"reason":"greed"}`)
	require.Equal(t, "reason: must be one of damage, cleaning, missing_items, unpaid_charges, other", e.Message)
	_, e = s.refused(t, "POST", "/deposits/dep_1/capture", `{"amount":null}`)
	require.Equal(t, "amount: must be a number, not null", e.Message)
}

func TestRequiredBody_Absent_IsInvalidJSON(t *testing.T) {
	t.Parallel()
	s := setup(t)
	status, e := s.refused(t, "POST", "/deposits", "")
	require.Equal(t, []any{400, "invalid_json"}, []any{status, e.Code})
}

func TestBodyOnARouteWithoutOne_IsIgnored(t *testing.T) {
	t.Parallel()
	s := setup(t)
	status, _, _ := s.do(t, "POST", "/webhooks/pwh_1/rotate-secret", `{"secret":"mine"}`)
	require.Equal(t, 200, status)
	require.Equal(t, "pwh_1", s.take())
}

func TestWebhook_Shapes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const names = "rental_operator.linked, deposit.status_changed, deposit.activated, deposit.captured, deposit.expired, deposit.cancelled"
	cases := []struct{ method, path, body, code, message string }{
		{"POST", "/webhooks", `{}`, "missing_field", "url: is required"},
		{"POST", "/webhooks", `{"url":null}`, "invalid_field", "url: must be a string, not null"},
		{"POST", "/webhooks", `{"url":"https://a.example","events":[]}`, "invalid_field", "events: must not be empty"},
		{"POST", "/webhooks", `{"url":"https://a.example","events":"deposit.activated"}`, "invalid_field",
			"events: must be a list"},
		{"POST", "/webhooks", `{"url":"https://a.example","events":["deposit.activated","deposit.refused"]}`, "invalid_field",
			"events[1]: must be one of " + names},
		{"POST", "/webhooks", `{"url":"https://a.example","events":[1]}`, "invalid_field",
			"events[0]: must be one of " + names},
		{"POST", "/webhooks", `{"url":"https://a.example/` + strings.Repeat("a", 2048) + `"}`, "invalid_field",
			"url: is longer than 2048 characters"},
		{"PATCH", "/webhooks/pwh_1", `{"enabled":"yes"}`, "invalid_field", "enabled: must be true or false"},
		{"PATCH", "/webhooks/pwh_1", `{"events":null}`, "invalid_field", "events: must be a list, not null"},
		{"POST", "/test/deposits/dep_1/simulate", `{"outcome":"explode"}`, "invalid_field",
			"outcome: must be one of start, activate, decline, abandon, fail_payment, expire"},
		{"POST", "/test/deposits/dep_1/simulate", `{}`, "missing_field", "outcome: is required"},
	}
	for _, c := range cases {
		status, e := s.refused(t, c.method, c.path, c.body)
		require.Equal(t, []any{400, c.code, c.message}, []any{status, e.Code, e.Message}, c.body)
	}
	s.do(t, "PATCH", "/webhooks/pwh_1", `{}`)
	require.Equal(t, partnerapi.UpdateWebhookRequest{}, s.take())
	s.do(t, "POST", "/webhooks", `{"url":"not checked here","events":["deposit.activated"]}`)
	require.Equal(t, partnerapi.CreateWebhookRequest{URL: "not checked here",
		Events: []partnerapi.EventName{partnerapi.EventDepositActivated}}, s.take())
}

func TestListDeposits_Query(t *testing.T) {
	t.Parallel()
	s := setup(t)
	refused := []struct{ query, message string }{
		{"limit=0", "limit: must be a whole number from 1 to 100"},
		{"limit=101", "limit: must be a whole number from 1 to 100"},
		{"limit=100000000000", "limit: must be a whole number from 1 to 100"},
		{"limit=ten", "limit: must be a whole number from 1 to 100"},
		{"limit=1.5", "limit: must be a whole number from 1 to 100"},
		{"limit=", "limit: must be a whole number from 1 to 100"},
		{"limit=1&limit=2", "limit: must be given once"},
		{"status=", "status: must be one of pending, incomplete, active, cancelled, payment_issue, close, captured"},
		{"status=active,gone",
			"status: must be one of pending, incomplete, active, cancelled, payment_issue, close, captured"},
		{"createdFrom=yesterday", "createdFrom: must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"},
		{"createdTo=2026-08-01T00:00:00%2B02:00",
			"createdTo: must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"},
		{"externalId=a%00b", "externalId: must be UTF-8 text without the NUL character"},
		{"externalId=%ff", "externalId: must be UTF-8 text without the NUL character"},
		{"externalId=" + strings.Repeat("a", 256), "externalId: is longer than 255 characters"},
		{"externalId=%zz", "query: is not a well-formed query string"},
	}
	for _, c := range refused {
		status, e := s.refused(t, "GET", "/deposits?"+c.query, "")
		require.Equal(t, []any{400, "invalid_field", c.message}, []any{status, e.Code, e.Message}, c.query)
	}

	status, body, header := s.do(t, "GET",
		"/deposits?limit=7&cursor=x%2By&status=active,close&createdFrom=2026-06-01T00:00:00Z&createdTo=2026-06-02T00:00:00.5%2B00:00&externalId=a%26b&unknown=1",
		"")
	require.Equal(t, 200, status, body)
	require.Equal(t, `<https://api.example.com/next>; rel="next"`, header.Get("Link"))
	got := s.take().(partnerapi.ListDepositsParams)
	require.Equal(t, 7, *got.Limit)
	require.Equal(t, "x+y", *got.Cursor)
	require.Equal(t, "a&b", *got.ExternalID)
	require.Equal(t, []partnerapi.DepositStatus{partnerapi.DepositActive, partnerapi.DepositClosed}, got.Status)
	require.Equal(t, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), got.CreatedFrom.Time)
	require.Equal(t, time.Date(2026, 6, 2, 0, 0, 0, 5e8, time.UTC), got.CreatedTo.Time)
	require.Nil(t, got.ClientID)

	s.do(t, "GET", "/deposits", "")
	require.Equal(t, partnerapi.ListDepositsParams{}, s.take())
}

func TestPath_IDsAreOpaque(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for sent, want := range map[string]string{"dep_1": "dep_1", "a%20b%00%2F": "a b\x00/", "é": "é",
		strings.Repeat("x", 3000): strings.Repeat("x", 3000)} {
		s.do(t, "GET", "/deposits/"+sent, "")
		require.Equal(t, want, s.take())
	}
	a := servetest.Raw(t, strings.TrimPrefix(s.url, "http://"),
		"GET /api/partner/v1/deposits/%zz HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Equal(t, 404, a.Status)
	require.Contains(t, a.Body, "route_not_found")
}

func TestAnswers_WriteExactAmountsAndMilliseconds(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, body, _ := s.do(t, "GET", "/deposits/dep_1", "")
	require.Contains(t, body, `"amount":70.5,`)
	require.Contains(t, body, `"createdAt":"0001-01-01T00:00:00.000Z"`)
}

func TestCheck_RouteOutsideTheDocument_Panics(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	v, err := partnerapi.NewValidator(doc)
	require.NoError(t, err)
	require.Panics(t, func() { v.Check("GET", "/api/partner/v1/nothing") })
}

// BenchmarkCreateDeposit compares a request with and without the reading of JSON and the check.
func BenchmarkCreateDeposit(b *testing.B) {
	body :=
		`{"accountId":"acct_01jb2m1r6d9f4h8k3n5p7s2v0w","amount":500,"contractStartAt":"2026-08-01T15:00:00Z","contractEndAt":"2026-08-08T10:00:00Z","rentalContract":"BK-20260801-17","depositUrlGeneration":true,"returnUrl":"https://pms.example.com/bookings/17/deposit","metadata":{"bookingChannel":"direct"}}`
	unchecked := fiber.New(middleware.FiberConfig(middleware.ServerConfig{}))
	partnerapi.RegisterHandlers(unchecked, partnerapi.NewStrictHandler(&recorder{}, nil))
	for name, app := range map[string]*fiber.App{"checked": newApp(b, &recorder{}), "unchecked": unchecked} {
		b.Run(name, func(b *testing.B) {
			handler := app.Handler()
			var ctx fasthttp.RequestCtx
			b.ReportAllocs()
			for b.Loop() {
				ctx.Request.Reset()
				ctx.Response.Reset()
				ctx.Request.Header.SetMethod("POST")
				ctx.Request.Header.SetHost("x")
				ctx.Request.Header.SetContentType("application/json")
				ctx.Request.SetRequestURI("/api/partner/v1/deposits")
				ctx.Request.SetBodyString(body)
				handler(&ctx)
				if ctx.Response.StatusCode() != 201 {
					b.Fatal(ctx.Response.String())
				}
			}
		})
	}
}
