package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// key names a delivery by the facts that a receiver can see: the deposit, its status, and the endpoint.
type key struct {
	deposit  id.ID
	status   status
	endpoint int
}

// String names the delivery in violations.
func (k key) String() string {
	return fmt.Sprintf("endpoint %d was told that %s is %s", k.endpoint, id.Deposit.Of(k.deposit), k.status)
}

// status is a deposit's status in a payload.
type status string

// receipts are the copies of a single delivery at its receiver.
type receipts struct {
	sum     [sha256.Size]byte
	taken   []time.Time // arrival times of the copies answered with a 2xx
	refused int         // copies answered otherwise, or not at all
	copies  int
	varies  bool // bodies of copies differed
}

// receiptLog is the log of all receivers. It is the partners' evidence and uses nothing from the service's database.
type receiptLog struct {
	mu         sync.Mutex
	deliveries map[key]*receipts
	lastTaken  time.Time // time of the last first 2xx of a delivery
	violations map[string][]string
}

func newReceiptLog() *receiptLog {
	return &receiptLog{deliveries: map[key]*receipts{}, violations: map[string][]string{}}
}

// arrive records a copy before its response, and counts the copies before.
func (l *receiptLog) arrive(k key, body []byte) (before int) {
	sum := sha256.Sum256(body)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.deliveries[k]
	if a == nil {
		a = &receipts{sum: sum}
		l.deliveries[k] = a
	}
	a.varies = a.varies || a.sum != sum
	a.copies++
	return a.copies - 1
}

// answer records that a copy that arrived at the time at was answered with a 2xx, or otherwise, or not at all.
func (l *receiptLog) answer(k key, at time.Time, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.deliveries[k]
	if !taken {
		a.refused++
		return
	}
	if a.taken = append(a.taken, at); len(a.taken) == 1 {
		l.lastTaken = time.Now()
	}
}

// snapshot copies the receipts of all deliveries.
func (l *receiptLog) snapshot() map[key]receipts {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[key]receipts, len(l.deliveries))
	for k, a := range l.deliveries {
		out[k] = *a
	}
	return out
}

func (l *receiptLog) lastArrival() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastTaken
}

// violates records a violation of an invariant.
type violates func(kind, format string, args ...any)

func (l *receiptLog) violate(kind, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations[kind] = append(l.violations[kind], fmt.Sprintf(format, args...))
}

// String lists violations, up to a length.
func (l *receiptLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%.1000s", fmt.Sprint(l.violations))
}

// feedErrors counts what followers and the audit found wrong in feeds.
func (l *receiptLog) feedErrors() int { return l.count("feed") + l.count("feed order") }

// count gives the number of violations of a kind.
func (l *receiptLog) count(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.violations[kind])
}
