package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A request line of http and the delivery lines of the dispatcher share the request's id. Where traces are off, nothing
// else in the logs joins the two.
func TestLog_ALineOfADelivery_NamesTheRequestOfTheChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "LOG_LEVEL=debug")
	h, d, r := w.http(t), w.dispatcher(t), newReceiver(t)
	webhookID := w.subscribe(t, r)
	depositID, _ := w.deposit(t, w.link(t, "villa-18"))
	w.api(t).post("/deposits/"+depositID+"/cancel", map[string]any{"reason": "duplicate"}, nil)
	w.api(t).post("/webhooks/"+webhookID+"/test", nil, nil)
	w.api(t).post("/webhooks/"+webhookID+"/deliveries/"+w.allDeliveries(t, webhookID)[0].ID+"/redeliver", nil, nil)
	events := map[string]bool{}
	for _, got := range r.await(t, 4) {
		events[got.EventName()] = true
	}
	require.Subset(t, events, map[string]bool{"rental_operator.linked": true, "deposit.cancelled": true})
	require.Zero(t, h.stop(t))
	require.Zero(t, d.stop(t))

	attempted := map[any]bool{}
	for _, line := range logLines(t, d.log.String(), "delivery attempted") {
		require.Equal(t, "success", line["result"])
		attempted[line["request_id"]] = true
	}
	for _, route := range []string{
		"/register", "/api/partner/v1/deposits/:depositId/cancel", "/api/partner/v1/webhooks/:webhookId/test",
		"/api/partner/v1/webhooks/:webhookId/deliveries/:deliveryId/redeliver",
	} {
		named := false
		for _, line := range logLines(t, h.log.String(), "request") {
			named = named || line["route"] == route && line["method"] == "POST" && attempted[line["request_id"]]
		}
		require.True(t, named, "%s is in no line of a delivery: %v", route, attempted)
	}
}

// logLines gives the lines with a message.
func logLines(t testing.TB, log, message string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		var entry map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		if entry["msg"] == message {
			lines = append(lines, entry)
		}
	}
	return lines
}
