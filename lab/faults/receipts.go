package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// deliveryKey identifies a delivery by what a receiver sees: deposit, status and endpoint.
type deliveryKey struct {
	deposit  id.ID
	status   status
	endpoint int
}

func (k deliveryKey) String() string {
	return fmt.Sprintf("endpoint %d was told that %s is %s", k.endpoint, id.Deposit.Of(k.deposit), k.status)
}

type status string

// receipts are the arrivals of one delivery's copies.
type receipts struct {
	sum [sha256.Size]byte
	// Arrival times of the copies answered with a 2xx.
	taken []time.Time
	// Copies of the delivery answered otherwise, or not at all.
	refused int
	copies  int
	varies  bool // Whether the delivery's copies had different bodies.
}

// receiptLog records all arrivals and violations, from what the receivers saw, without the service's database.
type receiptLog struct {
	mu         sync.Mutex
	deliveries map[deliveryKey]*receipts
	// Time at which a receiver last answered a new delivery with 2xx.
	lastTaken  time.Time
	violations map[string][]string
}

func newReceiptLog() *receiptLog {
	return &receiptLog{deliveries: map[deliveryKey]*receipts{}, violations: map[string][]string{}}
}

// arrive records a copy of a delivery, and returns how many copies came before.
func (l *receiptLog) arrive(k deliveryKey, body []byte) (before int) {
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

// answer records how a copy of a delivery was answered; taken reports whether with a 2xx.
func (l *receiptLog) answer(k deliveryKey, at time.Time, taken bool) {
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

func (l *receiptLog) snapshot() map[deliveryKey]receipts {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[deliveryKey]receipts, len(l.deliveries))
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

// violates records a violation of an invariant, such as a lost delivery.
type violates func(kind, format string, args ...any)

func (l *receiptLog) violate(kind, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations[kind] = append(l.violations[kind], fmt.Sprintf(format, args...))
}

// String lists the violations, cut at 1,000 characters.
func (l *receiptLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%.1000s", fmt.Sprint(l.violations))
}

func (l *receiptLog) feedErrors() int { return l.count("feed") + l.count("feed order") }

func (l *receiptLog) count(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.violations[kind])
}
