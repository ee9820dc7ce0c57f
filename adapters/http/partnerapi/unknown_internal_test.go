package partnerapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The contract walk tries an unknown field in every object of every body, and an unknown parameter of every route. Here
// are the words.
func TestCheck_OfAnUnknownName_TellsWhatMayBeMeant(t *testing.T) {
	t.Parallel()
	const capture, batch = "/deposits/dep_1/capture", "/deposits/dep_1/send-link/batch"
	const ofCapture = "; known are amount, currency, description, reason."
	const noQuery, noBodyHere = "; this route takes no query parameters.", "; this route takes no body."
	long := strings.Repeat("k", 5000)
	meant := func(name string) string { return "; did you mean `" + name + "`?" }
	c := newChecked(t)
	for _, k := range []struct{ method, target, body, name, hint string }{
		{"POST", capture, `{"amountCents":12050}`, "amountCents", meant("amount")},
		{"POST", capture, `{"amout":10}`, "amout", meant("amount")},
		{"POST", capture, `{"Amount":120.5}`, "Amount", meant("amount")},
		{"POST", capture, `{"amount":1,"AMOUNT_EUR":null}`, "AMOUNT_EUR", meant("amount")},
		{"POST", capture, `{"data":{"amount":120.5}}`, "data", ofCapture},
		{"POST", capture, `{"zzz":1,"amount":"x","mount":2}`, "mount", meant("amount")},
		{"POST", capture + "?amount=120.50", ``, "amount", noQuery},
		{"POST", capture + "?amount=120.50", `{"amout":1}`, "amount", noQuery},
		{"POST", "/deposits", depositWith("rental_contract", `"BK-1"`), "rental_contract", meant("rentalContract")},
		{"POST", "/deposits", depositWith("rental", `7`), "rental", meant("rentalContract")},
		{"POST", "/deposits", depositWith("metaData", `{}`), "metaData", meant("metadata")},
		{"POST", "/deposits", strings.Replace(depositWith("amount", ``), "accountId", "account_id", 1), "account_id",
			meant("accountId")}, // though amount is missing
		{"POST", "/clients", `{"name":"Zoé"}`, "name", // which of two?
			"; known are accountId, email, firstName, lastName, locale, phone."},
		{"POST", batch, `{"recipients":[{"email":"a@b.example"},{"emial":"x"}]}`, "recipients[1].emial", meant("email")},
		{"POST", batch, `{"recipients":[{"email":"a@b.example","to":{"x":1}}]}`, "recipients[0].to",
			"; known are email, locale."},
		{"POST", batch, `{"recipient":[],"recipients":[{"x":1}]}`, "recipient", meant("recipients")},
		{"PATCH", "/webhooks/pwh_1", `{"event":["deposit.activated"]}`, "event", meant("events")},
		{"POST", "/webhooks", `{"callbackUrl":"https://a.example"}`, "callbackUrl", meant("url")},
		{"POST", "/webhooks/pwh_1/rotate-secret", `{"secret":"mine"}`, "secret", noBodyHere},
		{"GET", "/me", `{"x":null}`, "x", noBodyHere},
		{"DELETE", "/webhooks/pwh_1", `{"force":true}`, "force", noBodyHere},
		{"GET", "/deposits?rental_contract=BK-1", ``, "rental_contract", meant("rentalContract")},
		{"GET", "/deposits?clientid=x&limit=7", ``, "clientid", meant("clientId")},
		{"GET", "/deposits?limit=0&Status=active&b=1", ``, "Status", meant("status")},
		{"GET", "/deposits?reference=D-1", ``, "reference",
			"; known are accountId, clientId, createdFrom, createdTo, cursor, externalId, limit, rentalContract, status."},
		{"GET", "/me?%00=1", ``, "?", noQuery},
		{"GET", "/me?=1", ``, "", noQuery},
		{"DELETE", "/accounts/acct_1?force=1", ``, "force", noQuery},
		{"POST", capture, `{"` + long + `":"secret"}`, long[:120] + "…", ofCapture},
		{"POST", capture, `{"a\nb<é":1}`, "?", ofCapture},
		{"POST", capture, "{\"\u202eamount\":1}", "?", meant("amount")},
		{"POST", capture, "{\"x` is fine\":1}", "?", ofCapture},
		{"POST", capture, "{\"x`fine\":1}", "x?fine", ofCapture},
	} {
		for range 3 { // equal requests always get the same message
			require.Equal(t, "unknown_field: `"+k.name+"` is unknown"+k.hint, c.refusal(t, k.method, k.target, k.body), k.body)
		}
	}
	for _, k := range []struct{ method, target, body string }{
		{"POST", "/deposits", depositWith("metadata", `{"amountCents":"1","":"x"}`)},
		{"POST", "/webhooks/pwh_1/explain", `{"headers":{"amount":"1"},"body":"e30="}`},
		{"POST", "/deposits", depositWith("currency", `"EUR"`)},
		{"POST", capture, `{"currency":"EUR"}`},
		{"GET", "/me?", `{}`},
		{"DELETE", "/webhooks/pwh_1?&", ` { } `},
		{"POST", "/webhooks/pwh_1/test", `{}`},
	} {
		require.Empty(t, c.refusal(t, k.method, k.target, k.body), k.target+k.body)
	}
}

