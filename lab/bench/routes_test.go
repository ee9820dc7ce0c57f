package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

func TestRouteCalls_CallEveryRouteOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	var documented, called []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, c := range (&workbench{}).routeCalls(testPartner{subscriptions: []id.ID{{}}}) {
		called = append(called, c.method+" "+world.APIPrefix+c.route)
	}
	slices.Sort(documented)
	slices.Sort(called)
	require.Equal(t, documented, slices.Compact(called))
}

func TestRouteCall_Request_TakesTheKeptIDsInTurn(t *testing.T) {
	t.Parallel()
	kept := keptIDs{id.Subscription: {"pwh_0"}, id.Deposit: {"dep_0", "dep_1", "dep_2"}}
	paths := func(c routeCall) (all []string) {
		for n := range 3 {
			all = append(all, c.request(kept, "k", n).path)
		}
		return all
	}
	require.Equal(t, []string{"/webhooks/pwh_0/test", "/webhooks/pwh_0/test", "/webhooks/pwh_0/test"},
		paths(routeCall{route: "/webhooks/{webhookId}/test"}))
	require.Equal(t, []string{"/deposits/dep_1?x", "/deposits/dep_2?x", "/deposits/dep_0?x"},
		paths(routeCall{route: "/deposits/{depositId}", query: "?x", from: 1}))
	require.Equal(t, request{method: "POST", path: "/me", apiKey: "k", body: `{"n":7}`, keyed: true},
		routeCall{method: "POST", route: "/me", body: `{"n":{n}}`, keyed: true}.request(kept, "k", 7))
}

func TestIDIn_IsTheFirstOfItsKind(t *testing.T) {
	t.Parallel()
	first, err := idIn([]byte(`{"data":[{"createdAt":"…","id":"evt_1","data":{"id":"dep_1"}}]}`), id.Event)
	require.NoError(t, err)
	require.Equal(t, "evt_1", first)
	_, err = idIn([]byte(`{"data":[]}`), id.Event)
	require.Error(t, err)
}
