package partnerapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

// collection is what the deposit tells of the captured amount; nil for none.
func collection(d map[string]any) map[string]any {
	c, _ := d["collection"].(map[string]any)
	return c
}

func TestDeposit_Captured_TellsHowFarTheCollectionIs(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.simulated(d, "activate")
	require.NotContains(t, c.get("/deposits/"+d).ok(200), "collection", "only of a captured deposit")
	captured := c.post("/deposits/"+d+"/capture", map[string]any{"amount": 100}).ok(200)
	require.Equal(t, map[string]any{"status": "scheduled", "nextAttemptAt": captured["capturedAt"]}, collection(captured))
	require.Equal(t, collection(captured), collection(c.get("/deposits/"+d).ok(200)))

	n, err := c.Payments.CheckDue(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	paid := c.get("/deposits/" + d).ok(200)
	require.Equal(t, "paid", collection(paid)["status"])
	require.NotEmpty(t, collection(paid)["paidAt"])
	require.NotEmpty(t, collection(paid)["attemptedAt"])
	require.NotContains(t, collection(paid), "nextAttemptAt")
	require.Equal(t, captured["version"], paid["version"], "the deposit does not change")
	require.Equal(t, string(deposit.Captured), paid["status"])
}
