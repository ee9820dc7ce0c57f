package receiver

import (
	"slices"
	"sync"
	"time"
)

// Keys are the secrets that may sign the webhooks of an endpoint.
type Keys struct {
	mu  sync.Mutex
	all []signingKey
}

type signingKey struct {
	secret string    // "": a rotation is under way, and its answer is missing
	until  time.Time // when the rotation that replaced it was answered; zero: current
}

// Settling is the time after the answer to a rotation or a deletion in which a webhook sent before may still arrive.
const Settling = 3 * time.Second

// Rotate begins a rotation: a secret that nobody knows yet may sign from now on.
func (k *Keys) Rotate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, signingKey{})
}

// Learn ends the rotation with its answer.
func (k *Keys) Learn(secret string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.all)
	k.all[n-1].secret = secret
	if n > 1 {
		k.all[n-2].until = at
	}
}

// Check verifies a signature with each secret that may sign.
func (k *Keys) Check(w Webhook) Reason {
	k.mu.Lock()
	keys := slices.Clone(k.all)
	k.mu.Unlock()
	reason := Missing
	for _, key := range keys {
		if key.secret == "" {
			return ""
		}
		if !key.until.IsZero() && w.At.After(key.until.Add(Settling)) {
			continue
		}
		if reason = w.Check(key.secret); reason == "" {
			return ""
		}
	}
	return reason
}
