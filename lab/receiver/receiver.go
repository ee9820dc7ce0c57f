package receiver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// URL paths of the demo receiver.
const (
	WebhookPath = "/webhooks"
	SecretPath  = "/secret" //nolint:gosec // a path, no secret
	ThanksPath  = "/thanks"
)

const (
	maxBody   = 1 << 20
	maxSecret = 256
	// rememberAtMost bounds the hashes that recognise duplicate webhooks; a real receiver keeps them in its database.
	rememberAtMost = 100_000
	// lookupTimeout for reading a captured amount is below the 10 seconds that the sender of webhooks waits.
	lookupTimeout = 3 * time.Second
)

// CapturedAmountLookup reads a deposit's captured amount in cents: the payload of deposit.captured has the whole
// amount only (service.md, "Payload, deposit events").
type CapturedAmountLookup func(ctx context.Context, depositID string) (cents int64, err error)

// Receiver is a demo that prints each verified webhook.
type Receiver struct {
	secret atomic.Pointer[string]
	lookup atomic.Pointer[CapturedAmountLookup]

	mu   sync.Mutex
	out  io.Writer
	seen map[string]bool
}

// New returns a demo receiver that prints to out. Until SetSecret it refuses every webhook.
func New(out io.Writer) *Receiver {
	r := &Receiver{out: out, seen: map[string]bool{}}
	r.SetSecret("")
	return r
}

// SetSecret sets the secret that verifies webhooks, after the subscription's creation and each rotation.
func (r *Receiver) SetSecret(secret string) { r.secret.Store(&secret) }

// SetCapturedAmountLookup makes the receiver print captured amounts.
func (r *Receiver) SetCapturedAmountLookup(lookup CapturedAmountLookup) { r.lookup.Store(&lookup) }

// Handler serves POST /webhooks and, for the demo, PUT /secret and GET /thanks, the tenants' return URL.
func (r *Receiver) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST "+WebhookPath, WebhookHandler(r.receive))
	mux.HandleFunc("PUT "+SecretPath, r.learn)
	mux.HandleFunc("GET "+ThanksPath, thank)
	return mux
}

// learn handles PUT /secret, which sets a new signing secret in the demo. A real receiver has it in its
// configuration.
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

// thank serves the partner's page to which tenants return (returnUrl). Partners rely on the webhook, not on its
// query.
func thank(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q := request.URL.Query()
	// A failed write only means that the tenant has closed the connection.
	fmt.Fprintf(w, "Back at the partner.\n\ndepositId      %q\ndepositStatus  %q\n", q.Get("depositId"),
		q.Get("depositStatus"))
}

func (r *Receiver) receive(w Webhook) (Responder, func(bool)) {
	at := w.At.Format(time.TimeOnly)
	if reason := w.VerifySignature(*r.secret.Load()); reason != "" {
		r.print("✘ %s refused with 400: %s\n", at, reason)
		return RespondRefusal(string(reason)), nil
	}
	// All attempts of a delivery have the same body, so its hash recognises duplicates.
	key := fmt.Sprintf("%x", sha256.Sum256(w.Body))
	r.mu.Lock()
	if len(r.seen) >= rememberAtMost {
		clear(r.seen)
	}
	repeated := r.seen[key]
	r.seen[key] = true
	r.mu.Unlock()
	if repeated {
		r.print("= %s %s again, %s…: seen before, nothing done\n", at, w.EventName(), key[:12])
	} else {
		r.print("✔ %s %s\n", at, r.describe(w.Request.Context(), w.Body))
	}
	return RespondOK, nil
}

func (r *Receiver) print(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A failed write only means that the terminal is gone.
	fmt.Fprintf(r.out, format, args...)
}

// payload holds the webhook fields of the summary line.
type payload struct {
	Event string
	Data  struct {
		ID, Reference, Status, PreviousStatus, AccountID, ExternalID string

		AmountCents int64
	}
}

// describe returns a webhook's summary line and its whole body, indented.
func (r *Receiver) describe(ctx context.Context, raw []byte) string {
	var b payload
	var pretty bytes.Buffer
	if json.Unmarshal(raw, &b) != nil || json.Indent(&pretty, raw, "    ", "  ") != nil {
		return "a body that is not JSON"
	}
	d := b.Data
	line := fmt.Sprintf("%s  %s is your operator %q", b.Event, d.AccountID, d.ExternalID)
	if d.ID != "" {
		line = fmt.Sprintf("%s  %s %s  %s → %s  %s", b.Event, d.Reference, d.ID, d.PreviousStatus, d.Status,
			r.amount(ctx, b))
	}
	return line + "\n    " + pretty.String()
}

// amount returns the deposit's amount as text; for deposit.captured the captured part comes first.
func (r *Receiver) amount(ctx context.Context, b payload) string {
	amount := euros(b.Data.AmountCents)
	if b.Event != "deposit.captured" {
		return amount
	}
	if lookup := r.lookup.Load(); lookup != nil {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		if captured, err := (*lookup)(ctx, b.Data.ID); err == nil {
			return euros(captured) + " of " + amount
		}
	}
	return "a part or all of " + amount
}

func euros(cents int64) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }
