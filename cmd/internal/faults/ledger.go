package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// key names a delivery by what a receiver can see of it: the deposit, the status it came to, and the endpoint.
type key struct {
	deposit  id.ID
	status   status
	endpoint int
}

// status is that of a deposit in a payload.
type status string

// account is what the receivers know of one delivery.
type account struct {
	sum     [sha256.Size]byte
	taken   []time.Time // when the copies arrived that were answered with a 2xx
	refused int         // copies that were not
	open    int         // copies that are being answered
	varies  bool        // two copies were not the same
}

// ledger is the log of all receivers. It is what a partner could swear to, and knows nothing of our database.
type ledger struct {
	mu        sync.Mutex
	accounts  map[key]*account
	copies    int
	taken     int       // first 2xx of a delivery
	extra     int       // 2xx beyond it
	lastTaken time.Time // the last first 2xx
	awaiting  []chan struct{}

	violations map[string][]string
}

func newLedger() *ledger {
	return &ledger{accounts: map[key]*account{}, violations: map[string][]string{}}
}

// arrive notes a copy before it is answered and tells how many came before it.
func (l *ledger) arrive(k key, body []byte) (before int) {
	sum := sha256.Sum256(body)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[k]
	if a == nil {
		a = &account{sum: sum}
		l.accounts[k] = a
	}
	a.varies = a.varies || a.sum != sum
	before = len(a.taken) + a.refused + a.open
	a.open++
	l.copies++
	return before
}

// outcome is how a copy ended at the receiver.
type outcome int

const (
	refused   outcome = iota // answered otherwise than with a 2xx, or not at all
	taken                    // answered with a 2xx
	abandoned                // the sender was killed while it waited
)

// answer notes how a copy ended that arrived at at.
func (l *ledger) answer(k key, at time.Time, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[k]
	a.open--
	if o == refused {
		a.refused++
	}
	if o != taken {
		return
	}
	a.taken = append(a.taken, at)
	if len(a.taken) > 1 {
		l.extra++
		return
	}
	l.taken++
	l.lastTaken = time.Now()
	for _, c := range l.awaiting {
		close(c)
	}
	l.awaiting = nil
}

// nextTaken gives a channel that is closed when some delivery is taken for the first time.
func (l *ledger) nextTaken() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	l.awaiting = append(l.awaiting, c)
	return c
}

// snapshot copies all accounts.
func (l *ledger) snapshot() map[key]account {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[key]account, len(l.accounts))
	for k, a := range l.accounts {
		out[k] = *a
	}
	return out
}

// duplicates is how many 2xx there were beyond the first ones.
func (l *ledger) duplicates() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.extra
}

// toldAtMost bounds how often one kind of violation is told in full.
const toldAtMost = 5

// violate notes that something happened which must not.
func (l *ledger) violate(kind, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations[kind] = append(l.violations[kind], fmt.Sprintf(format, args...))
}

// count of violations of a kind.
func (l *ledger) count(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.violations[kind])
}