// Every example of the document is what the service answers.
func TestCheck_OfAnUnknownName_AnswersAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	doc, err := OpenAPIDocument()
	require.NoError(t, err)
	tried := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			response := op.Responses.Status(400)
			if response == nil {
				continue
			}
			examples := response.Value.Content.Get("application/json").Examples
			require.Contains(t, examples, "unknown_field", op.OperationID)
			e := examples["unknown_field"].Value.Value.(map[string]any)
			message := e["error"].(map[string]any)["message"].(string)
			name := strings.Split(message, "`")[1]
			target, body := strings.TrimPrefix(path, PathPrefix), `{"`+name+`":null}`
			if op.RequestBody == nil {
				target, body = target+"?"+name+"=1", ""
			}
			if list, inner, nested := strings.Cut(name, "[0]."); nested {
				body = `{"` + list + `":[{"` + inner + `":null}]}`
			}
			require.Equal(t, "unknown_field: "+message, c.refusal(t, method, target, body), op.OperationID)
			tried++
		}
	}
	require.Greater(t, tried, 20)
}

func TestCheck_OfTheCurrency_TakesEurosAlone(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	for raw, want := range map[string]string{`"GBP"`: "must be EUR", `"eur"`: "must be EUR", `""`: "must be EUR",
		`"EUR "`: "must be EUR", `["EUR"]`: "must be EUR", `978`: "must be EUR", `null`: "must be EUR"} {
		for path, body := range map[string]string{"/deposits": depositWith("currency", raw),
			"/deposits/dep_1/capture": `{"currency":` + raw + `}`} {
			require.Equal(t, "invalid_field: currency: "+want, c.refusal(t, "POST", path, body))
		}
	}
}

// An empty filter would list everything.
func TestCheck_OfAnEmptyFilter_IsRefused(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	for target, name := range map[string]string{"/deposits?rentalContract=": "rentalContract",
		"/deposits?externalId": "externalId", "/deposits?clientId=&limit=1": "clientId", "/deposits?accountId=": "accountId",
		"/accounts?externalId=": "externalId", "/clients?email=": "email", "/clients?accountId=": "accountId",
		"/events?depositId=": "depositId", "/webhooks/pwh_1/deliveries?depositId=": "depositId",
		"/deposits?cursor=": "cursor"} {
		require.Equal(t, "invalid_field: "+name+": must not be empty", c.refusal(t, "GET", target, ""))
	}
	for _, target := range []string{"/accounts?status=", "/events/feed?after=", "/events?event=", "/events?from="} {
		require.Contains(t, c.refusal(t, "GET", target, ""), "invalid_field: ", target)
	}
}
