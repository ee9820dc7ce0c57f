package stripetest

import (
	"net/http"
	"strings"
	"time"
)

// FaultKind is a way in which a request to the fake of Stripe fails.
type FaultKind string

// The kinds of faults that a request to the fake of Stripe can meet.
const (
	FaultLostBeforeEffect FaultKind = "lost_before" // Fault: the connection is cut, and the request has no effect.
	FaultLostAfterEffect  FaultKind = "lost_after"  // Fault: the request takes effect, and the connection is cut.
	// Fault: the connection is cut, and the request takes effect only after Delay.
	FaultLateEffect FaultKind = "late"
	// Fault: the request occupies its idempotency key for Delay, and is then answered.
	FaultDelayedResponse FaultKind = "delayed"
	// Fault: the request has no effect, and no answer comes until the caller gives up.
	FaultHang FaultKind = "hang"
	// Fault: the answer is 500 without effect; a repeated request gets the same answer.
	FaultErrorWithoutEffect FaultKind = "broken"
	// Fault: the answer is 500 after the effect; a repeated request gets the same answer.
	FaultErrorAfterEffect FaultKind = "broken_done"
	// Fault: the request arrives twice, and the caller gets the second answer.
	FaultDuplicateRequest FaultKind = "doubled"
	FaultTooManyRequests  FaultKind = "overloaded" // Fault: the answer is 429 (too many requests).
	// Fault: the answer is 503 without effect; a repeated request runs anew.
	FaultUnavailable FaultKind = "unready"
	// Fault: the answer is 400 without effect; a repeated request runs anew.
	FaultBadRequest FaultKind = "refused"
)

// Fault is a planned failure of a request to the fake of Stripe. The zero value is no failure.
type Fault struct {
	Kind FaultKind
	// HTTP method of the requests that the fault may hit; "": any.
	Method string
	// A part of the path of the requests that the fault may hit, such as "/confirm"; "": any.
	Path  string
	Delay time.Duration
}

// FailNextRequests makes the next requests to the fake fail. Each fault occurs once, at the first request that it fits.
func (f *Fake) FailNextRequests(faults ...Fault) {
	f.change(func() { f.faults = append(f.faults, faults...) })
}

// SetFaultChooser sets a function that chooses the fault of every request to the fake; nil ends this. The function may
// be called from several goroutines.
func (f *Fake) SetFaultChooser(choose func(method, path string) *Fault) {
	f.change(func() { f.choose = choose })
}

// takeFault returns the fault that a test has planned for a request, or the zero value.
func (f *Fake) takeFault(r *http.Request) (met Fault) {
	choose := locked(f, func() func(method, path string) *Fault {
		for i, fault := range f.faults {
			if (fault.Method == "" || fault.Method == r.Method) && strings.Contains(r.URL.Path, fault.Path) {
				f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
				return func(string, string) *Fault { return &fault }
			}
		}
		return f.choose
	})
	if choose != nil {
		if fault := choose(r.Method, r.URL.Path); fault != nil {
			met = *fault
		}
	}
	return met
}

// wait waits for the duration of a fault. true: the time has passed; false: the fake was closed before.
func (f *Fake) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-f.closing:
		return false
	}
}

// LateRequestCount returns the number of requests whose connections were cut and which have not yet taken effect.
func (f *Fake) LateRequestCount() int64 { return f.late.Load() }

// drop ends the connection of a request without an answer.
func drop() { panic(http.ErrAbortHandler) }
