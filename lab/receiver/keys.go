package receiver

import (
	"slices"
	"sync"
	"time"
)

// SigningSecrets holds the secrets that may sign an endpoint's webhooks, during rotations too.
type SigningSecrets struct {
	mu  sync.Mutex
	all []signingKey
}

type signingKey struct {
	// The signing secret; "" while its replacement is unanswered.
	secret string
	// Time of the answer that replaced the secret; zero: it is the current one.
	until time.Time
}

// LateArrivalWindow is how long a webhook from before a rotation or a deletion may still arrive.
const LateArrivalWindow = 3 * time.Second

// BeginRotation records that a signing secret not yet known may sign from now on.
func (k *SigningSecrets) BeginRotation() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, signingKey{})
}

// RecordNewSecret records a new signing secret, and when its rotation was answered.
func (k *SigningSecrets) RecordNewSecret(secret string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.all)
	k.all[n-1].secret = secret
	if n > 1 {
		k.all[n-2].until = at
	}
}

// VerifyWebhook tries each secret that may sign at the webhook's arrival. It returns "" for a valid webhook, and
// while a new secret is unknown.
func (k *SigningSecrets) VerifyWebhook(w Webhook) RejectReason {
	k.mu.Lock()
	keys := slices.Clone(k.all)
	k.mu.Unlock()
	reason := RejectMissingSignature
	for _, key := range keys {
		if key.secret == "" {
			return ""
		}
		if !key.until.IsZero() && w.At.After(key.until.Add(LateArrivalWindow)) {
			continue
		}
		if reason = w.VerifySignature(key.secret); reason == "" {
			return ""
		}
	}
	return reason
}
