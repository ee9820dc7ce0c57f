package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/id"
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
	for _, c := range (&world{}).routeCalls(testPartner{subscriptions: []id.ID{{}}}) {
		called = append(called, c.method+" "+prefix+c.route)
	}
	slices.Sort(documented)
	slices.Sort(called)
	require.Equal(t, documented, slices.Compact(called))
}

func TestMadeIDs_KeepTheIDsOfTheirPrefix(t *testing.T) {
	t.Parallel()
	m := madeIDs{}
	keep := m.keep(id.Event)
	require.NoError(t, keep(0, []byte(`{"data":[{"createdAt":"…","id":"evt_1","data":{"id":"dep_1"}}]}`)))
	require.NoError(t, keep(1, []byte(`{"data":{"id":"evt_2"}}`)))
	require.Error(t, keep(2, []byte(`{"data":[]}`)))
	require.Equal(t, "/events/evt_2/x", m.of(id.Event, 1, "/events/", "/x")(0))
}
