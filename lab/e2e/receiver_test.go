package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// received is a webhook with the outcome of its check and the status of its answer.
type received struct {
	receiver.Webhook
	Wrong    receiver.RejectReason // "": the signature is right
	Answered int
}

// hook is a partner's endpoint that keeps each webhook in the order of the answers. A wrong signature is answered with
// 400. The check of signatures uses only the contract, none of the service's code.
type hook struct {
	URL string

	mu      sync.Mutex
	secrets []string
	answer  func(n int, w receiver.Webhook) int
	arrived int
	got     []received
}

func newReceiver(t testing.TB) *hook {
	t.Helper()
	r := &hook{}
	base, end, err := receiver.StartServer(receiver.WebhookHandler(r.take))
	require.NoError(t, err)
	t.Cleanup(end)
	r.URL = base + "/hook"
	return r
}

// SetSecret sets the signing secret, or several of which either will do.
func (r *hook) SetSecret(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// Secret is the signing secret.
func (r *hook) Secret() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.secrets[0]
}

// AnswerWith chooses the status for the n-th webhook, counted from 0, in place of 200. answer may wait.
func (r *hook) AnswerWith(answer func(n int, w receiver.Webhook) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// All are the webhooks so far.
func (r *hook) All() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Accepted are the webhooks answered with 200, duplicates included.
func (r *hook) Accepted() []received {
	return slices.DeleteFunc(r.All(), func(w received) bool { return w.Answered != http.StatusOK })
}

func (r *hook) take(w receiver.Webhook) (receiver.Responder, func(bool)) {
	r.mu.Lock()
	secrets, answer, n := r.secrets, r.answer, r.arrived
	r.arrived++
	r.mu.Unlock()
	kept := received{Webhook: w, Wrong: w.VerifySignature(""), Answered: http.StatusOK}
	for _, secret := range secrets {
		if kept.Wrong = w.VerifySignature(secret); kept.Wrong == "" {
			break
		}
	}
	switch {
	case kept.Wrong != "":
		kept.Answered = http.StatusBadRequest
	case answer != nil:
		kept.Answered = answer(n, w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, kept)
	return receiver.RespondStatus(kept.Answered), nil
}

// await waits until the n-th webhook was accepted.
func (r *hook) await(t testing.TB, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.Accepted()) >= n }, soon, often, "webhooks: %s",
		lazy(func() string { return describe(r.All()) }))
	return r.Accepted()
}

func describe(all []received) string {
	var out string
	for _, w := range all {
		out += fmt.Sprintln(w.EventName(), "answered", w.Answered, w.Wrong)
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
		Version                                               int
		CapturedAmountCents                                   *int64
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
