package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// received is a webhook as it arrived.
type received struct {
	body                        []byte
	event, timestamp, signature string
	contentType                 string
	header                      http.Header
	wrong                       string // the mistake in the signature; "": none
	answered                    int
}

// receiver is a partner's endpoint. Its check of signatures uses only the contract, none of the service's code.
type receiver struct {
	url string

	mu      sync.Mutex
	secret  string
	arrived int
	got     []received                  // in the order of their responses
	answer  func(n int, r received) int // status for the n-th webhook, from 0; nil: always 200
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.url = server.URL + "/hook"
	return r
}

func (r *receiver) setSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) signingSecret() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.secret
}

func (r *receiver) answerWith(answer func(n int, r received) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	h := request.Header
	webhook := received{
		body: body, event: h.Get("X-Svc-Event"), timestamp: h.Get("X-Svc-Timestamp"), signature: h.Get("X-Svc-Signature"),
		contentType: h.Get("Content-Type"), header: h.Clone(),
	}
	r.mu.Lock()
	secret, answer, n := r.secret, r.answer, r.arrived
	r.arrived++
	r.mu.Unlock()
	webhook.wrong = wrongWith(secret, webhook, time.Now())
	webhook.answered = http.StatusOK
	switch {
	case webhook.wrong != "":
		webhook.answered = http.StatusBadRequest
	case answer != nil:
		webhook.answered = answer(n, webhook)
	}
	r.mu.Lock()
	r.got = append(r.got, webhook)
	r.mu.Unlock()
	w.WriteHeader(webhook.answered)
}

// wrongWith is the check of a partner who has read the contract: HMAC-SHA256 over "<timestamp>.<rawBody>" (service.md,
// "Webhook signature").
func wrongWith(secret string, w received, now time.Time) string {
	hash := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(hash, w.timestamp)
	_, _ = io.WriteString(hash, ".")
	_, _ = hash.Write(w.body)
	if want := "sha256=" + hex.EncodeToString(hash.Sum(nil)); !hmac.Equal([]byte(want), []byte(w.signature)) {
		return "signature"
	}
	seconds, err := strconv.ParseInt(w.timestamp, 10, 64)
	if err != nil || now.Unix()-seconds > 300 || seconds-now.Unix() > 300 {
		return "expired"
	}
	return ""
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// accepted gives the webhooks answered with 200, duplicates included.
func (r *receiver) accepted() []received {
	var out []received
	for _, w := range r.all() {
		if w.answered == http.StatusOK {
			out = append(out, w)
		}
	}
	return out
}

// await waits until the n-th webhook was accepted.
func (r *receiver) await(t testing.TB, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.accepted()) >= n }, soon, often, "webhooks: %s", lazy(func() string { return describe(r.all()) }))
	return r.accepted()
}

func describe(all []received) string {
	var out string
	for _, w := range all {
		out += w.event + " answered " + strconv.Itoa(w.answered) + " " + w.wrong + "\n"
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

func (r received) payload(t testing.TB) payload {
	t.Helper()
	var p payload
	require.NoError(t, json.Unmarshal(r.body, &p))
	return p
}
