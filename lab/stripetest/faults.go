package stripetest

import (
	"net/http"
	"strings"
	"time"
)

type FaultKind string

const (
	FaultLostBeforeEffect FaultKind = "lost_before" // Fault: the connection is cut, without effect.
	FaultLostAfterEffect  FaultKind = "lost_after"  // Fault: the connection is cut after the effect.
	// Fault: the connection is cut, and the effect comes after Delay.
	FaultLateEffect FaultKind = "late"
	// Fault: the request holds its idempotency key for Delay, and is then answered.
	FaultDelayedResponse FaultKind = "delayed"
	// Fault: no effect, and no answer until the caller gives up.
	FaultHang FaultKind = "hang"
	// Fault: the answer is 500 without effect, and again when repeated.
	FaultErrorWithoutEffect FaultKind = "broken"
	// Fault: the answer is 500 after the effect, and again when repeated.
	FaultErrorAfterEffect FaultKind = "broken_done"
	// Fault: the request arrives twice, and the caller gets the second answer.
	FaultDuplicateRequest FaultKind = "doubled"
	FaultTooManyRequests  FaultKind = "overloaded" // Fault: the answer is 429.
	// Fault: the answer is 503 without effect; a repeated request runs anew.
	FaultUnavailable FaultKind = "unready"
	// Fault: the answer is 400 without effect; a repeated request runs anew.
	FaultBadRequest FaultKind = "refused"
)

// Fault is a planned failure of a request to the fake of Stripe; the zero value is none.
type Fault struct {
	Kind FaultKind
	// HTTP method that the fault may hit; "": any.
	Method string
	// Part of the path that the fault may hit, such as "/confirm"; "": any.
	Path  string
	Delay time.Duration
}

// FailNextRequests makes the next requests to the fake fail, each fault once, at the first request that it fits.
func (f *Fake) FailNextRequests(faults ...Fault) {
	f.change(func() { f.faults = append(f.faults, faults...) })
}

// SetFaultChooser sets a function that chooses every request's fault; nil ends this. Several goroutines may call
// it.
func (f *Fake) SetFaultChooser(choose func(method, path string) *Fault) {
	f.change(func() { f.choose = choose })
}

// takeFault returns the planned fault of a request, or the zero value.
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

// wait waits for the duration of a fault, and reports whether the fake is still open.
func (f *Fake) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-f.closing:
		return false
	}
}

// LateRequestCount counts the requests with cut connections that have not yet taken effect.
func (f *Fake) LateRequestCount() int64 { return f.late.Load() }

// drop ends the connection of a request without an answer.
func drop() { panic(http.ErrAbortHandler) }
