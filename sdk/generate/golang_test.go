package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGo_TheFileIsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	files, err := generateGo(readDocument(t))
	require.NoError(t, err)
	want, err := os.ReadFile("../go/api.gen.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(files["go/api.gen.go"]), "run go run ./sdk/generate")
}

func TestGo_NamesFollowTheHabitsOfTheLanguage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"id": "ID", "depositUrl": "DepositURL", "depositUrlGeneration": "DepositURLGeneration", "EUR": "EUR",
		"apiKeys": "APIKeys", "last4": "Last4", "bodySha256": "BodySHA256", "payment_issue": "PaymentIssue",
		"CreateApiKeyRequest": "CreateAPIKeyParams", "deposit.status_changed": "DepositStatusChanged",
	} {
		require.Equal(t, want, goName(name))
	}
}

// TestGo_ANewRoute_NeedsNoLineByHand adds what a route can bring: an id, fields of each kind, money, and an answer.
func TestGo_ANewRoute_NeedsNoLineByHand(t *testing.T) {
	t.Parallel()
	api := readDocument(t)
	field := func(name, kind string, required bool) Field {
		return Field{Name: name, Required: required, Ref: Ref{Kind: kind}}
	}
	fee := field("fee", "number", false)
	fee.Money = true
	note := field("note", "string", false)
	note.Nullable = true
	body := Type{Name: "QuoteRequest", Fields: []Field{fee, note, field("nights", "integer", true),
		field("from", "time", false), field("insured", "boolean", false), field("extra", "any", false)}}
	answer := Type{Name: "Quote", Fields: []Field{field("id", "string", true), field("ends", "time", false)}}
	api.Types = append(api.Types, body, answer)
	api.Resources = append(api.Resources, Resource{Name: "quotes", Methods: []Method{{
		Name: "create", OperationID: "createQuote", HTTP: "POST", Path: "/api/partner/v1/accounts/{accountId}/quotes",
		Summary: "Create a quote", PathParams: []Field{field("accountId", "string", true)}, Keyed: true,
		Body: &api.Types[len(api.Types)-2], Answer: &Ref{Kind: "ref", Name: "Quote"}, Shape: ShapeData,
	}}})
	files, err := generateGo(api)
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(files["go/api.gen.go"])), " ")
	for _, want := range []string{
		"Quotes *QuotesResource",
		"Create(ctx context.Context, accountID string, params *QuoteParams, opts ...CallOption) (*Quote, error)",
		`path: "/api/partner/v1/accounts/" + escape(accountID) + "/quotes", body: params.body(), keyed: true`,
		"Fee Money", "Note Nullable[string]", "Insured bool", "From time.Time", "Extra any", "Ends *time.Time",
		`body["nights"] = p.Nights if !p.From.IsZero() { body["from"] = p.From.UTC().Format(time.RFC3339Nano) }`,
	} {
		require.Contains(t, text, want)
	}
}
