package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// received is a webhook as it arrived.
type received = receiver.Kept

// hook is a partner's endpoint. Its check of signatures uses only the contract, none of the service's code.
type hook struct{ *receiver.Keeper }

func newReceiver(t testing.TB) hook { return hook{receiver.NewKeeper(t)} }

// await waits until the n-th webhook was accepted.
func (r hook) await(t testing.TB, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.Accepted()) >= n }, soon, often, "webhooks: %s", lazy(func() string { return describe(r.All()) }))
	return r.Accepted()
}

func describe(all []received) string {
	var out string
	for _, w := range all {
		out += fmt.Sprintln(w.Event(), "answered", w.Answered, w.Wrong)
	}
	return out
}

// payload is the body of a webhook.
type payload struct {
	Event     string
	CreatedAt string
	Data      struct {
		ID, Reference, RentalContract, Status, PreviousStatus string
		AmountCents                                           int64
		Client                                                *struct{ ID, Email, FirstName, LastName string }
		PartnerContext                                        *struct{ PartnerID, PartnerName, ExternalID string }
		PartnerID, AccountID, ExternalID, LinkedAt            string
	}
}

func payloadOf(t testing.TB, r received) payload {
	t.Helper()
	var p payload
	require.NoError(t, json.Unmarshal(r.Body, &p))
	return p
}
