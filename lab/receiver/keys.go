package receiver

import (
	"slices"
	"sync"
	"time"
)

// SigningSecrets holds the signing secrets that webhooks of an endpoint may be signed with, during rotations too.
type SigningSecrets struct {
	mu  sync.Mutex
	all []signingKey
}

type signingKey struct {
	// The signing secret; "" while a request to replace the secret is unanswered.
	secret string
	// Time of the answer to the request that replaced the secret; zero: the secret is the current one.
	until time.Time
}

// LateArrivalWindow is how long a webhook that was sent before a rotation or a deletion may still arrive after the
// answer to it.
const LateArrivalWindow = 3 * time.Second

// BeginRotation records that a rotation of the signing secret has begun: a secret that is not known yet may sign from
// now on.
func (k *SigningSecrets) BeginRotation() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, signingKey{})
}

// RecordNewSecret records the new signing secret and the time at which the rotation was answered.
func (k *SigningSecrets) RecordNewSecret(secret string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.all)
	k.all[n-1].secret = secret
	if n > 1 {
		k.all[n-2].until = at
	}
}

// VerifyWebhook verifies a webhook's signature with each secret that may sign at its time of arrival. Returns ""
// for a valid webhook, and also while a rotation is under way whose new secret is not known.
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
