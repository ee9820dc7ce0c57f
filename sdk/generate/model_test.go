package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readDocument(t *testing.T) *API {
	t.Helper()
	text, err := os.ReadFile("../../adapters/http/partnerapi/openapi.yaml")
	require.NoError(t, err)
	api, err := read(text, "1.0.0")
	require.NoError(t, err)
	return api
}

// TestRead_NamesOfMethods_AreThoseOfTheKit pins the names that partners write: an interface.
func TestRead_NamesOfMethods_AreThoseOfTheKit(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"me": "get", "apiKeys": "create list delete", "accounts": "list get delete",
		"webhooks":   "create list get update delete rotateSecret test explain replay",
		"deliveries": "list get redeliver", "events": "list feed get",
		"clients":  "create list get update delete",
		"deposits": "create list get cancel release capture sendLink sendLinkBatch",
		"test":     "simulate", "connect": "explain",
	}
	got := map[string]string{}
	for _, r := range readDocument(t).Resources {
		var names []string
		for _, m := range r.Methods {
			names = append(names, m.Name)
		}
		got[r.Name] = strings.Join(names, " ")
	}
	require.Equal(t, want, got)
}

func TestRead_ShapesAndTypes(t *testing.T) {
	t.Parallel()
	api := readDocument(t)
	methods := map[string]Method{}
	for _, r := range api.Resources {
		for _, m := range r.Methods {
			methods[r.Name+"."+m.Name] = m
		}
	}
	create := methods["deposits.create"]
	require.Equal(t, ShapeData, create.Shape)
	require.True(t, create.Keyed)
	require.True(t, create.BodyRequired)
	require.Equal(t, "CreateDepositRequest", create.Body.Name)
	require.Equal(t, "CreatedDeposit", create.Answer.Name)
	require.Contains(t, create.Codes, "amount_below_minimum")
	money := slices.IndexFunc(create.Body.Fields, func(f Field) bool { return f.Name == "amount" })
	require.True(t, create.Body.Fields[money].Money)
	require.Equal(t, ShapePage, methods["deliveries.list"].Shape)
	require.Equal(t, "Delivery", methods["deliveries.list"].Answer.Name)
	require.Len(t, methods["deliveries.get"].PathParams, 2)
	require.Equal(t, ShapeWhole, methods["events.feed"].Shape)
	require.Equal(t, ShapeNone, methods["apiKeys.delete"].Shape)
	require.Equal(t, "array", methods["deposits.sendLinkBatch"].Answer.Kind)
	names := map[string]bool{}
	for _, each := range api.Types {
		require.False(t, names[each.Name], each.Name)
		names[each.Name] = true
		require.Equal(t, 1, count(each.Fields != nil)+count(each.Enum != nil)+count(each.OneOf != nil), each.Name)
	}
	require.True(t, names["MeLimits"], "an object without a name of its own")
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
