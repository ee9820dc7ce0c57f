package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEgress_IsPublic_AndAnErrorWhereNoAddressesAreSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "EGRESS_ADDRESSES=203.0.113.128/25,2001:db8::7,203.0.113.7,203.0.113.7")
	h := w.http(t)
	status, body := fetch(w.baseURL + "/egress.json")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"addresses": ["203.0.113.7/32", "203.0.113.128/25", "2001:db8::7/128"]}`, body)
	require.EqualValues(t, 1,
		h.metric(`svc_http_requests_total{code="200",method="GET",route="/egress.json",surface="docs"}`))

	untold := newWorld(t)
	untold.http(t)
	status, body = fetch(untold.baseURL + "/egress.json")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, `"route_not_found"`)
}
