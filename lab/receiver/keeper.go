package receiver

import (
	"net/http"
	"slices"
	"sync"
)

// Kept is a webhook with the outcome of its check and the status of its answer.
type Kept struct {
	Webhook
	Wrong    Reason // "": the signature is right
	Answered int
}

// Keeper is an endpoint that keeps each webhook in the order of the answers. A wrong signature is answered with 400.
type Keeper struct {
	URL string

	mu      sync.Mutex
	secret  string
	answer  func(n int, w Webhook) int
	arrived int
	got     []Kept
}

// NewKeeper starts an endpoint that ends with t.
func NewKeeper(t interface {
	Cleanup(end func())
	Fatalf(format string, args ...any)
}) *Keeper {
	k := &Keeper{}
	base, end, err := Listen(Serve(k.take))
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(end)
	k.URL = base + "/hook"
	return k
}

// SetSecret sets the signing secret.
func (k *Keeper) SetSecret(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.secret = secret
}

// Secret is the signing secret.
func (k *Keeper) Secret() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.secret
}

// AnswerWith chooses the status for the n-th webhook, counted from 0, in place of 200. answer may wait.
func (k *Keeper) AnswerWith(answer func(n int, w Webhook) int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

// All are the webhooks so far.
func (k *Keeper) All() []Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.got)
}

// Accepted are the webhooks answered with 200, duplicates included.
func (k *Keeper) Accepted() []Kept {
	return slices.DeleteFunc(k.All(), func(w Kept) bool { return w.Answered != http.StatusOK })
}

func (k *Keeper) take(w Webhook) (Answer, func(bool)) {
	k.mu.Lock()
	secret, answer, n := k.secret, k.answer, k.arrived
	k.arrived++
	k.mu.Unlock()
	kept := Kept{Webhook: w, Wrong: w.Check(secret), Answered: http.StatusOK}
	switch {
	case kept.Wrong != "":
		kept.Answered = http.StatusBadRequest
	case answer != nil:
		kept.Answered = answer(n, w)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.got = append(k.got, kept)
	return Status(kept.Answered), nil
}
