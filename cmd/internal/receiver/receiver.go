package receiver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Paths of the receiver.
const (
	WebhookPath = "/webhooks"
	SecretPath  = "/secret" //nolint:gosec // a path, no secret
	ThanksPath  = "/thanks"
)

const (
	maxBody   = 1 << 20
	maxSecret = 256
	// rememberAtMost bounds the memory of bodies seen; a real receiver keeps them in its database.
	rememberAtMost = 100_000
)

// Receiver prints each verified webhook.
type Receiver struct {
	out io.Writer

	mu     sync.Mutex
	secret string
	seen   map[string]bool
}

// New makes a receiver that prints to out. A receiver without a secret refuses everything.
func New(out io.Writer) *Receiver { return &Receiver{out: out, seen: map[string]bool{}} }

// SetSecret sets the signing secret, after creation and after each rotation.
func (r *Receiver) SetSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// Handler serves POST /webhooks and, for the demo, PUT /secret and GET /thanks, the tenants' return URL.
func (r *Receiver) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+WebhookPath, r.receive)
	mux.HandleFunc("PUT "+SecretPath, r.learn)
	mux.HandleFunc("GET "+ThanksPath, thank)
	return mux
}

// learn sets a new secret, so that the demo survives a rotation. A real receiver has the secret in its configuration.
func (r *Receiver) learn(w http.ResponseWriter, request *http.Request) {
	secret, err := io.ReadAll(io.LimitReader(request.Body, maxSecret))
	if err != nil || !strings.HasPrefix(string(secret), "svc_whsec_") {
		http.Error(w, "send the new signing secret, svc_whsec_…, as the body", http.StatusBadRequest)
		return
	}
	r.SetSecret(strings.TrimSpace(string(secret)))
	r.print("the receiver has learnt the new signing secret\n")
	w.WriteHeader(http.StatusNoContent)
}

// thank is the partner's page behind returnUrl. The query informs the tenant only; partners rely on the webhook.
func thank(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q := request.URL.Query()
	fmt.Fprintf(w, "Back at the partner.\n\ndepositId      %q\ndepositStatus  %q\n", q.Get("depositId"), q.Get("depositStatus")) // a failed write means that the tenant has left
}

func (r *Receiver) receive(w http.ResponseWriter, request *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	now := time.Now()
	reason := r.check(request.Header, raw, now)
	switch {
	case reason != "":
		r.print("✘ %s refused with 400: %s\n", now.Format(time.TimeOnly), reason)
		http.Error(w, string(reason), http.StatusBadRequest)
	case r.isRepeated(DedupKey(raw)):
		r.print("= %s %s again, %s…: seen before, nothing done\n", now.Format(time.TimeOnly), request.Header.Get("X-Svc-Event"), DedupKey(raw)[:12])
	default:
		r.print("✔ %s %s\n", now.Format(time.TimeOnly), Describe(raw))
	}
}

func (r *Receiver) check(header http.Header, raw []byte, now time.Time) Reason {
	r.mu.Lock()
	secret := r.secret
	r.mu.Unlock()
	return Verify(secret, header.Get("X-Svc-Signature"), header.Get("X-Svc-Timestamp"), raw, now)
}

func (r *Receiver) isRepeated(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= rememberAtMost {
		clear(r.seen)
	}
	repeated := r.seen[key]
	r.seen[key] = true
	return repeated
}

func (r *Receiver) print(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format, args...) // a failed write means that the terminal is gone
}

// Describe gives a summary line and the whole body below, indented.
func Describe(raw []byte) string {
	var b struct {
		Event string `json:"event"`
		Data  struct {
			ID             string `json:"id"`
			Reference      string `json:"reference"`
			Status         string `json:"status"`
			PreviousStatus string `json:"previousStatus"`
			AmountCents    int64  `json:"amountCents"`
			AccountID      string `json:"accountId"`
			ExternalID     string `json:"externalId"`
		} `json:"data"`
	}
	var pretty bytes.Buffer
	if json.Unmarshal(raw, &b) != nil || json.Indent(&pretty, raw, "    ", "  ") != nil {
		return "a body that is not JSON"
	}
	d := b.Data
	line := fmt.Sprintf("%s  %s %s  %s → %s  %d.%02d EUR", b.Event, d.Reference, d.ID, d.PreviousStatus, d.Status, d.AmountCents/100, d.AmountCents%100)
	if d.ID == "" {
		line = fmt.Sprintf("%s  %s is your operator %q", b.Event, d.AccountID, d.ExternalID)
	}
	return line + "\n    " + pretty.String()
}
